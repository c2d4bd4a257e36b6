package io.millrace.store.environment;

/**
 * The handle of a running {@link Activity}. It reports whatever a step throws to {@link
 * Activity#failed}, and the activity is over then. Safe for use by any thread.
 */
public interface Driver {
  /** Makes the activity run its next step soon. Signals may merge, none is lost. */
  void signal();

  /** Waits until the activity is finished; returns at once when called by the activity itself. */
  void join();
}
