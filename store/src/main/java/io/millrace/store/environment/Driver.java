package io.millrace.store.environment;

/**
 * The handle of a running {@link Activity}. It reports whatever a step throws to {@link
 * Activity#failed}, and the activity is over then. Safe for use by any thread.
 */
public interface Driver {
  /** Makes the activity run its next step soon. Signals may merge, none is lost. */
  void signal();

  /**
   * Makes the activity run its next step, on the calling thread if nobody steps it at present;
   * otherwise as {@link #signal}. One step is run here, and what it leaves to do is left to the
   * activity's own thread. For callers that hold no lock, that nobody interrupts meanwhile, and
   * that can spare the time that a step takes; one that is interrupted already only signals.
   */
  default void runOrSignal() {
    signal();
  }

  /** Waits until the activity is finished; returns at once when called by the activity itself. */
  void join();
}
