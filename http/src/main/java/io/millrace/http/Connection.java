package io.millrace.http;

import io.millrace.http.message.AsyncReply;
import io.millrace.http.message.HttpProblem;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's connection. An event loop reads the head of each request and answers plain requests; a
 * thread is there only while it serves one of the others.
 *
 * <pre>
 *                 whole plain request             answer
 *   READING ---------------------------> ASKED ----------> WRITING
 *    ^  |  ^                                                  |
 *    |  |  +-------------------- all written ----------------+
 *    |  |
 *    |  +-- complete head of another --> SERVED (its thread) --+
 *    +-------------------------- answered ---------------------+
 *
 *   from anywhere: after the last answer LINGERING until the client has closed, then CLOSED
 * </pre>
 *
 * <p>Methods of the loop are called by its thread alone; the others by any thread.
 */
final class Connection {
  private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

  /** How long, and how much, is read and dropped after the last answer, so that it arrives. */
  static final Duration LINGER = Duration.ofSeconds(10);

  private static final long LINGER_BYTES = 256L << 20;

  private enum Phase {
    READING,
    ASKED,
    WRITING,
    SERVED,
    LINGERING,
    CLOSED
  }

  private final SocketChannel channel;
  private final EventLoop loop;
  private final Context context;
  private final RequestBuffer received;
  private final Activity activity = new Activity();
  private volatile Phase phase = Phase.READING;
  private @Nullable SelectionKey key;
  private @Nullable Request request;

  /** Whether an answer was begun, which is to be ended. */
  private boolean asked;

  private int askedBytes;
  private @Nullable ByteBuffer unwritten;
  private @Nullable Thread thread;
  private RequestBody.@Nullable Pace pace;

  /** Since when the present phase, or the present wait for bytes, lasts. */
  private long sinceNanos;

  private long lingerBytes = LINGER_BYTES;

  /** Whether the answer that is being written is the last. */
  private boolean ending;

  /** A connection that was just accepted. */
  Connection(SocketChannel channel, EventLoop loop, Context context) {
    this.channel = channel;
    this.loop = loop;
    this.context = context;
    this.received = new RequestBuffer(loop.heads(), context.limits(), context.memory());
  }

  SocketChannel channel() {
    return channel;
  }

  HttpLimits limits() {
    return context.limits();
  }

  RequestMemory memory() {
    return context.memory();
  }

  Activity activity() {
    return activity;
  }

  /** Has its loop begin to read. */
  void begin() {
    loop.execute(() -> resume(new byte[0]));
  }

  /** Has its loop go on with the next request, of which so much has come. Called by its thread. */
  void served(byte[] leftover) {
    loop.execute(() -> resume(leftover));
  }

  /** Has its loop take what still comes, and close. Called by its thread after the last answer. */
  void servedLast() {
    loop.execute(() -> {
      try {
        thread = null;
        register();
        linger();
      } catch (IOException | RuntimeException e) {
        close(e);
      }
    });
  }

  /** Closes it, whatever it does; a thread that serves it is interrupted. */
  void abort() {
    loop.execute(() -> {
      Thread serving = thread;
      if (serving != null) {
        serving.interrupt();
      }
      close(null);
    });
  }

  /**
   * Closes it to make room, if it has been silent for so long.
   *
   * @param roomForBytes whether it must have stopped in the middle of a request; otherwise, whether
   *     no request with credentials has come, or the last answer was given
   * @return whether it is being closed
   */
  boolean giveWay(long silentNanos, boolean roomForBytes) {
    boolean gives =
        roomForBytes
            ? activity.isStuck(silentNanos)
            : activity.silentNanos() >= silentNanos && isDispensable();
    if (gives) {
      abort();
    }
    return gives;
  }

  /** Whether no caller with credentials uses it. May be out of date: it is read without a lock. */
  private boolean isDispensable() {
    Phase now = phase;
    return now == Phase.LINGERING || (now == Phase.READING && !activity.isAuthenticated());
  }

  private void resume(byte[] leftover) {
    try {
      thread = null;
      activity.touch();
      register();
      phase = Phase.READING;
      sinceNanos = activity.lastNanos();
      if (leftover.length > 0) {
        received(ByteBuffer.wrap(leftover));
      }
    } catch (IOException | RuntimeException | Error e) {
      // Errors too: the loop must outlive whatever one connection does.
      close(e);
    }
  }

  private void register() throws IOException {
    channel.configureBlocking(false);
    key = channel.register(loop.selector(), SelectionKey.OP_READ, this);
  }

  /** Called by the loop: does what the connection is ready for. */
  void ready() {
    SelectionKey current = key;
    if (current == null || !current.isValid()) {
      return;
    }
    try {
      switch (phase) {
        case READING -> read();
        case WRITING -> write(there(unwritten));
        case LINGERING -> drop();
        case ASKED, SERVED, CLOSED -> current.interestOps(0);
      }
    } catch (IOException | RuntimeException | Error e) {
      // Errors too: the loop must outlive whatever one connection does.
      close(e);
    }
  }

  /** Called by the loop now and then: closes the connection if it has taken too long. */
  void checkTimeouts(long now) {
    try {
      switch (phase) {
        case READING -> checkReading(now);
        case WRITING -> {
          if (now - activity.lastNanos() > limits().idleTimeout().toNanos()) {
            close(null);
          }
        }
        case LINGERING -> {
          if (now - sinceNanos > LINGER.toNanos()) {
            close(null);
          }
        }
        case ASKED, SERVED, CLOSED -> {}
      }
    } catch (IOException | RuntimeException | Error e) {
      close(e);
    }
  }

  private void checkReading(long now) throws IOException {
    if (received.isEmpty()) {
      Duration most = activity.isAuthenticated() ? limits().idleTimeout() : limits().headTimeout();
      if (now - activity.lastNanos() > most.toNanos()) {
        close(null);
      }
    } else if (pace != null) {
      checkPace(now, 0);
    } else if (now - sinceNanos > limits().headTimeout().toNanos()) {
      refuse(
          new HttpProblem(
              408, "the head of the request did not come within " + limits().headTimeout()));
    }
  }

  /** Notes that so much of a body has come. Returns false if it comes too slowly. */
  private boolean checkPace(long now, long count) throws IOException {
    boolean enough = there(pace).waited(Math.max(0, now - sinceNanos), count);
    sinceNanos = now;
    if (!enough) {
      refuse(RequestBody.tooSlow(limits()));
    }
    return enough;
  }

  private void read() throws IOException {
    ByteBuffer buffer = loop.buffer();
    if (channel.read(buffer) < 0) {
      close(null);
      return;
    }
    received(buffer.flip());
  }

  private void received(ByteBuffer bytes) throws IOException {
    activity.touch();
    if (received.isEmpty()) {
      sinceNanos = activity.lastNanos();
    } else if (pace != null && !checkPace(activity.lastNanos(), bytes.remaining())) {
      return;
    }
    switch (received.add(bytes)) {
      case HEAD -> activity.awaitsBytes(true);
      case BODY -> {
        activity.awaitsBytes(true);
        if (pace == null) {
          // A client that is refused need not send the rest.
          pace = new RequestBody.Pace(limits().headTimeout(), limits().minBodyRate());
          sinceNanos = activity.lastNanos();
          if (!context.dispatcher().isNonBlocking(request(), this)) {
            serve();
          }
        }
      }
      case WHOLE -> ask();
      case OTHER -> serve();
      case REFUSED -> refuse(received.problem());
    }
  }

  /** The request whose head has come. */
  private Request request() {
    Request present = request;
    if (present == null) {
      present = new Request(received.head(), limits());
      request = present;
    }
    return present;
  }

  private void ask() throws IOException {
    Request asking = request();
    AsyncReply later = context.dispatcher().begin(asking, this, received.behindHead(), loop.tick());
    if (later == null) {
      serve();
      return;
    }
    askedBytes = received.taken();
    asked = true;
    complete(Phase.ASKED);
    if (later.isDone()) {
      answer(asking, later);
    } else {
      later.whenDone(() -> loop.execute(() -> answerOrClose(asking, later)));
    }
  }

  private void answerOrClose(Request asking, AsyncReply later) {
    try {
      answer(asking, later);
    } catch (IOException | RuntimeException | Error e) {
      // Errors too: the loop must outlive whatever one connection does.
      close(e);
    }
  }

  private void answer(Request asking, AsyncReply later) throws IOException {
    if (phase == Phase.CLOSED) {
      end();
      return;
    }
    phase = Phase.WRITING;
    write(context.dispatcher().answer(asking, later, loop.buffer()));
  }

  /** Refuses a request that cannot be read, and closes once the client has the answer. */
  private void refuse(HttpProblem problem) throws IOException {
    complete(Phase.WRITING);
    received.clear();
    ending = true;
    request = null;
    write(context.dispatcher().refuse(problem));
  }

  /** Writes what the client takes, and the rest when it takes more. */
  private void write(ByteBuffer text) throws IOException {
    SelectionKey current = there(key);
    channel.write(text);
    activity.touch();
    if (text.hasRemaining()) {
      if (unwritten == null) {
        // The text is in the loop's buffer, which is for what is done with it at once.
        memory().add(text.remaining());
        askedBytes += text.remaining();
        unwritten = ByteBuffer.allocate(text.remaining()).put(text).flip();
      }
      current.interestOps(SelectionKey.OP_WRITE);
      return;
    }
    unwritten = null;
    end();
    if (ending) {
      linger();
      return;
    }
    phase = Phase.READING;
    sinceNanos = activity.lastNanos();
    if (current.interestOps() != SelectionKey.OP_READ) {
      current.interestOps(SelectionKey.OP_READ);
    }
  }

  /** Ends the request and gives back its memory. */
  private void end() {
    if (asked) {
      asked = false;
      context.dispatcher().end(there(request));
    }
    request = null;
    memory().release(askedBytes);
    askedBytes = 0;
  }

  /** Ends the reading of a request, as far as the loop does it. */
  private void complete(Phase next) {
    pace = null;
    activity.awaitsBytes(false);
    phase = next;
  }

  /** Has a thread of its own serve the request whose head has come. */
  private void serve() {
    Request serving = request();
    request = null;
    byte[] rest = received.behindHead();
    int reservedBytes = received.taken();
    complete(Phase.SERVED);
    there(key).cancel();
    key = null;
    RequestThread task =
        new RequestThread(
            this,
            context.dispatcher(),
            serving,
            new RequestBody(this, serving.head(), rest, reservedBytes));
    Thread unstarted = Thread.ofVirtual().name("http-request").unstarted(task);
    thread = unstarted;
    loop.afterForgetting(unstarted::start);
  }

  /** Ends the output and reads what the client still sends, since closing now would be a reset. */
  private void linger() throws IOException {
    phase = Phase.LINGERING;
    sinceNanos = System.nanoTime();
    channel.shutdownOutput();
    there(key).interestOps(SelectionKey.OP_READ);
  }

  private void drop() throws IOException {
    int count = channel.read(loop.buffer());
    lingerBytes -= Math.max(0, count);
    if (count < 0 || lingerBytes < 0) {
      close(null);
    }
  }

  /** Closes it for good. A request that waits for its answer is ended when that comes. */
  private void close(@Nullable Throwable cause) {
    if (cause instanceof Error) {
      LOG.error("a connection is closed for a fault of the server", cause);
    } else if (cause != null) {
      LOG.trace("a connection failed", cause);
    }
    boolean undecided = phase == Phase.ASKED;
    phase = Phase.CLOSED;
    activity.awaitsBytes(false);
    key = null;
    try {
      channel.close();
    } catch (IOException e) {
      LOG.trace("a connection could not be closed", e);
    }
    received.clear();
    unwritten = null;
    if (!undecided) {
      end();
    }
    context.whenClosed().accept(this);
  }

  private static <T> T there(@Nullable T part) {
    if (part == null) {
      throw new IllegalStateException("a connection is in another state");
    }
    return part;
  }

  /**
   * What the connections of one listener share.
   *
   * @param limits what a client may ask for
   * @param memory the budget for what requests keep in memory
   * @param dispatcher answers requests
   * @param whenClosed called for each connection that is closed, perhaps twice
   */
  record Context(
      HttpLimits limits,
      RequestMemory memory,
      Dispatcher dispatcher,
      Consumer<Connection> whenClosed) {}

  /**
   * When a connection was last used, and by whom: what decides whether it is closed for its
   * silence. Safe for use by any thread.
   */
  static final class Activity {
    private volatile long lastNanos = System.nanoTime();
    private volatile boolean awaitsBytes;
    private volatile boolean waitsForEvent;
    private volatile boolean authenticated;

    /** Notes that bytes have come or gone. */
    void touch() {
      lastNanos = System.nanoTime();
    }

    /** When it was last used, by {@link System#nanoTime}. */
    long lastNanos() {
      return lastNanos;
    }

    /** Notes whether the rest of a request is awaited. */
    void awaitsBytes(boolean awaits) {
      awaitsBytes = awaits;
    }

    /** Notes whether a request waits for an event, so that silence says nothing. */
    void waitsForEvent(boolean waits) {
      touch();
      waitsForEvent = waits;
    }

    /** Notes that a request with the right credentials has come, or one to a server without any. */
    void authenticated() {
      authenticated = true;
    }

    boolean isAuthenticated() {
      return authenticated;
    }

    /** For how long nothing was sent or received although no request waits for an event. */
    long silentNanos() {
      return waitsForEvent ? 0 : System.nanoTime() - lastNanos;
    }

    /** Whether it stopped in the middle of a request so long ago. */
    boolean isStuck(long nanos) {
      return awaitsBytes && silentNanos() >= nanos;
    }
  }
}
