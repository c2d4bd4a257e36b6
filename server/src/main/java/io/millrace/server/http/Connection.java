package io.millrace.server.http;

import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.common.socket.PeerInfo;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.ProxyProtocolData;
import io.helidon.webserver.Router;
import java.util.Optional;
import java.util.concurrent.ExecutorService;

/** A client's connection, with a reader that can look ahead and with our dispatcher as router. */
final class Connection implements ConnectionContext {
  private final ConnectionContext accepted;
  private final Router router;
  private final ReadAhead source;
  private final DataReader reader;
  private volatile boolean waiting;
  private volatile long lastWriteNanos = System.nanoTime();

  Connection(ConnectionContext accepted, Router router, HttpLimits limits) {
    this.accepted = accepted;
    this.router = router;
    this.source = new ReadAhead(accepted.serverSocket());
    this.reader = new LimitedReader(source, limits);
  }

  /** Ends {@code watch} when the client closes the connection. */
  void watch(Watch watch) {
    waiting = true;
    source.watch(() -> watch.end(Watch.Cause.CLIENT_GONE));
  }

  /** The request waits no more. */
  void unwatch() {
    source.unwatch();
    waiting = false;
  }

  /** Notes that a part of an answer goes out. */
  void writing() {
    lastWriteNanos = System.nanoTime();
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
    return router;
  }

  @Override
  public ListenerContext listenerContext() {
    return accepted.listenerContext();
  }

  @Override
  public ExecutorService executor() {
    return accepted.executor();
  }

  @Override
  public DataWriter dataWriter() {
    return accepted.dataWriter();
  }

  @Override
  public Optional<ProxyProtocolData> proxyProtocolData() {
    return accepted.proxyProtocolData();
  }

  @Override
  public HelidonSocket serverSocket() {
    return accepted.serverSocket();
  }

  @Override
  public PeerInfo remotePeer() {
    return accepted.remotePeer();
  }

  @Override
  public PeerInfo localPeer() {
    return accepted.localPeer();
  }

  @Override
  public boolean isSecure() {
    return accepted.isSecure();
  }

  @Override
  public String socketId() {
    return accepted.socketId();
  }

  @Override
  public String childSocketId() {
    return accepted.childSocketId();
  }
}
