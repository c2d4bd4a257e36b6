package io.millrace.server.http;

import java.util.ArrayList;
import java.util.List;

/**
 * One look of an event loop at its connections. What each of their requests would have to do, and
 * once would do for all, is done at its end. For the loop's thread.
 */
public final class Round {
  private final List<Runnable> ends = new ArrayList<>();

  Round() {}

  /** Has this run when all requests that have come were begun, once however often it is asked. */
  public void atEnd(Runnable action) {
    if (!ends.contains(action)) {
      ends.add(action);
    }
  }

  /** Ends the round; another begins. An action that fails keeps no other from running. */
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
      throw new IllegalStateException("the end of a round failed", failure);
    }
  }
}
