package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.lambda.Address;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.remote.outcome.Outcome;

/**
 * A lambda that a member is to run.
 *
 * @param address the member, and a partition of this generation with a number that was not used
 *     before
 * @param envelope the sealed lambda, in base64
 * @param limitMillis when it times out, by the leader's monotonic clock; {@link Long#MAX_VALUE} for
 *     never
 * @param listener is told how it goes
 */
public record Submission(Address address, String envelope, long limitMillis, Listener listener) {
  /** The partition. */
  PartitionName name() {
    return address.partition();
  }

  /** Is told how a submission goes, on the leader's thread; it must not wait for anything. */
  public interface Listener {
    /** A member was seen to run it. Called at most once. */
    void begun();

    /** It has ended. Called at most once, and never if leadership is lost before. */
    void ended(Ending ending);
  }

  /** How a submission ended. */
  public sealed interface Ending {
    /** It ran to its end. */
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
}
