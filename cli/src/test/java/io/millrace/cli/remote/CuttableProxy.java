package io.millrace.cli.remote;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ServerSocketFactory;
import javax.net.ssl.SSLContext;

/** A TCP proxy to a server that can be cut. */
public final class CuttableProxy implements AutoCloseable {
  private final ServerSocket listener;
  private final int port;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final String scheme;

  /** To this server. */
  public CuttableProxy(URI server) throws IOException {
    this(server, "http", ServerSocketFactory.getDefault());
  }

  private CuttableProxy(URI server, String scheme, ServerSocketFactory sockets) throws IOException {
    this.scheme = scheme;
    port = server.getPort();
    listener = sockets.createServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::listen);
  }

  /** To this server, encrypted as far as here. */
  public static CuttableProxy encrypted(URI server, SSLContext context) throws IOException {
    return new CuttableProxy(server, "https", context.getServerSocketFactory());
  }

  /** Where it listens. */
  public URI address() {
    return URI.create(scheme + "://127.0.0.1:" + listener.getLocalPort());
  }

  private void listen() {
    try {
      while (true) {
        Socket near = listener.accept();
        Socket far = new Socket(InetAddress.getLoopbackAddress(), port);
        sockets.add(near);
        sockets.add(far);
        Thread.ofVirtual().start(() -> pass(near, far));
        Thread.ofVirtual().start(() -> pass(far, near));
      }
    } catch (IOException _) {
      // Closed.
    }
  }

  private void pass(Socket from, Socket to) {
    try (from;
        to;
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      in.transferTo(out);
    } catch (IOException _) {
      // Cut.
    }
  }

  /** Cuts what is connected; later connections hold. */
  public void cut() throws IOException {
    for (Socket socket : List.copyOf(sockets)) {
      socket.close();
      sockets.remove(socket);
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    cut();
  }
}
