package io.millrace.store.testkit.contract;

import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.TaskStore;
import java.time.Duration;

/**
 * An open store for one test, with what the test may do to its world. Each fixture begins with an
 * empty strict store.
 */
public interface StoreFixture extends AutoCloseable {
  /** Limits so small that tests reach each of them. */
  Limits SMALL_LIMITS =
      new Limits(
          50, 200_000, 20_000, 512, 128, 20, 10, 20, 10, 1_000, 1L << 20, 10_000, 8L << 20,
          1L << 20, 1L << 20);

  /** The store as it is open now. */
  TaskStore store();

  /**
   * Returns when the commands submitted so far have reached the store. Nothing is to be done in
   * process; over a network it may ask the store how many claims wait.
   */
  default void settle() {}

  /** Whether {@link #advance} works; tests that need it are skipped visibly otherwise. */
  default boolean movesTime() {
    return false;
  }

  /** Moves store time on, without waiting for what that leads to. */
  default void advance(Duration time) {
    throw new UnsupportedOperationException("time cannot be moved here");
  }

  /** Whether {@link #restart} works; tests that need it are skipped visibly otherwise. */
  default boolean restarts() {
    return false;
  }

  /** Closes the store and opens it again on what it left. */
  default TaskStore restart() {
    throw new UnsupportedOperationException("the store cannot be restarted here");
  }

  /** Whether clients of several principals can be had; false behind one set of credentials. */
  default boolean severalPrincipals() {
    return true;
  }

  /** Whether an operator's override can be used. */
  default boolean overrides() {
    return true;
  }

  /** The limits of the store, as small as the back end can make them. */
  Limits limits();

  /** Closes the store and gives everything back. */
  @Override
  void close();
}
