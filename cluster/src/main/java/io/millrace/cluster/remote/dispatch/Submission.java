package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.lambda.Address;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.remote.outcome.Outcome;
import java.util.function.Consumer;

/**
 * A lambda to be run by a member.
 *
 * @param address the member, and a partition of this generation with a number that was not used
 *     before
 * @param envelope the sealed lambda, in base64
 * @param limitMillis when it times out, by the leader's monotonic clock; {@link Long#MAX_VALUE} for
 *     never
 * @param begun called when a member was seen to run it, at most once
 * @param ended called when it has ended, at most once, and never if leadership is lost before. Both
 *     are called by the leader's thread, and must not wait for anything
 */
public record Submission(
    Address address,
    String envelope,
    long limitMillis,
    Runnable begun,
    Consumer<Submission.Completion> ended) {
  /** The partition. */
  PartitionName name() {
    return address.partition();
  }

  /** How a submission ended. */
  public sealed interface Completion {
    /** It returned or failed. */
    record Finished(Outcome outcome) implements Completion {}

    /**
     * It timed out, and may still run.
     *
     * @param why the reason, for messages
     */
    record TimedOut(String why) implements Completion {}

    /** It was cancelled before it was done. */
    record Cancelled() implements Completion {}
  }
}
