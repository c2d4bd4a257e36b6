package io.millrace.store.environment;

/**
 * Runs an {@link Activity}. If a step throws, the driver calls {@link Activity#failed}, and the
 * activity has ended. Thread-safe.
 */
public interface Driver {
  /** Makes the activity run its next step soon. Several signals may be merged; none is lost. */
  void signal();

  /**
   * Runs one step of the activity on the calling thread, if no other thread is running one;
   * otherwise the same as {@link #signal}. The activity's own thread runs the steps after it. For
   * callers that hold no lock, are not interrupted meanwhile, and may take the time of a step. If
   * the caller is already interrupted, only signals.
   */
  default void runOrSignal() {
    signal();
  }

  /** Waits until the activity has finished; returns at once if called by the activity itself. */
  void join();
}
