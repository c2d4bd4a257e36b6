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

  /** Ends the round; another begins. */
  void end() {
    if (!ends.isEmpty()) {
      ends.forEach(Runnable::run);
      ends.clear();
    }
  }
}
