package io.millrace.http;

import io.millrace.http.message.HttpProblem;
import io.millrace.http.transport.ServerCertificate;
import io.millrace.http.transport.TlsTransport;
import io.millrace.http.transport.Transport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Arrays;

/**
 * Begins a connection to a server with a certificate on its own thread: makes the TLS handshake and
 * gives the connection to its event loop. A client that sends something else is refused, unless it
 * runs on this machine.
 */
final class HandshakeThread implements Runnable {
  /** How many bytes are read to see whether the client begins a handshake. */
  private static final int FIRST_BYTES = 4 << 10;

  private final Connection connection;
  private final ServerCertificate certificate;

  HandshakeThread(Connection connection, ServerCertificate certificate) {
    this.connection = connection;
    this.certificate = certificate;
  }

  @Override
  public void run() {
    Transport plain = connection.transport();
    ByteBuffer first = ByteBuffer.allocate(FIRST_BYTES);
    Duration timeout = connection.limits().headTimeout();
    try {
      int count = plain.receive(first, Math.toIntExact(timeout.toMillis()));
      if (count <= 0) {
        connection.failHandshake(null);
      } else if (TlsTransport.isHandshake(first.flip().get(0))) {
        TlsTransport secured = new TlsTransport(plain.channel(), certificate.engine(), first);
        secured.handshake(timeout);
        connection.resumeSecured(secured);
      } else if (isOfThisMachine(plain.channel())) {
        connection.resumeReading(Arrays.copyOf(first.array(), count));
      } else {
        connection.refuseAndClose(
            new HttpProblem(
                400,
                "this port is encrypted: use https, as in https://host:port instead of http://"));
      }
    } catch (IOException | RuntimeException | Error e) {
      connection.failHandshake(e);
    }
  }

  /** Whether the client runs on this machine, so that nobody else can read the connection. */
  private boolean isOfThisMachine(SocketChannel channel) throws IOException {
    InetAddress peer = connection.peer();
    return peer.isLoopbackAddress()
        || peer.equals(((InetSocketAddress) channel.getLocalAddress()).getAddress());
  }
}
