package io.millrace.http.events;

import io.millrace.http.PendingWait;
import io.millrace.http.Request;
import io.millrace.http.message.Headers;
import io.millrace.http.message.Response;
import io.millrace.http.websocket.WebSocket;
import io.millrace.store.StoreClosedException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A stream of events to one client. Each API supplies a {@link Source}; this class waits for
 * events, flushes them, sends keep-alives and ends the stream.
 *
 * <p>Events are flushed when the source has no more at the moment, so a burst is one write. After
 * ten seconds without an event, a keep-alive is sent. An instance is used for one stream.
 */
public final class EventStream {
  private static final long ALIVE_EVERY_NANOS = Duration.ofSeconds(10).toNanos();

  /** The longest single wait, so that the end of the client or the server is noticed soon. */
  private static final Duration STEP = Duration.ofMillis(250);

  private static final Map<String, String> HEADERS = Map.of("Cache-Control", "no-store");
  private static final byte[] ALIVE = ": alive\n\n".getBytes(StandardCharsets.UTF_8);

  private final Opener opener;
  private final Lost lost;

  /**
   * A stream of the events of a source.
   *
   * @param lost recognizes failures of the source that mean that events were lost
   */
  public EventStream(Opener opener, Lost lost) {
    this.opener = opener;
    this.lost = lost;
  }

  /** The source of the events of one stream. For use by one thread; closed at the end. */
  public interface Source extends AutoCloseable {
    /** Writes the first events, for example where the stream begins. */
    void begin(Target target) throws IOException;

    /**
     * Writes the next events, and waits for them if there are none.
     *
     * @param wait how long to wait at most
     * @return whether it wrote any
     */
    boolean next(Duration wait, Target target) throws IOException, InterruptedException;

    /** Called if nothing has been written for ten seconds. By default, it sends a keep-alive. */
    default void keepAlive(Target target) throws IOException {
      target.keepAlive();
    }

    @Override
    void close();
  }

  /** Opens a source. */
  @FunctionalInterface
  public interface Opener {
    Source open();
  }

  /** Recognizes failures after which a stream cannot continue without a gap. */
  @FunctionalInterface
  public interface Lost {
    /**
     * The data of the last event, {@code lost}.
     *
     * @param failure what the opener or the source threw
     * @return null if the failure has another meaning
     */
    byte @Nullable [] data(RuntimeException failure);
  }

  /** The data of an event: one line of text. */
  @FunctionalInterface
  public interface Data {
    void writeTo(OutputStream target) throws IOException;
  }

  /** The client's side of a stream, where events are written. */
  public interface Target {
    /**
     * Writes an event.
     *
     * @param name its name; null for none
     * @param id the id with which a client resumes after it; null for none
     */
    void event(@Nullable String name, @Nullable String id, Data data) throws IOException;

    /** Writes an event with the given data. */
    default void event(@Nullable String name, @Nullable String id, byte[] data) throws IOException {
      event(name, id, target -> target.write(data));
    }

    /** Sends something that is not an event, so that the client sees that the stream is alive. */
    void keepAlive() throws IOException;

    /** Sends everything that was written. */
    void flush() throws IOException;

    /**
     * Tells the client that events were lost; the stream ends.
     *
     * @param reason the reason, for people
     * @param data the data of the event {@code lost}
     */
    void lost(String reason, byte[] data) throws IOException;
  }

  /**
   * Answers with server-sent events, or over a WebSocket if the request asks for one. HEAD does not
   * open the source. If the source cannot be opened because events were lost, the stream has only
   * the event {@code lost}.
   *
   * @throws RuntimeException whatever the opener throws for another reason
   */
  public Response response(Request request) {
    boolean webSocket = Headers.asksForWebSocket(request.header("Upgrade").orElse(null));
    if (request.isHead() && !webSocket) {
      return events(_ -> {});
    }
    Source source = open();
    if (webSocket) {
      return webSocket(request, source);
    }
    return events(
        new Response.Body() {
          @Override
          public void writeTo(OutputStream target) throws IOException, InterruptedException {
            AtomicBoolean over = new AtomicBoolean();
            try (PendingWait _ = request.beginWait(_ -> over.set(true))) {
              run(source, new ServerSent(target), over::get);
            }
          }

          @Override
          public void close() {
            source.close();
          }
        });
  }

  private static Response events(Response.Body body) {
    return new Response.Streamed(200, Response.EVENTS, HEADERS, -1, body);
  }

  private Response webSocket(Request request, Source source) {
    try {
      return request.webSocket(
          EventSocket.LIMITS,
          new Response.SocketOpener() {
            @Override
            public WebSocket.Listener open(WebSocket socket) {
              return EventSocket.open(socket, EventStream.this, source);
            }

            @Override
            public void abandon() {
              source.close();
            }
          });
    } catch (RuntimeException e) {
      source.close();
      throw e;
    }
  }

  /** A target that writes server-sent events. */
  public static Target serverSent(OutputStream target) {
    return new ServerSent(target);
  }

  /** Starts the stream over a WebSocket, on a new thread. */
  public WebSocket.Listener open(WebSocket socket) {
    return EventSocket.open(socket, this, open());
  }

  /** Opens the source and writes its events as {@link #run(Source, Target, BooleanSupplier)}. */
  public void run(Target target, BooleanSupplier over) throws IOException, InterruptedException {
    try (Source source = open()) {
      run(source, target, over);
    }
  }

  /** Opens the source. If events were lost, the result throws that exception when it begins. */
  private Source open() {
    try {
      return opener.open();
    } catch (RuntimeException e) {
      if (lost.data(e) == null) {
        throw e;
      }
      return new Source() {
        @Override
        public void begin(Target target) {
          throw e;
        }

        @Override
        public boolean next(Duration wait, Target target) {
          return false;
        }

        @Override
        public void close() {}
      };
    }
  }

  /** Writes events until {@code over} is true, events are lost, or the store is closed. */
  void run(Source source, Target target, BooleanSupplier over)
      throws IOException, InterruptedException {
    try {
      source.begin(target);
      target.flush();
      boolean pending = false;
      long written = System.nanoTime();
      while (!over.getAsBoolean()) {
        if (source.next(pending ? Duration.ZERO : STEP, target)) {
          pending = true;
        } else if (pending) {
          target.flush();
          pending = false;
          written = System.nanoTime();
        } else if (System.nanoTime() - written > ALIVE_EVERY_NANOS) {
          source.keepAlive(target);
          pending = true;
        }
      }
    } catch (RuntimeException e) {
      end(e, target);
    }
  }

  private void end(RuntimeException failure, Target target) throws IOException {
    if (failure instanceof StoreClosedException) {
      // The store is closed: the stream ends without an error.
      return;
    }
    byte[] data = lost.data(failure);
    if (data == null) {
      throw failure;
    }
    target.lost(String.valueOf(failure.getMessage()), data);
  }

  /** The framing of server-sent events. */
  private record ServerSent(OutputStream target) implements Target {
    @Override
    public void event(@Nullable String name, @Nullable String id, Data data) throws IOException {
      StringBuilder head = new StringBuilder();
      if (name != null) {
        head.append("event: ").append(name).append('\n');
      }
      if (id != null) {
        head.append("id: ").append(id).append('\n');
      }
      target.write(head.append("data: ").toString().getBytes(StandardCharsets.UTF_8));
      data.writeTo(target);
      target.write('\n');
      target.write('\n');
    }

    @Override
    public void keepAlive() throws IOException {
      target.write(ALIVE);
    }

    @Override
    public void flush() throws IOException {
      target.flush();
    }

    @Override
    public void lost(String reason, byte[] data) throws IOException {
      event("lost", null, data);
      target.flush();
    }
  }
}
