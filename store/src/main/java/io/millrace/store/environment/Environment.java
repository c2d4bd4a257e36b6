package io.millrace.store.environment;

import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/** The world around a store. One environment may serve several stores. Safe for use by threads. */
public interface Environment {
  /** The wall clock in milliseconds since the epoch; it may jump. */
  long wallMillis();

  /** A clock in nanoseconds that never goes back; its zero means nothing. */
  long nanos();

  /** A source of randomness of its own for one user, who need not share it between threads. */
  RandomGenerator newRandom();

  /** The disk. */
  Disk disk();

  /** Begins to run {@code activity} by a thread of its own, or by whatever stands for one. */
  Driver drive(String name, Activity activity);

  /**
   * Waits for an answer that some activity gives. A simulation runs its activities meanwhile.
   *
   * @throws java.util.concurrent.CompletionException with what the answer failed with
   */
  default <T> T await(CompletableFuture<T> answer) {
    return answer.join();
  }

  /** This machine: its clocks, its randomness, its file system and platform threads. */
  static Environment system() {
    return SystemEnvironment.INSTANCE;
  }
}
