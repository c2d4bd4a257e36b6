package io.millrace.cluster.shared;

import io.millrace.cluster.lock.Guard;
import org.jspecify.annotations.Nullable;

/**
 * Code that runs while a lock is held.
 *
 * @param <G> what it is given: proof that the lock is held
 * @param <T> what it gives
 * @param <E> what it throws, besides unchecked exceptions
 */
@FunctionalInterface
public interface GuardedCode<G extends Guard, T extends @Nullable Object, E extends Exception> {
  /**
   * Runs. The thread is interrupted when the lock is lost: then it must stop.
   *
   * @param guard the fencing token, and for how long the lock is held; to be checked before each
   *     step that needs the lock
   */
  T run(G guard) throws E;
}
