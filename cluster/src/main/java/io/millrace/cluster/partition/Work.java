package io.millrace.cluster.partition;

import io.millrace.cluster.lock.Guard;

/** What a member does with the partitions that it holds. Safe for use by any number of threads. */
public interface Work {
  /**
   * Whether a partition that is free may be worked on by this member; true by default. Asked often,
   * by one thread.
   */
  default boolean isFor(Partition partition) {
    return true;
  }

  /**
   * Begins to work on a partition.
   *
   * @param name which one
   * @param task what the leader made the partition for
   * @param guard proof that the partition is held
   */
  Attempt begin(PartitionName name, byte[] task, Guard guard);

  /** The work on one partition, which goes on by itself. */
  interface Attempt {
    /** How far it is. */
    State state();

    /** Has it end as soon as it can: its partition is lost, or to be given back. */
    void stop();
  }

  /** How far an attempt is. */
  enum State {
    /** Not at its end. */
    RUNNING,
    /** At its end, with success. */
    SUCCEEDED,
    /** At its end without success, or stopped. */
    FAILED
  }
}
