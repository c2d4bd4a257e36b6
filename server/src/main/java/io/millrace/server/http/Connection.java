package io.millrace.server.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
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
  private final Surroundings surroundings;
  private final Inbox inbox;
  private volatile Phase phase = Phase.READING;
  private @Nullable SelectionKey key;
  private PromptDispatcher.@Nullable Exchange asked;
  private int askedBytes;
  private @Nullable ByteBuffer unwritten;
  private @Nullable Thread thread;
  private @Nullable Pace pace;

  /** Since when the present phase, or the present wait for bytes, lasts. */
  private long sinceNanos;

  private long lingerBytes = LINGER_BYTES;

  /** Whether the answer that is being written is the last. */
  private boolean ending;

  private volatile long activeNanos = System.nanoTime();
  private volatile boolean awaiting;
  private volatile boolean waiting;
  private volatile boolean known;

  /** A connection that was just accepted. */
  Connection(SocketChannel channel, EventLoop loop, Surroundings surroundings) {
    this.channel = channel;
    this.loop = loop;
    this.surroundings = surroundings;
    this.inbox = new Inbox(loop.reader(), surroundings.limits(), surroundings.memory());
  }

  SocketChannel channel() {
    return channel;
  }

  HttpLimits limits() {
    return surroundings.limits();
  }

  RequestMemory memory() {
    return surroundings.memory();
  }

  /** Notes that bytes have come or gone. */
  void heard() {
    activeNanos = System.nanoTime();
  }

  /** Notes whether a thread waits for the rest of a body. */
  void awaiting(boolean awaits) {
    if (awaits) {
      heard();
    }
    awaiting = awaits;
  }

  /** Notes whether the request waits for an event, so that silence says nothing. */
  void waiting(boolean waits) {
    heard();
    waiting = waits;
  }

  /** Notes that a request with the right credentials has come, or one to a server without any. */
  void known() {
    known = true;
  }

  /** For how long nothing has been sent or received although nobody waits for an event. */
  long silentNanos() {
    return waiting ? 0 : System.nanoTime() - activeNanos;
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
    boolean silent = !waiting && System.nanoTime() - activeNanos >= silentNanos;
    if (silent && (roomForBytes ? awaiting : isDispensable())) {
      abort();
      return true;
    }
    return false;
  }

  /** Whether nobody with credentials uses it. May be a moment old: it is read without a lock. */
  private boolean isDispensable() {
    Phase now = phase;
    return now == Phase.LINGERING || (now == Phase.READING && !known);
  }

  private void resume(byte[] leftover) {
    try {
      thread = null;
      heard();
      register();
      phase = Phase.READING;
      sinceNanos = activeNanos;
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

  /** For the loop: does what the connection is ready for. */
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

  /** For the loop, now and then: ends what has taken too long. */
  void tick(long now) {
    try {
      switch (phase) {
        case READING -> checkReading(now);
        case WRITING -> {
          if (now - activeNanos > limits().idleTimeout().toNanos()) {
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
    if (inbox.isEmpty()) {
      Duration most = known ? limits().idleTimeout() : limits().headTimeout();
      if (now - activeNanos > most.toNanos()) {
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
      refuse(tooSlow(limits()));
    }
    return enough;
  }

  /** What to answer to a body that comes too slowly. */
  static HttpProblem tooSlow(HttpLimits limits) {
    return new HttpProblem(
        408,
        "the body of the request came more slowly than "
            + limits.minBodyRate()
            + " bytes a second (server.min-body-rate)");
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
    heard();
    if (inbox.isEmpty()) {
      sinceNanos = activeNanos;
    } else if (pace != null && !checkPace(activeNanos, bytes.remaining())) {
      return;
    }
    boolean first = pace == null;
    switch (inbox.add(bytes)) {
      case HEAD -> awaiting = true;
      case BODY -> {
        awaiting = true;
        if (first) {
          // Who may not ask need not send the rest.
          pace = new Pace(limits().headTimeout(), limits().minBodyRate());
          sinceNanos = activeNanos;
          if (!surroundings.prompt().admits(inbox.plain(), this)) {
            serve();
          }
        }
      }
      case PLAIN -> ask();
      case OTHER -> serve();
      case REFUSED -> refuse(inbox.problem());
    }
  }

  private void ask() throws IOException {
    PromptDispatcher.Exchange begun =
        surroundings.prompt().begin(inbox.request(), this, loop.round());
    if (begun == null) {
      serve();
      return;
    }
    askedBytes = inbox.taken();
    complete(Phase.ASKED);
    asked = begun;
    if (begun.isDone()) {
      answer(begun);
    } else {
      begun.whenDone(() -> loop.execute(() -> answerOrClose(begun)));
    }
  }

  private void answerOrClose(PromptDispatcher.Exchange exchange) {
    try {
      answer(exchange);
    } catch (IOException | RuntimeException | Error e) {
      // Errors too: the loop must outlive whatever one connection does.
      close(e);
    }
  }

  private void answer(PromptDispatcher.Exchange exchange) throws IOException {
    if (phase == Phase.CLOSED) {
      end();
      return;
    }
    phase = Phase.WRITING;
    write(surroundings.prompt().answer(exchange, loop.buffer()));
  }

  /** Answers what cannot be served, and closes once that has been read. */
  private void refuse(HttpProblem problem) throws IOException {
    complete(Phase.WRITING);
    inbox.clear();
    ending = true;
    surroundings.prompt().refused(problem);
    write(ReplyText.last(ErrorForm.PLAIN.reply(problem)));
  }

  /** Writes what the client takes, and the rest when it takes more. */
  private void write(ByteBuffer text) throws IOException {
    SelectionKey current = there(key);
    channel.write(text);
    heard();
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
    sinceNanos = activeNanos;
    if (current.interestOps() != SelectionKey.OP_READ) {
      current.interestOps(SelectionKey.OP_READ);
    }
  }

  /** Ends what was asked. */
  private void end() {
    PromptDispatcher.Exchange exchange = asked;
    if (exchange != null) {
      asked = null;
      surroundings.prompt().end(exchange);
    }
    memory().release(askedBytes);
    askedBytes = 0;
  }

  /** Notes that a request has come completely, as far as the loop reads it. */
  private void complete(Phase next) {
    pace = null;
    awaiting = false;
    phase = next;
  }

  /** Has a thread of its own serve the request whose head has come. */
  private void serve() {
    Head head = inbox.head();
    Inbox.Rest rest = inbox.rest();
    complete(Phase.SERVED);
    there(key).cancel();
    key = null;
    RequestThread serving = new RequestThread(this, surroundings, head, rest);
    Thread unstarted = Thread.ofVirtual().name("http-request").unstarted(serving);
    thread = unstarted;
    loop.afterForgetting(unstarted::start);
  }

  /** Shows the client that nothing follows, and takes what it still sends: else it sees a reset. */
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

  /** Closes it for good. What was asked and is undecided is ended by its answer. */
  private void close(@Nullable Throwable cause) {
    if (cause instanceof Error) {
      LOG.error("a connection is closed for a fault of the server", cause);
    } else if (cause != null) {
      LOG.trace("a connection failed", cause);
    }
    boolean undecided = phase == Phase.ASKED;
    phase = Phase.CLOSED;
    awaiting = false;
    key = null;
    try {
      channel.close();
    } catch (IOException e) {
      LOG.trace("a connection could not be closed", e);
    }
    inbox.clear();
    unwritten = null;
    if (!undecided) {
      end();
    }
    surroundings.closed(this);
  }

  private static <T> T there(@Nullable T part) {
    if (part == null) {
      throw new IllegalStateException("a connection is in another state");
    }
    return part;
  }
}
