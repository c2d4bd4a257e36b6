package io.millrace.store.environment;

import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/**
 * The clocks, randomness, disk and threads that a store uses. Several stores may share one
 * environment. Thread-safe.
 */
public interface Environment {
  /** The wall clock in milliseconds since the epoch; it may jump. */
  long wallMillis();

  /** A monotonic clock in nanoseconds, with an arbitrary origin. */
  long nanos();

  /** A new random generator, for use by one thread. */
  RandomGenerator newRandom();

  /** The disk. */
  Disk disk();

  /** Starts {@code activity} on its own thread, or in a simulation of one. */
  Driver drive(String name, Activity activity);

  /**
   * Waits for the result of an activity. A simulation runs its activities meanwhile.
   *
   * @throws java.util.concurrent.CompletionException if the future fails
   */
  default <T> T await(CompletableFuture<T> answer) {
    return answer.join();
  }

  /** The environment of this machine, with platform threads. */
  static Environment system() {
    return SystemEnvironment.INSTANCE;
  }
}
