package io.millrace.cluster.partition;

import io.millrace.cluster.lock.Guard;

/** The work of a member on its partitions. Safe for use by any number of threads. */
public interface Work {
  /**
   * Whether this member may work on a free partition; true by default. Called often, by one thread.
   */
  default boolean isFor(Partition partition) {
    return true;
  }

  /**
   * Begins to work on a partition.
   *
   * @param name the partition
   * @param task the work, as the leader serialized it
   * @param guard proof that the partition is held
   */
  Attempt begin(PartitionName name, byte[] task, Guard guard);

  /** The work on one partition, which goes on by itself. */
  interface Attempt {
    /** How far it is. */
    State state();

    /** Stops the work as soon as possible: its partition is lost, or to be given back. */
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
