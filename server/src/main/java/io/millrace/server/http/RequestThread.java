package io.millrace.server.http;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.concurrency.limits.FixedLimit;
import io.helidon.common.socket.PeerInfo;
import io.helidon.http.RequestException;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.Router;
import io.helidon.webserver.spi.ServerConnection;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.channels.SocketChannel;
import java.security.Principal;
import java.security.cert.Certificate;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request that a thread of its own serves, with a connection as the library wants to see it.
 * The library gets the head, which the event loop has read, and writes the answer; it sees nothing
 * of the body, which the handler reads.
 */
final class RequestThread implements Runnable, ConnectionContext, Watch.Watched {
  private static final Logger LOG = LoggerFactory.getLogger(RequestThread.class);

  /** What becomes of the connection. */
  private enum End {
    /** The library has answered what it could not read. */
    REFUSED,
    KEPT,
    LAST,
    CLOSED
  }

  private final Connection connection;
  private final Surroundings surroundings;
  private final Head head;
  private final RequestBody body;
  private final DataReader reader;
  private @Nullable DataWriter writer;
  private @Nullable ServerConnection handled;
  private @Nullable CompletableFuture<byte @Nullable []> ahead;
  private volatile @Nullable Runnable whenGone;
  private End end = End.REFUSED;

  /**
   * A request.
   *
   * @param rest what has come behind its head
   */
  RequestThread(Connection connection, Surroundings surroundings, Head head, Inbox.Rest rest) {
    this.connection = connection;
    this.surroundings = surroundings;
    this.head = head;
    this.body = new RequestBody(connection, head, rest);
    this.reader = new DataReader(new PlainReader.Once(head.forLibrary()));
  }

  Connection connection() {
    return connection;
  }

  Head head() {
    return head;
  }

  RequestBody body() {
    return body;
  }

  @Override
  public void run() {
    byte[] leftover = null;
    try {
      connection.channel().configureBlocking(true);
      writer = new Writer(connection);
      ServerConnection handling = surroundings.http().connection(this);
      handled = handling;
      try {
        handling.handle(FixedLimit.create());
      } catch (CloseConnectionException e) {
        LOG.trace("a connection ends", e);
        end = end == End.LAST ? End.LAST : End.CLOSED;
      }
      leftover = end == End.KEPT ? leftover() : null;
    } catch (RequestException | UncheckedIOException | IOException | InterruptedException e) {
      LOG.trace("a connection ended", e);
      end = End.CLOSED;
    } catch (Throwable e) {
      LOG.error("a connection is closed for a fault of the server", e);
      end = End.CLOSED;
    }
    finish(leftover);
  }

  private void finish(byte @Nullable [] leftover) {
    if (leftover != null) {
      connection.served(leftover);
      return;
    }
    byte[] _ = body.leftover();
    if (end != End.CLOSED && ahead == null) {
      connection.servedLast();
    } else {
      awaitClose();
      connection.abort();
    }
  }

  /** After the last answer: lets the client see it, if a thread of this request reads already. */
  private void awaitClose() {
    CompletableFuture<byte @Nullable []> reading = ahead;
    if (end == End.CLOSED || reading == null) {
      return;
    }
    try {
      connection.channel().shutdownOutput();
      var _ = reading.get(Connection.LINGER.toMillis(), TimeUnit.MILLISECONDS);
    } catch (IOException | ExecutionException | TimeoutException | InterruptedException e) {
      LOG.trace("a connection ended", e);
    }
  }

  /** Notes that the request is answered, and whether the connection goes on. */
  void answered(boolean keeps) {
    end = keeps ? End.KEPT : End.LAST;
    if (handled != null) {
      handled.close(false);
    }
  }

  /** Notes that the connection was used for something else, and is over. */
  void over() {
    end = End.CLOSED;
  }

  /** What has come behind this request; null if the client has closed. */
  private byte @Nullable [] leftover() throws IOException, InterruptedException {
    byte[] behind = body.leftover();
    CompletableFuture<byte @Nullable []> reading = ahead;
    if (reading == null) {
      return behind;
    }
    try {
      byte[] more = reading.get();
      end = more == null ? End.CLOSED : end;
      return more;
    } catch (ExecutionException e) {
      throw new IOException("the connection failed", e.getCause());
    }
  }

  /**
   * Begins to read ahead, and ends {@code watch} on another thread once the connection turns out to
   * be closed. This cannot be seen if the client has sent a further request already.
   */
  @Override
  public void watch(Watch watch) {
    connection.waiting(true);
    Runnable action = () -> watch.end(Watch.Cause.CLIENT_GONE);
    whenGone = action;
    CompletableFuture<byte @Nullable []> reading = ahead;
    if (reading == null && body.isLast()) {
      CompletableFuture<byte @Nullable []> begun = new CompletableFuture<>();
      ahead = begun;
      Thread.ofVirtual().name("http-watch").start(() -> readAhead(begun));
    } else if (reading != null && reading.isDone() && isEnd(reading)) {
      action.run();
    }
  }

  @Override
  public void unwatch() {
    whenGone = null;
    connection.waiting(false);
  }

  private void readAhead(CompletableFuture<byte @Nullable []> begun) {
    try {
      begun.complete(body.readBehind());
    } catch (IOException | RuntimeException e) {
      begun.completeExceptionally(e);
    }
    Runnable action = whenGone;
    if (action != null && isEnd(begun)) {
      action.run();
    }
  }

  private static boolean isEnd(CompletableFuture<byte @Nullable []> done) {
    return done.isCompletedExceptionally() || done.getNow(null) == null;
  }

  /**
   * Takes the connection out of HTTP for good.
   *
   * @return what has been read beyond the request
   */
  byte[] switched() {
    connection.waiting(true);
    return body.leftover();
  }

  @Override
  public DataReader dataReader() {
    return reader;
  }

  @Override
  public Router router() {
    return surroundings.router();
  }

  @Override
  public ListenerContext listenerContext() {
    return surroundings.context();
  }

  @Override
  public ExecutorService executor() {
    return surroundings.context().executor();
  }

  @Override
  public DataWriter dataWriter() {
    if (writer == null) {
      throw new IllegalStateException("the thread has not begun");
    }
    return writer;
  }

  @Override
  public PeerInfo remotePeer() {
    return new Peer(connection.channel(), false);
  }

  @Override
  public PeerInfo localPeer() {
    return new Peer(connection.channel(), true);
  }

  @Override
  public boolean isSecure() {
    return false;
  }

  @Override
  public String socketId() {
    return "http";
  }

  @Override
  public String childSocketId() {
    return Integer.toHexString(System.identityHashCode(connection));
  }

  /** One end of the connection. */
  private record Peer(SocketChannel channel, boolean local) implements PeerInfo {
    @Override
    public SocketAddress address() {
      return local
          ? channel.socket().getLocalSocketAddress()
          : channel.socket().getRemoteSocketAddress();
    }

    @Override
    public String host() {
      return address() instanceof InetSocketAddress inet ? inet.getHostString() : "";
    }

    @Override
    public int port() {
      return address() instanceof InetSocketAddress inet ? inet.getPort() : 0;
    }

    @Override
    public Optional<Principal> tlsPrincipal() {
      return Optional.empty();
    }

    @Override
    public Optional<Certificate[]> tlsCertificates() {
      return Optional.empty();
    }
  }

  /** Writes to the connection, and notes each time that something went out. */
  private static final class Writer implements DataWriter {
    private final Connection connection;
    private final OutputStream target;

    Writer(Connection connection) throws SocketException, IOException {
      this.connection = connection;
      this.target = connection.channel().socket().getOutputStream();
    }

    @Override
    public void write(BufferData... buffers) {
      Arrays.stream(buffers).forEach(this::write);
    }

    @Override
    public void write(BufferData buffer) {
      connection.heard();
      buffer.writeTo(target);
      connection.heard();
    }

    @Override
    public void writeNow(BufferData... buffers) {
      write(buffers);
    }

    @Override
    public void writeNow(BufferData buffer) {
      write(buffer);
    }
  }
}
