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

  /**
   * Learns that {@link #step()} has thrown; no other step follows. Called once, on the same thread.
   * An activity for whose answers others wait must fail those answers here. By default the thread
   * ends with what was thrown, which is enough if nothing waits for it.
   *
   * @param thrown an exception or an error
   */
  default void failed(Throwable thrown) {
    switch (thrown) {
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new IllegalStateException(thrown);
    }
  }
}
