package io.millrace.http;

import java.util.ArrayList;
import java.util.List;

/**
 * One pass of an event loop over its ready connections. Actions that several requests of a tick
 * need, for example waking the store, run once at its end. For use by the thread of the loop.
 */
public final class LoopTick {
  private final List<Runnable> ends = new ArrayList<>();

  LoopTick() {}

  /** Runs {@code action} at the end of this tick, once even if it is given several times. */
  public void atEnd(Runnable action) {
    if (!ends.contains(action)) {
      ends.add(action);
    }
  }

  /** Ends the tick and begins the next. All actions run, even if one fails. */
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
