package io.millrace.server.http;

import io.millrace.server.websocket.WebSocketConnection;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes a connection out of HTTP for the rest of its life. */
final class Upgrade {
  private static final Logger LOG = LoggerFactory.getLogger(Upgrade.class);

  private Upgrade() {}

  /** Answers with the switch, and returns when the connection is over. */
  static void run(RequestThread thread, InFlight inFlight, Reply.Upgraded upgraded) {
    if (!inFlight.enterLasting()) {
      return;
    }
    try {
      SocketChannel channel = thread.connection().channel();
      WebSocketConnection socket =
          WebSocketConnection.on(
              channel, thread.switched(), upgraded.limits(), thread.connection().memory());
      write(channel, upgraded);
      try (Watch _ = Watch.untilStop(inFlight, () -> socket.leave("the server is stopping"))) {
        socket.run(upgraded.opener());
      }
    } catch (IOException e) {
      LOG.trace("a connection ended within its switch", e);
    } finally {
      inFlight.leaveLasting();
    }
  }

  private static void write(SocketChannel channel, Reply.Upgraded upgraded) throws IOException {
    StringBuilder head = new StringBuilder("HTTP/1.1 101 Switching Protocols\r\n");
    upgraded
        .headers()
        .forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    ByteBuffer bytes =
        ByteBuffer.wrap(head.append("\r\n").toString().getBytes(StandardCharsets.US_ASCII));
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }
}
