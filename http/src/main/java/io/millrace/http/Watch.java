package io.millrace.http;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request's wait for an event. It calls back when waiting has become pointless, because the
 * client has gone or the server stops. Close it when the wait is over; afterwards it does not call.
 * Safe for use by any thread.
 */
public final class Watch implements AutoCloseable {
  /** Why waiting is pointless. */
  public enum Cause {
    /** The client closed the connection. */
    CLIENT_GONE,
    /** The server is stopping. */
    STOPPING
  }

  /** Notices that a client has gone. */
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

  /** A wait that only a stop of the server ends. */
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
