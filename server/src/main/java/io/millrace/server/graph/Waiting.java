package io.millrace.server.graph;

import io.millrace.graph.GraphChanges;
import io.millrace.graph.GraphEvent;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.VersionLostException;
import io.millrace.server.http.Request;
import io.millrace.server.http.Watch;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/** Requests that wait until something is so. */
final class Waiting {
  /** How soon a wait notices that the client or the server goes. */
  private static final Duration STEP = Duration.ofMillis(250);

  private final GraphRegistry graph;

  Waiting(GraphRegistry graph) {
    this.graph = graph;
  }

  /** What is waited for. For use by one thread. */
  interface Condition {
    /** Looks whether it is so now. */
    boolean look();

    /** Whether it is so after this. */
    boolean see(GraphEvent event);
  }

  /**
   * Waits until it is so, the time is over, the client has gone, or the server stops; what happens
   * between the look and the first event is not missed.
   */
  void until(Condition condition, Request request, Duration timeout) throws InterruptedException {
    long end = System.nanoTime() + timeout.toNanos();
    AtomicBoolean over = new AtomicBoolean();
    try (Watch _ = request.watch(_ -> over.set(true))) {
      boolean again = true;
      while (again) {
        again = follow(condition, end, over);
      }
    }
  }

  /** Whether changes were lost, so that a new look is due. */
  private boolean follow(Condition condition, long end, AtomicBoolean over)
      throws InterruptedException {
    try (GraphChanges changes = graph.changes(null)) {
      boolean holds = condition.look();
      long left = end - System.nanoTime();
      while (!holds && left > 0 && !over.get()) {
        for (GraphEvent event : changes.next(Duration.ofNanos(Math.min(left, STEP.toNanos())))) {
          holds = condition.see(event);
        }
        left = end - System.nanoTime();
      }
      return false;
    } catch (VersionLostException _) {
      return true;
    }
  }
}
