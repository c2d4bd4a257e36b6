package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.lock.Guard;

/** Who decides what is submitted. Called by the leader's thread; must not wait for anything. */
public interface Director {
  /**
   * A generation begins, in which nothing is submitted yet.
   *
   * @param leader proof that this member leads; its fence is the generation
   */
  void begin(Guard leader);

  /**
   * Submits and cancels.
   *
   * @return whether the generation is to end and another one to begin; asked for until it does
   */
  boolean direct(Desk desk);

  /** The generation is over, and with it all that was submitted. Nothing is told of it any more. */
  void end();
}
