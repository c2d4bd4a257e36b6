package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.lambda.Address;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.remote.outcome.Outcome;
import java.util.function.Consumer;

/**
 * A lambda that is submitted to a member.
 *
 * @param address the member, and a partition of this generation with a number that was not used
 *     before
 * @param envelope the sealed lambda, in base64
 * @param limitMillis when it times out, by the leader's monotonic clock; {@link Long#MAX_VALUE} for
 *     never
 * @param begun called at most once, when the member is seen to run it
 * @param ended called at most once, when it has ended, and never if leadership is lost before. Both
 *     run on the leader's thread, and must not block
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
