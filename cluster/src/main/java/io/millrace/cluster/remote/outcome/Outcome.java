package io.millrace.cluster.remote.outcome;

/** What came of a lambda that was run to its end. */
public sealed interface Outcome {
  /**
   * It returned.
   *
   * @param sealed what it returned, sealed for the one who submitted it, in base64
   */
  record Done(String sealed) implements Outcome {}

  /**
   * It threw, or what it returned cannot be sent.
   *
   * @param failure how
   */
  record Failed(RemoteFailure failure) implements Outcome {}
}
