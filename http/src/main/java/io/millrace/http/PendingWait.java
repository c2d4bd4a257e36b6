package io.millrace.http;

import io.millrace.http.message.HttpException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request's wait for an event. It calls back when waiting has become pointless, because the
 * client has gone or the server stops. Close it when the wait is over; afterwards it does not call.
 * Safe for use by any thread.
 */
public final class PendingWait implements AutoCloseable {
  /** Why waiting is pointless. */
  public enum Cause {
    /** The client closed the connection. */
    CLIENT_GONE,
    /** The server is stopping. */
    STOPPING
  }

  /** Notices that a client has gone. */
  interface Client {
    /** Ends {@code wait} when the client closes the connection. */
    void watch(PendingWait wait);

    /** The request waits no more. */
    void unwatch();
  }

  private final InFlight inFlight;
  private final @Nullable Client client;
  private final AtomicReference<@Nullable Consumer<Cause>> action;

  private PendingWait(InFlight inFlight, @Nullable Client client, Consumer<Cause> action) {
    this.inFlight = inFlight;
    this.client = client;
    this.action = new AtomicReference<>(action);
  }

  static PendingWait begin(InFlight inFlight, Client client, Consumer<Cause> action) {
    PendingWait wait = new PendingWait(inFlight, client, action);
    client.watch(wait);
    inFlight.add(wait);
    return wait;
  }

  /** A wait that only a stop of the server ends. */
  static PendingWait untilStop(InFlight inFlight, Runnable action) {
    PendingWait wait = new PendingWait(inFlight, null, _ -> action.run());
    inFlight.add(wait);
    return wait;
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
    if (client != null) {
      client.unwatch();
    }
  }

  /**
   * Thrown by a handler whose client has closed the connection while it waited. The request is not
   * answered, and nothing has failed. Costs no stack trace.
   */
  public static final class ClientGoneException extends HttpException {
    /** A client that has gone. */
    public ClientGoneException() {
      super("the client has closed the connection");
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
      return this;
    }
  }

  /**
   * How long a request that waits for something goes on waiting: until its time is over, its client
   * has gone, or the server stops. For use by one thread; to be closed.
   */
  public static final class Deadline implements AutoCloseable {
    /** How soon a wait notices that the client or the server goes. */
    private static final Duration STEP = Duration.ofMillis(250);

    private final long end;
    private final AtomicBoolean over = new AtomicBoolean();
    private final PendingWait wait;

    /** So long from now at most. */
    public Deadline(Request request, Duration timeout) {
      this.end = System.nanoTime() + timeout.toNanos();
      this.wait = request.beginWait(_ -> over.set(true));
    }

    /** How long the next wait may be; zero if there is to be none. */
    public Duration step() {
      long left = over.get() ? 0 : end - System.nanoTime();
      return Duration.ofNanos(Math.clamp(left, 0, STEP.toNanos()));
    }

    @Override
    public void close() {
      wait.close();
    }
  }
}
