package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.remote.outcome.Outcome;

/** What a submission came to. */
public sealed interface Ending {
  /**
   * It was run to its end.
   *
   * @param outcome what came of it
   */
  record Finished(Outcome outcome) implements Ending {}

  /**
   * It is not waited for any more, and may still run.
   *
   * @param why for people
   */
  record TimedOut(String why) implements Ending {}

  /** It was cancelled before it was done. */
  record Cancelled() implements Ending {}
}
