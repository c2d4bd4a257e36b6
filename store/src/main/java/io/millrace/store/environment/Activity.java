package io.millrace.store.environment;

/** Work that is done step by step by one thread at a time. */
@FunctionalInterface
public interface Activity {
  /** The result of {@link #step()} if no other step is needed before a signal. */
  long UNTIL_SIGNALLED = Long.MAX_VALUE;

  /** The result of {@link #step()} if the activity has finished. */
  long FINISHED = -1;

  /**
   * Does the work that is due.
   *
   * @return the nanoseconds after which to call it again without a signal, 0 for at once; or {@link
   *     #UNTIL_SIGNALLED}; or {@link #FINISHED}
   */
  long step();

  /**
   * Called once if {@link #step()} has thrown, on the same thread; no other step follows. If other
   * threads wait for results of the activity, they must be failed here. By default, rethrows, which
   * ends the thread.
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
