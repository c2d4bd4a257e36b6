package io.millrace.cluster.lock;

import java.time.Duration;

/**
 * What the work that a lock protects is given: proof that the lock is held, and for how long. Work
 * hands {@link #fence} to whatever it writes to, which refuses smaller ones than it has seen; only
 * that makes a write safe which is on its way when the lease ends. Safe for use by any number of
 * threads.
 */
public interface Guard {
  /** The fencing token, larger than that of every earlier holder. */
  long fence();

  /** How long the lock is held for certain from now on; zero where it is held no more. */
  Duration remaining();

  /** Whether the lock is held for certain. */
  default boolean isHeld() {
    return !remaining().isZero();
  }

  /**
   * To be called before each step that needs the lock. A request that the step sends should end
   * within {@link #remaining}.
   *
   * @throws LeaseLostException where the lock is held no more
   */
  default void check() {
    if (!isHeld()) {
      throw new LeaseLostException("the lease with fence " + fence() + " has ended");
    }
  }
}
