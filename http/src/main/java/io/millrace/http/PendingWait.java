package io.millrace.http;

import io.millrace.http.message.HttpException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The wait of a request for an event. It calls an action if waiting has become pointless, because
 * the client has disconnected, its credentials were revoked, or the server is stopping. Close it
 * when the wait ends; after that it does not call the action. Thread-safe.
 */
public final class PendingWait implements AutoCloseable {
  /** Why waiting has become pointless. */
  public enum Cause {
    /** The client closed the connection. */
    CLIENT_GONE,
    /** The server is stopping. */
    STOPPING,
    /** The credentials of the request were revoked or have expired. */
    REVOKED
  }

  /** Detects that a client has disconnected. */
  interface Client {
    /** Ends {@code wait} when the client closes the connection. */
    void watch(PendingWait wait);

    /** Called when the request does not wait any more. */
    void unwatch();
  }

  private final InFlight inFlight;
  private final @Nullable Client client;
  private final AtomicReference<@Nullable Consumer<Cause>> action;

  /** Takes the end of the credentials back; set once, before the wait is known to others. */
  private Runnable atEnd = () -> {};

  private PendingWait(InFlight inFlight, @Nullable Client client, Consumer<Cause> action) {
    this.inFlight = inFlight;
    this.client = client;
    this.action = new AtomicReference<>(action);
  }

  static PendingWait begin(
      InFlight inFlight, Client client, Caller.Validity validity, Consumer<Cause> action) {
    PendingWait wait = new PendingWait(inFlight, client, action);
    wait.atEnd = validity.onEnd(() -> wait.end(Cause.REVOKED));
    client.watch(wait);
    inFlight.add(wait);
    return wait;
  }

  /** A wait that ends only if the server stops. */
  static PendingWait untilStop(InFlight inFlight, Runnable action) {
    PendingWait wait = new PendingWait(inFlight, null, _ -> action.run());
    inFlight.add(wait);
    return wait;
  }

  /** Runs the action, unless it has run before. */
  void end(Cause cause) {
    Consumer<Cause> once = action.getAndSet(null);
    if (once != null) {
      once.accept(cause);
    }
  }

  @Override
  public void close() {
    action.set(null);
    atEnd.run();
    inFlight.remove(this);
    if (client != null) {
      client.unwatch();
    }
  }

  /**
   * Thrown by a handler if the client has closed the connection during a wait. The request is not
   * answered. It has no stack trace.
   */
  public static final class ClientGoneException extends HttpException {
    /** A client has disconnected. */
    public ClientGoneException() {
      super("the client has closed the connection");
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
      return this;
    }
  }

  /**
   * How long a request that polls for something continues: until its time is over, the client has
   * disconnected, or the server is stopping. For use by one thread; must be closed.
   */
  public static final class Deadline implements AutoCloseable {
    /** The longest single wait, so that the end of the client or the server is noticed soon. */
    private static final Duration STEP = Duration.ofMillis(250);

    private final long end;
    private final AtomicBoolean over = new AtomicBoolean();
    private final PendingWait wait;

    /** A deadline {@code timeout} from now. */
    public Deadline(Request request, Duration timeout) {
      this.end = System.nanoTime() + timeout.toNanos();
      this.wait = request.beginWait(_ -> over.set(true));
    }

    /** How long the next wait may be; zero if the request must not wait any more. */
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
