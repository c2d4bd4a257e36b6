package io.millrace.cluster.shared;

import io.millrace.cluster.lock.Guard;
import org.jspecify.annotations.Nullable;

/**
 * Code that runs while a lock is held.
 *
 * @param <G> the type of the guard that it is given
 * @param <T> the type of the result
 * @param <E> the checked exceptions that it throws
 */
@FunctionalInterface
public interface GuardedCode<G extends Guard, T extends @Nullable Object, E extends Exception> {
  /**
   * Runs the code. If the lock is lost, the thread is interrupted and the code must stop.
   *
   * @param guard gives the fencing token and the remaining time of the lease; check it before each
   *     step that needs the lock
   */
  T run(G guard) throws E;
}
