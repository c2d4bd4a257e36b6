package io.millrace.http;

import io.millrace.http.message.AsyncResponse;
import io.millrace.http.message.Head;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.transport.PlainTransport;
import io.millrace.http.transport.ServerCertificate;
import io.millrace.http.transport.TlsTransport;
import io.millrace.http.transport.Transport;
import io.millrace.store.environment.DurationText;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection to a client. Its event loop parses the head of each request and answers plain
 * requests. A thread exists only while it serves one of the other requests.
 *
 * <pre>
 *              complete plain request           response
 *   READING ---------------------------> PENDING ----------> WRITING
 *    ^  |  ^                                                    |
 *    |  |  +--------------------- all written -----------------+
 *    |  |
 *    |  +-- complete head of another request --> DETACHED ---+
 *    +---------- the request's thread has responded ---------+
 *
 *   before READING, if the server has a certificate: HANDSHAKING, on a thread
 *   from any phase: after the last response LINGERING until the client has closed, then CLOSED
 * </pre>
 *
 * <p>Getters are thread-safe. All other methods are called by the thread of the loop, unless they
 * say otherwise.
 */
final class Connection {
  private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

  /**
   * How long the client's input is read and dropped after the last response. Closing with unread
   * bytes would reset the connection, and the client might miss the response.
   */
  static final Duration LINGER = Duration.ofSeconds(10);

  /** How many bytes are dropped at most. */
  private static final long LINGER_BYTES = 256L << 20;

  private enum Phase {
    HANDSHAKING,
    READING,
    PENDING,
    WRITING,
    DETACHED,
    LINGERING,
    CLOSED
  }

  /** Plain until a handshake has been made. Not changed after the first phase. */
  private volatile Transport transport;

  private final InetAddress peer;
  private final EventLoop loop;
  private final Context context;
  private final RequestBuffer received;
  private final ConnectionActivity activity = new ConnectionActivity();
  private volatile Phase phase = Phase.READING;
  private @Nullable SelectionKey key;
  private @Nullable Request request;

  /** Handles the request that is being read or answered; null for none. */
  private @Nullable Dispatcher dispatcher;

  /** Has begun a request, which has not ended; null for none. */
  private volatile @Nullable Dispatcher serving;

  /** Whether {@link #request} was begun and must be ended with {@link Dispatcher#end}. */
  private boolean begun;

  /** Memory that is reserved for the request and its response. */
  private int reservedBytes;

  /** The rest of a response that the client was too slow to take. */
  private @Nullable ByteBuffer unwritten;

  private @Nullable Thread thread;
  private RequestBody.@Nullable Pace pace;

  /** When the current phase, or the current wait for bytes, began, by {@link System#nanoTime}. */
  private long sinceNanos;

  private long lingerBytes = LINGER_BYTES;

  /** Whether the response that is being written is the last. */
  private boolean closing;

  /**
   * A connection that was just accepted.
   *
   * @throws IOException if it is closed
   */
  Connection(SocketChannel channel, EventLoop loop, Context context) throws IOException {
    this.transport = new PlainTransport(channel);
    this.peer = ((InetSocketAddress) channel.getRemoteAddress()).getAddress();
    this.loop = loop;
    this.context = context;
    this.received = new RequestBuffer(loop.heads(), context.limits(), context.memory());
  }

  Transport transport() {
    return transport;
  }

  /** The address of the client, or of a proxy in between. */
  InetAddress peer() {
    return peer;
  }

  HttpLimits limits() {
    return context.limits();
  }

  RequestMemory memory() {
    return context.memory();
  }

  ConnectionActivity activity() {
    return activity;
  }

  /** What serves a request that begins now. Called by any thread. */
  HttpServer.Chosen choose(Head head) {
    return context.chooser().apply(head);
  }

  /**
   * Notes who has begun a request; null before the request counts as ended. Called by the thread
   * that serves the request.
   */
  void servedBy(@Nullable Dispatcher one) {
    serving = one;
  }

  /** Starts the handshake, or reading. Called by any thread. */
  void begin() {
    ServerCertificate certificate = context.certificate();
    if (certificate == null) {
      loop.execute(() -> resume(new byte[0]));
      return;
    }
    loop.execute(() -> {
      phase = Phase.HANDSHAKING;
      thread =
          Thread.ofVirtual().name("tls-handshake").start(new HandshakeThread(this, certificate));
    });
  }

  /** Starts reading through a transport that is secure now. Called by the handshake's thread. */
  void resumeSecured(TlsTransport secured) {
    transport = secured;
    resumeReading(new byte[0]);
  }

  /** Refuses what the client has begun with, and then closes. Called by the handshake's thread. */
  void refuseAndClose(HttpProblem problem) {
    loop.execute(() -> {
      try {
        thread = null;
        register();
        refuse(problem);
      } catch (IOException | RuntimeException | Error e) {
        close(e);
      }
    });
  }

  /**
   * Closes the connection, because its handshake failed. Called by the handshake's thread.
   *
   * @param cause for the log; null if the client has closed
   */
  void failHandshake(@Nullable Throwable cause) {
    loop.execute(() -> close(cause));
  }

  /**
   * Returns the connection to its loop after a response. Called by the request's thread.
   *
   * @param leftover the bytes of the next request that have arrived
   */
  void resumeReading(byte[] leftover) {
    loop.execute(() -> resume(leftover));
  }

  /** Returns the connection to its loop after the last response. Called by the request's thread. */
  void lingerAndClose() {
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

  /** Closes the connection in any phase, and interrupts its thread. Called by any thread. */
  void abort() {
    loop.execute(this::interruptAndClose);
  }

  /**
   * The same, if this one has begun a request that has not ended. Another request may have come
   * meanwhile: its connection stays open. Called by any thread.
   */
  void abort(Dispatcher one) {
    loop.execute(() -> {
      if (one.equals(serving)) {
        interruptAndClose();
      }
    });
  }

  private void interruptAndClose() {
    Thread current = thread;
    if (current != null) {
      current.interrupt();
    }
    close(null);
  }

  /**
   * Closes the connection to free resources, if it has been idle for this long and is of little
   * value: for memory, if it has stopped in the middle of a request; otherwise, if it has sent no
   * request with accepted credentials, or its last response was written. Called by any thread.
   *
   * @return whether it is being closed
   */
  boolean evict(long idleNanos, boolean forMemory) {
    boolean evictable =
        forMemory
            ? activity.isStuck(idleNanos)
            : activity.idleNanos() >= idleNanos && isDispensable();
    if (evictable) {
      abort();
    }
    return evictable;
  }

  /**
   * Whether no authenticated caller uses it. May be outdated, because it is read without a lock.
   */
  private boolean isDispensable() {
    Phase now = phase;
    return now == Phase.LINGERING
        || now == Phase.HANDSHAKING
        || (now == Phase.READING && !activity.isAuthenticated());
  }

  private void resume(byte[] leftover) {
    try {
      thread = null;
      dispatcher = null;
      activity.touch();
      register();
      phase = Phase.READING;
      sinceNanos = activity.lastNanos();
      if (leftover.length > 0) {
        received(ByteBuffer.wrap(leftover));
      }
      readReceived();
    } catch (IOException | RuntimeException | Error e) {
      // Errors too: no connection may end the loop.
      close(e);
    }
  }

  private void register() throws IOException {
    transport.channel().configureBlocking(false);
    key = transport.channel().register(loop.selector(), SelectionKey.OP_READ, this);
  }

  /** Reads or writes; called when the selector finds the connection ready. */
  void ready() {
    SelectionKey current = key;
    if (current == null || !current.isValid()) {
      return;
    }
    try {
      switch (phase) {
        case READING -> read();
        case WRITING -> write(require(unwritten));
        case LINGERING -> drop();
        case HANDSHAKING, PENDING, DETACHED, CLOSED -> current.interestOps(0);
      }
    } catch (IOException | RuntimeException | Error e) {
      // Errors too: no connection may end the loop.
      close(e);
    }
  }

  /** Closes the connection if a timeout has passed; called at regular intervals. */
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
        case HANDSHAKING, PENDING, DETACHED, CLOSED -> {}
      }
    } catch (IOException | RuntimeException | Error e) {
      close(e);
    }
  }

  private void checkReading(long now) throws IOException {
    if (received.isEmpty()) {
      Duration max = activity.isAuthenticated() ? limits().idleTimeout() : limits().headTimeout();
      if (now - activity.lastNanos() > max.toNanos()) {
        close(null);
      }
    } else if (pace != null) {
      checkPace(now, 0);
    } else if (now - sinceNanos > limits().headTimeout().toNanos()) {
      refuse(
          new HttpProblem(
              408,
              "the head of the request did not arrive within "
                  + DurationText.show(limits().headTimeout())));
    }
  }

  /** Counts bytes of a body that have arrived. Returns false, and refuses, if it is too slow. */
  private boolean checkPace(long now, long count) throws IOException {
    boolean fastEnough = require(pace).waited(Math.max(0, now - sinceNanos), count);
    sinceNanos = now;
    if (!fastEnough) {
      refuse(RequestBody.tooSlow(limits()));
    }
    return fastEnough;
  }

  private void read() throws IOException {
    ByteBuffer buffer = loop.buffer();
    if (transport.read(buffer) < 0) {
      close(null);
    } else if (buffer.position() > 0) {
      received(buffer.flip());
      readReceived();
    }
  }

  /** Reads soon what the channel does not tell, because the transport has it already. */
  private void readReceived() {
    if (phase == Phase.READING && transport.hasReceived()) {
      loop.readAgain(this);
    }
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
          // Check now, so that a client that is refused need not send the rest.
          pace = new RequestBody.Pace(limits().headTimeout(), limits().minBodyRate());
          sinceNanos = activity.lastNanos();
          Request current = request();
          if (!require(dispatcher).isNonBlocking(current, this)) {
            startThread();
          }
        }
      }
      case COMPLETE -> handle();
      case NEEDS_THREAD -> startThread();
      case REFUSED -> refuse(received.problem());
    }
  }

  /** The request whose head is complete. */
  private Request request() {
    Request current = request;
    if (current == null) {
      HttpServer.Chosen chosen = choose(received.head());
      current = new Request(received.head(), chosen.path(), limits(), peer);
      request = current;
      dispatcher = chosen.dispatcher();
    }
    return current;
  }

  /** Handles a complete plain request on the loop. */
  private void handle() throws IOException {
    Request current = request();
    AsyncResponse response = require(dispatcher).begin(current, this, received.body(), loop.tick());
    if (response == null) {
      startThread();
      return;
    }
    reservedBytes = received.handOver();
    begun = true;
    serving = dispatcher;
    endReading(Phase.PENDING);
    if (response.isDone()) {
      write(current, response);
    } else {
      response.whenDone(() -> loop.execute(() -> writeOrClose(current, response)));
    }
  }

  private void writeOrClose(Request current, AsyncResponse response) {
    try {
      write(current, response);
    } catch (IOException | RuntimeException | Error e) {
      // Errors too: no connection may end the loop.
      close(e);
    }
  }

  private void write(Request current, AsyncResponse response) throws IOException {
    if (phase == Phase.CLOSED) {
      var _ = require(dispatcher).completed(current, response);
      end();
      return;
    }
    phase = Phase.WRITING;
    write(require(dispatcher).encode(current, response, loop.buffer()));
  }

  /** Refuses a request that cannot be parsed, and then closes the connection. */
  private void refuse(HttpProblem problem) throws IOException {
    endReading(Phase.WRITING);
    received.clear();
    closing = true;
    request = null;
    write(context.any().get().refuse(problem));
  }

  /** Writes as much as the client takes now, and the rest when it takes more. */
  private void write(ByteBuffer text) throws IOException {
    SelectionKey current = require(key);
    transport.write(text);
    activity.touch();
    if (text.hasRemaining() || !transport.isFlushed()) {
      if (unwritten == null) {
        // The text is in the buffer of the loop, which other connections use too.
        memory().add(text.remaining());
        reservedBytes += text.remaining();
        unwritten = ByteBuffer.allocate(text.remaining()).put(text).flip();
      }
      current.interestOps(SelectionKey.OP_WRITE);
      return;
    }
    unwritten = null;
    end();
    if (closing) {
      linger();
      return;
    }
    phase = Phase.READING;
    sinceNanos = activity.lastNanos();
    if (current.interestOps() != SelectionKey.OP_READ) {
      current.interestOps(SelectionKey.OP_READ);
    }
    readReceived();
  }

  /** Ends the request and releases its memory. */
  private void end() {
    if (begun) {
      begun = false;
      serving = null;
      require(dispatcher).end(require(request));
    }
    request = null;
    dispatcher = null;
    memory().release(reservedBytes);
    reservedBytes = 0;
  }

  /** Ends the phase in which the loop reads a request. */
  private void endReading(Phase next) {
    pace = null;
    activity.awaitsBytes(false);
    phase = next;
  }

  /** Starts a thread for the request whose head is complete. */
  private void startThread() {
    Request serving = request();
    request = null;
    byte[] rest = received.body();
    int reserved = received.handOver();
    endReading(Phase.DETACHED);
    require(key).cancel();
    key = null;
    RequestThread task =
        new RequestThread(
            this,
            require(dispatcher),
            serving,
            new RequestBody(this, serving.head(), rest, reserved));
    Thread unstarted = Thread.ofVirtual().name("http-request").unstarted(task);
    thread = unstarted;
    loop.afterDeregistration(unstarted::start);
  }

  /** Ends the output, and drops the client's input until it closes. */
  private void linger() throws IOException {
    phase = Phase.LINGERING;
    sinceNanos = System.nanoTime();
    transport.shutdownOutput();
    require(key).interestOps(SelectionKey.OP_READ);
  }

  private void drop() throws IOException {
    int count = transport.drop(loop.buffer());
    lingerBytes -= Math.max(0, count);
    if (count < 0 || lingerBytes < 0) {
      close(null);
    }
  }

  /** Closes the connection. A pending request is ended later, when its response is ready. */
  private void close(@Nullable Throwable cause) {
    if (cause instanceof Error) {
      LOG.error("a connection is closed because of an internal error", cause);
    } else if (cause != null) {
      LOG.trace("a connection failed", cause);
    }
    boolean pending = phase == Phase.PENDING;
    phase = Phase.CLOSED;
    activity.awaitsBytes(false);
    key = null;
    try {
      transport.close();
    } catch (IOException e) {
      LOG.trace("a connection could not be closed", e);
    }
    received.clear();
    unwritten = null;
    if (!pending) {
      end();
    }
    context.whenClosed().accept(this);
  }

  private static <T> T require(@Nullable T part) {
    if (part == null) {
      throw new IllegalStateException("a connection is in the wrong phase");
    }
    return part;
  }

  /**
   * What all connections of a server share.
   *
   * @param limits the limits of requests and connections
   * @param memory the memory for all requests together
   * @param chooser takes what serves a request
   * @param any refuses what cannot be parsed
   * @param certificate of the server; null if its connections are plain
   * @param whenClosed called for each connection that is closed, possibly more than once
   */
  record Context(
      HttpLimits limits,
      RequestMemory memory,
      Function<Head, HttpServer.Chosen> chooser,
      Supplier<Dispatcher> any,
      @Nullable ServerCertificate certificate,
      Consumer<Connection> whenClosed) {}
}
