package io.millrace.server;

import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.http.ErrorReplies;
import io.millrace.http.Route;
import io.millrace.work.Step;
import java.util.List;

/**
 * One part of a server: what it answers, shows and does by itself. The server asks for everything
 * once, in the order of these methods, and calls {@link #start} when it listens.
 */
public interface Part extends AutoCloseable {
  /**
   * Something that goes on in the background, on a thread of its own, until the part is closed.
   *
   * @param name that of the thread
   * @param step what it does
   */
  record Activity(String name, Step step) {}

  /** What it answers. */
  List<Route> routes();

  /** Says what the exceptions of its routes mean to a client. */
  default void addErrorReplies(ErrorReplies replies) {}

  /**
   * Adds its figures to those of the server.
   *
   * @return what brings them up to date; called before they are shown, perhaps by several threads
   */
  default Runnable measure(MeterRegistry registry) {
    return () -> {};
  }

  /** What is about to run short or wrong, for {@code /health}; empty if all is well. */
  default List<String> warnings() {
    return List.of();
  }

  /** What it does in the background. */
  default List<Activity> activities() {
    return List.of();
  }

  /**
   * Begins to act.
   *
   * @param url how programs on this machine reach the server
   */
  default void start(String url) {}

  /** Stops acting, before the store is closed. */
  @Override
  default void close() {}
}
