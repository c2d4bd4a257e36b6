package io.millrace.server;

import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.http.ErrorResponses;
import io.millrace.http.Route;
import io.millrace.work.Step;
import java.util.List;

/**
 * One part of a server: its routes, figures and activities. The server calls each method once, in
 * the order of these methods, and calls {@link #start} when it listens.
 */
public interface Part extends AutoCloseable {
  /**
   * An activity in the background, on a thread of its own, until the part is closed.
   *
   * @param name the name of the thread
   * @param step the activity
   */
  record Activity(String name, Step step) {}

  /**
   * How much work of one kind there is.
   *
   * @param kind the kind in the plural: {@code tasks}, {@code jobs} or {@code nodes}
   * @param waiting what has not started, including what waits for a time
   * @param running what has started and has not ended
   */
  record Level(String kind, long waiting, long running) {}

  /** Its routes. */
  List<Route> routes();

  /** Defines the responses to exceptions of its routes. */
  default void addErrorResponses(ErrorResponses responses) {}

  /**
   * Adds its figures to those of the server.
   *
   * @return updates them; called before they are shown, perhaps by several threads
   */
  default Runnable measure(MeterRegistry registry) {
    return () -> {};
  }

  /** How much work it has; cheap to read, whatever there is. */
  default List<Level> levels() {
    return List.of();
  }

  /** Warnings for {@code /health}; empty if all is well. */
  default List<String> warnings() {
    return List.of();
  }

  /** Its activities in the background. */
  default List<Activity> activities() {
    return List.of();
  }

  /**
   * Starts it.
   *
   * @param url the address under which programs on this machine reach the server; empty if it does
   *     not listen
   */
  default void start(String url) {}

  /** Stops it, before the store is closed. */
  @Override
  default void close() {}
}
