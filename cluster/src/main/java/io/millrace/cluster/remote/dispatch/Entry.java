package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.partition.Partition;
import io.millrace.cluster.partition.PartitionName;

/** A submission as the leader follows it. Used by one thread. */
final class Entry {
  private final Submission submission;
  private long fence = -1;
  private boolean attempted;
  private long offeredMillis = -1;
  private boolean begun;
  private boolean cancelled;

  Entry(Submission submission) {
    this.submission = submission;
  }

  PartitionName name() {
    return submission.name();
  }

  Submission submission() {
    return submission;
  }

  String member() {
    return submission.address().member();
  }

  boolean isReserved() {
    return fence >= 0;
  }

  void reserved(long reservedFence) {
    fence = reservedFence;
  }

  long fence() {
    return fence;
  }

  /** Whether there may be a partition. */
  boolean isAttempted() {
    return attempted;
  }

  void attempted() {
    attempted = true;
  }

  /** Whether its partition was made for certain. */
  boolean isOffered() {
    return offeredMillis >= 0;
  }

  void offered(long nowMillis) {
    offeredMillis = nowMillis;
  }

  long offeredMillis() {
    return offeredMillis;
  }

  void cancel() {
    cancelled = true;
  }

  boolean isCancelled() {
    return cancelled;
  }

  boolean isBegun() {
    return begun;
  }

  /** Takes note of its partition; whether that shows for the first time that it is begun. */
  boolean see(Partition partition) {
    boolean first = !begun && partition.lock().fence() > fence;
    begun |= first;
    return first;
  }
}
