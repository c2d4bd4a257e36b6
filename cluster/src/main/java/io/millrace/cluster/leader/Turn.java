package io.millrace.cluster.leader;

import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.partition.Partition;
import java.util.List;

/**
 * What a leader sees when it is to decide.
 *
 * @param guard proof that it leads; its fence is the generation
 * @param partitions all partitions as they were listed, by name
 * @param members the members, without those who are gone
 * @param beganMillis when the generation began, by the monotonic clock
 * @param nowMillis the time now, by the same
 */
public record Turn(
    Guard guard, List<Partition> partitions, MemberList members, long beganMillis, long nowMillis) {
  /** The generation that the leader gives out. */
  public long generation() {
    return guard.fence();
  }

  /** Whether a partition is of a leader before this one. */
  public boolean isOld(Partition partition) {
    return partition.name().generation() < generation();
  }
}
