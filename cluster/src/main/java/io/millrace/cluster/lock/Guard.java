package io.millrace.cluster.lock;

import java.time.Duration;

/**
 * Proof that a lock is held, and for how long, for the work that the lock protects. The work passes
 * {@link #fence} to whatever it writes to, which refuses a fence that is smaller than one it has
 * seen; this is the only protection against a write that is in flight when the lease ends. Safe for
 * use by any number of threads.
 */
public interface Guard {
  /** The fencing token, larger than that of every earlier holder. */
  long fence();

  /** For how long from now the lock is certainly held; zero if it is not held any more. */
  Duration remaining();

  /** Whether the lock is held for certain. */
  default boolean isHeld() {
    return !remaining().isZero();
  }

  /**
   * Checks that the lock is held. Call it before each step that needs the lock; a request that the
   * step sends should end within {@link #remaining}.
   *
   * @throws LeaseLostException if the lock is not held any more
   */
  default void check() {
    if (!isHeld()) {
      throw new LeaseLostException("the lease with fence " + fence() + " has ended");
    }
  }
}
