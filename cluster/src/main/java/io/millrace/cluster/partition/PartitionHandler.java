package io.millrace.cluster.partition;

import io.millrace.cluster.lock.Guard;

/** Does the work of a member on its partitions. Implementations are thread-safe. */
public interface PartitionHandler {
  /**
   * Whether this member may take a free partition; true by default. Called often, by one thread.
   */
  default boolean accepts(Partition partition) {
    return true;
  }

  /**
   * Starts to work on a partition.
   *
   * @param name the partition
   * @param task the work, as the leader serialized it
   * @param guard proof that the partition is held
   */
  Attempt start(PartitionName name, byte[] task, Guard guard);

  /** The work on one partition, which runs in the background. */
  interface Attempt {
    /** Its state. */
    State state();

    /** Stops the work as soon as possible, because its partition is lost or must be released. */
    void stop();
  }

  /** The state of an attempt. */
  enum State {
    /** Still running. */
    RUNNING,
    /** Ended successfully. */
    SUCCEEDED,
    /** Failed or stopped. */
    FAILED
  }
}
