package io.millrace.cluster.lock;

/**
 * The work that a partition's document holds.
 *
 * @param task the work in base64, as its leader serialized it
 * @param state how far it is
 */
public record PartitionTask(String task, State state) {
  /** How far a partition is; in progress is what is outstanding and held. */
  public enum State {
    /** To be worked on, or being worked on. */
    OUTSTANDING,
    /** Worked on with success. */
    DONE
  }

  PartitionTask done() {
    return new PartitionTask(task, State.DONE);
  }
}
