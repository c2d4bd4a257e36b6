package io.millrace.server.http;

import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.common.socket.PeerInfo;
import io.helidon.common.socket.PlainSocket;
import io.helidon.common.socket.SocketWriter;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.Router;
import java.nio.channels.SocketChannel;
import java.util.concurrent.ExecutorService;

/** A client's connection, as the library's HTTP implementation wants to see it. */
final class Connection implements ConnectionContext, Watch.Watched {
  private final SocketChannel channel;
  private final Surroundings surroundings;
  private final HelidonSocket socket;
  private final ReadAhead source;
  private final DataReader reader;
  private final DataWriter writer;
  private volatile boolean waiting;
  private volatile long lastWriteNanos = System.nanoTime();

  /**
   * An accepted connection.
   *
   * @param surroundings what all connections share
   * @param loop the thread that serves its plain requests
   */
  Connection(SocketChannel channel, Surroundings surroundings, EventLoop loop) {
    this.channel = channel;
    this.surroundings = surroundings;
    String id = Integer.toHexString(System.identityHashCode(channel));
    this.socket = PlainSocket.server(channel.socket(), id, "http");
    this.source = new ReadAhead(socket, () -> surroundings.line(loop, this).serve());
    this.reader = new LimitedReader(source, surroundings.limits());
    this.writer = SocketWriter.create(socket);
  }

  SocketChannel channel() {
    return channel;
  }

  HttpLimits limits() {
    return surroundings.limits();
  }

  @Override
  public void watch(Watch watch) {
    waiting = true;
    source.watch(() -> watch.end(Watch.Cause.CLIENT_GONE));
  }

  @Override
  public void unwatch() {
    source.unwatch();
    waiting = false;
  }

  /**
   * Notes that HTTP has ended here: from now on others say when it has been silent for too long.
   *
   * @return what has been read beyond it
   */
  byte[] switched() {
    waiting = true;
    int pending = reader.available();
    return pending == 0 ? new byte[0] : reader.readBytes(pending);
  }

  /** Notes that a part of an answer goes out. */
  void writing() {
    lastWriteNanos = System.nanoTime();
  }

  /** Notes that a part of a request has come in. */
  void heard() {
    source.heard();
  }

  /** Notes that the library has read a request to its end, and written all of the answer. */
  void requestEnded() {
    if (reader.available() == 0) {
      source.atRequest();
    }
  }

  /** For how long nothing has been sent or received although nobody waits for an event. */
  long silentNanos() {
    return waiting ? 0 : System.nanoTime() - Math.max(source.lastReadNanos(), lastWriteNanos);
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
    return writer;
  }

  @Override
  public HelidonSocket serverSocket() {
    return socket;
  }

  @Override
  public PeerInfo remotePeer() {
    return socket.remotePeer();
  }

  @Override
  public PeerInfo localPeer() {
    return socket.localPeer();
  }

  @Override
  public boolean isSecure() {
    return false;
  }

  @Override
  public String socketId() {
    return socket.socketId();
  }

  @Override
  public String childSocketId() {
    return socket.childSocketId();
  }
}
