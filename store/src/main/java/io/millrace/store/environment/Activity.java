package io.millrace.store.environment;

/** Work that is done step by step by one thread at a time. */
@FunctionalInterface
public interface Activity {
  /** The answer of {@link #step()} that asks for no other step until a signal comes. */
  long UNTIL_SIGNALLED = Long.MAX_VALUE;

  /** The answer of {@link #step()} that says the activity is over and wants no other step. */
  long FINISHED = -1;

  /**
   * Does what is due.
   *
   * @return the nanoseconds after which it wants to be called again, 0 for at once, even if no
   *     signal comes; {@link #UNTIL_SIGNALLED}; or {@link #FINISHED}
   */
  long step();
}
