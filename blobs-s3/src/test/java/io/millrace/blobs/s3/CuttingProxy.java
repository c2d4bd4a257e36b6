package io.millrace.blobs.s3;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.concurrent.atomic.AtomicLong;

/** A TCP proxy to a server, which cuts a connection in the middle of an answer. */
final class CuttingProxy implements AutoCloseable {
  private final ServerSocket listener;
  private final int port;
  private final AtomicLong left = new AtomicLong(Long.MAX_VALUE);
  private final AtomicLong cuts = new AtomicLong();

  /** To this server, without cuts yet. */
  CuttingProxy(URI server) throws IOException {
    port = server.getPort();
    listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::listen);
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + listener.getLocalPort());
  }

  /** Cuts the connection that gets the byte after so many more from the server. */
  void cutAfter(long bytes) {
    left.set(bytes);
  }

  /** How many connections it has cut. */
  long cuts() {
    return cuts.get();
  }

  private void listen() {
    try {
      while (true) {
        Socket near = listener.accept();
        // So that the proxy is not far ahead of who reads.
        near.setSendBufferSize(16 << 10);
        Socket far = new Socket(InetAddress.getLoopbackAddress(), port);
        Thread.ofVirtual().start(() -> pass(near, far, false));
        Thread.ofVirtual().start(() -> pass(far, near, true));
      }
    } catch (IOException _) {
      // Closed.
    }
  }

  private void pass(Socket from, Socket to, boolean answers) {
    try (from;
        to;
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      byte[] buffer = new byte[8192];
      int count;
      while ((count = in.read(buffer)) >= 0) {
        if (answers && left.addAndGet(-count) < 0) {
          left.set(Long.MAX_VALUE);
          cuts.incrementAndGet();
          return;
        }
        out.write(buffer, 0, count);
      }
    } catch (IOException _) {
      // The other direction was cut.
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
