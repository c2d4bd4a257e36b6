package io.millrace.server.http;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Looks after a request that waits for an event: tells when the wait has lost its sense. Close it
 * when the wait is over; afterwards it tells nothing. Safe for use by any thread.
 */
public final class Watch implements AutoCloseable {
  /** Why a wait has lost its sense. */
  public enum Cause {
    /** The client closed the connection. */
    CLIENT_GONE,
    /** The server is stopping. */
    STOPPING
  }

  /** What notices that a client has gone. */
  interface Watched {
    /** Ends {@code watch} when the client closes the connection. */
    void watch(Watch watch);

    /** The request waits no more. */
    void unwatch();
  }

  private final InFlight inFlight;
  private final @Nullable Watched connection;
  private final AtomicReference<@Nullable Consumer<Cause>> action;

  private Watch(InFlight inFlight, @Nullable Watched connection, Consumer<Cause> action) {
    this.inFlight = inFlight;
    this.connection = connection;
    this.action = new AtomicReference<>(action);
  }

  static Watch begin(InFlight inFlight, Watched connection, Consumer<Cause> action) {
    Watch watch = new Watch(inFlight, connection, action);
    connection.watch(watch);
    inFlight.add(watch);
    return watch;
  }

  /** One that looks after nothing but a stop of the server. */
  static Watch untilStop(InFlight inFlight, Runnable action) {
    Watch watch = new Watch(inFlight, null, _ -> action.run());
    inFlight.add(watch);
    return watch;
  }

  /** Runs the action, the first time only. */
  void end(Cause cause) {
    Consumer<Cause> once = action.getAndSet(null);
    if (once != null) {
      once.accept(cause);
    }
  }

  @Override
  public void close() {
    action.set(null);
    inFlight.remove(this);
    if (connection != null) {
      connection.unwatch();
    }
  }
}
