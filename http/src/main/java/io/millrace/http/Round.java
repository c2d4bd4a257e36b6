package io.millrace.http;

import java.util.ArrayList;
import java.util.List;

/**
 * One turn of an event loop over its connections. It ends with what each of their requests needs
 * but once suffices for all, such as waking the store. For the loop's thread.
 */
public final class Round {
  private final List<Runnable> ends = new ArrayList<>();

  Round() {}

  /** Runs this once, when all requests of this turn were begun, however often it is given. */
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
