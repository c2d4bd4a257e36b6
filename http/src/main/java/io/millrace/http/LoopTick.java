package io.millrace.http;

import java.util.ArrayList;
import java.util.List;

/**
 * One pass of an event loop over its connections. At its end it runs, once, what several of their
 * requests need, for example waking the store. For use by the loop's thread.
 */
public final class LoopTick {
  private final List<Runnable> ends = new ArrayList<>();

  LoopTick() {}

  /** Runs this once, when all requests of this tick have begun, however often it is given. */
  public void atEnd(Runnable action) {
    if (!ends.contains(action)) {
      ends.add(action);
    }
  }

  /** Ends the tick; the next begins. An action that fails keeps no other from running. */
  void end() {
    if (ends.isEmpty()) {
      return;
    }
    Throwable failure = null;
    for (Runnable action : ends) {
      try {
        action.run();
      } catch (RuntimeException | Error e) {
        failure = e;
      }
    }
    ends.clear();
    if (failure != null) {
      throw new IllegalStateException("the end of a tick failed", failure);
    }
  }
}
