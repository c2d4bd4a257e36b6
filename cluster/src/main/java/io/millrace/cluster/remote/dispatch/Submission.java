package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.lambda.Address;
import io.millrace.cluster.partition.PartitionName;

/**
 * A lambda that a member is to run.
 *
 * @param address the member, and a partition of this generation with a number that no other has
 * @param envelope the sealed lambda, in base64
 * @param limitMillis when it times out, by the leader's monotonic clock; {@link Long#MAX_VALUE} for
 *     never
 * @param listener is told what comes of it
 */
public record Submission(Address address, String envelope, long limitMillis, Listener listener) {
  /** The partition. */
  PartitionName name() {
    return address.partition();
  }

  /** Is told what comes of a submission, on the leader's thread; it must not wait for anything. */
  public interface Listener {
    /** A member was seen to run it. Called once at most. */
    void begun();

    /** It is over. Called once at most, not at all where leadership is lost before. */
    void ended(Ending ending);
  }
}
