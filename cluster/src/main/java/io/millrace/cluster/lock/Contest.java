package io.millrace.cluster.lock;

import java.util.Optional;

/**
 * The wish to hold a lock, or any one of several, and to keep it. Driven by {@link #step}; not safe
 * for use by several threads, but its guards are.
 */
public interface Contest {
  /** The lock as it is held now, if it is. */
  Optional<Tenure> tenure();

  /**
   * Keeps the lock where it is held, and takes it where it may be taken. It is not looked at before
   * it can be free.
   *
   * @return when to call again, by the monotonic clock
   */
  long step();

  /**
   * Gives the lock back where it is held. Where that cannot be written, others take it once the
   * lease has ended.
   */
  void release();
}
