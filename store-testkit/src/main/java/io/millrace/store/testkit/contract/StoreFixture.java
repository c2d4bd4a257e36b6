package io.millrace.store.testkit.contract;

import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.TaskStore;
import java.time.Duration;

/**
 * An open store for one test, with control over its time and restarts. Each fixture starts with an
 * empty strict store.
 */
public interface StoreFixture extends AutoCloseable {
  /** Limits small enough for tests to reach. */
  Limits SMALL_LIMITS =
      new Limits(
          50, 200_000, 20_000, 512, 128, 20, 10, 20, 10, 1_000, 1L << 20, 10_000, 8L << 20,
          1L << 20, 1L << 20);

  /** The open store. */
  TaskStore store();

  /**
   * Returns when the commands submitted so far have reached the store. A store in this process
   * needs nothing for that; a remote one may have to be asked how many claims wait.
   */
  default void settle() {}

  /**
   * Whether {@link #advance} is supported; otherwise tests that need it are reported as skipped.
   */
  default boolean movesTime() {
    return false;
  }

  /** Advances store time. Does not wait for the consequences. */
  default void advance(Duration time) {
    throw new UnsupportedOperationException("time cannot be moved here");
  }

  /**
   * Whether {@link #restart} is supported; otherwise tests that need it are reported as skipped.
   */
  default boolean restarts() {
    return false;
  }

  /** Closes the store and opens it again with the same files. */
  default TaskStore restart() {
    throw new UnsupportedOperationException("the store cannot be restarted here");
  }

  /** Whether clients can have different principals. */
  default boolean severalPrincipals() {
    return true;
  }

  /** Whether the override of an operator is supported. */
  default boolean overrides() {
    return true;
  }

  /** The number of subscriptions that the back end itself has open; they count for the limit. */
  default int ownSubscriptions() {
    return 0;
  }

  /** The limits of the store, as small as the back end can make them. */
  Limits limits();

  /** Closes the store and releases all resources. */
  @Override
  void close();
}
