package io.millrace.http.events;

import io.millrace.http.PendingWait;
import io.millrace.http.Request;
import io.millrace.http.message.Reply;
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
 * A stream of events that one client reads. Each API gives a {@link Source}; the loop that waits,
 * flushes, shows that the stream is alive and ends it is here.
 *
 * <p>Events leave when nothing more is there to add, so a burst is one write. After ten seconds
 * without an event, a comment shows that the stream goes on. For one client, and one run.
 */
public final class EventStream {
  private static final long ALIVE_EVERY_NANOS = Duration.ofSeconds(10).toNanos();

  /** How soon an idle stream notices that the client or the server goes. */
  private static final Duration STEP = Duration.ofMillis(250);

  private static final Map<String, String> HEADERS = Map.of("Cache-Control", "no-store");
  private static final byte[] ALIVE = ": alive\n\n".getBytes(StandardCharsets.UTF_8);

  private final Opener opener;
  private final Lost lost;

  /**
   * A stream of what a source tells.
   *
   * @param lost tells which failures of the source mean that events were lost
   */
  public EventStream(Opener opener, Lost lost) {
    this.opener = opener;
    this.lost = lost;
  }

  /** Where the events of one stream come from. For use by one thread; closed at the end. */
  public interface Source extends AutoCloseable {
    /** Writes what comes first, such as where the stream begins. */
    void begin(Target target) throws IOException;

    /**
     * Writes what happens next; waits for it at most so long.
     *
     * @return whether it wrote anything
     */
    boolean next(Duration wait, Target target) throws IOException, InterruptedException;

    /** Shows that the stream goes on though nothing has been written for some time. */
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

  /** Tells why a stream cannot go on without a gap. */
  @FunctionalInterface
  public interface Lost {
    /**
     * The data of the last event, {@code lost}.
     *
     * @param failure what the opener or the source threw
     * @return null if the failure means something else
     */
    byte @Nullable [] data(RuntimeException failure);
  }

  /** The data of an event: one line of text. */
  @FunctionalInterface
  public interface Data {
    void writeTo(OutputStream target) throws IOException;
  }

  /** Where events go. */
  public interface Target {
    /**
     * Writes an event.
     *
     * @param name its name; null for none
     * @param id by which a client goes on after it; null for none
     */
    void event(@Nullable String name, @Nullable String id, Data data) throws IOException;

    /** Writes an event whose data is at hand. */
    default void event(@Nullable String name, @Nullable String id, byte[] data) throws IOException {
      event(name, id, target -> target.write(data));
    }

    /** Shows that the stream goes on. */
    void keepAlive() throws IOException;

    /** Sends what was written. */
    void flush() throws IOException;

    /**
     * Says that events were lost; the stream ends.
     *
     * @param reason why, for people
     * @param data the data of the event that says so
     */
    void lost(String reason, byte[] data) throws IOException;
  }

  /**
   * Answers with server-sent events, or over a WebSocket if the request asks for one. A HEAD opens
   * nothing. If the source cannot be opened because events were lost, that is the only event.
   *
   * @throws RuntimeException what the opener throws for another reason
   */
  public Reply reply(Request request) {
    // Clients that know HTTP/2 offer it with every request; the offer may be ignored.
    boolean webSocket = !request.header("Upgrade").orElse("h2c").equals("h2c");
    if (request.isHead() && !webSocket) {
      return events(_ -> {});
    }
    Source source = open();
    if (webSocket) {
      return webSocket(request, source);
    }
    return events(
        new Reply.Body() {
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

  private static Reply events(Reply.Body body) {
    return new Reply.Streamed(200, Reply.EVENTS, HEADERS, -1, body);
  }

  private Reply webSocket(Request request, Source source) {
    try {
      return request.webSocket(
          EventSocket.LIMITS,
          new Reply.SocketOpener() {
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

  /** Server-sent events. */
  public static Target serverSent(OutputStream target) {
    return new ServerSent(target);
  }

  /** Runs the stream over a WebSocket, on a thread of its own. */
  public WebSocket.Listener open(WebSocket socket) {
    return EventSocket.open(socket, this, open());
  }

  /** Opens the source and writes its events as {@link #run(Source, Target, BooleanSupplier)}. */
  public void run(Target target, BooleanSupplier over) throws IOException, InterruptedException {
    try (Source source = open()) {
      run(source, target, over);
    }
  }

  /** Opens the source. If events were lost before, the result fails with that when it begins. */
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

  /** Writes what happens until {@code over}, or until events are lost or the store is closed. */
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
      // The store has gone: the stream simply ends.
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
