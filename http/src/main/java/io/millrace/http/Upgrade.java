package io.millrace.http;

import io.millrace.http.message.Head;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.http.transport.Transport;
import io.millrace.http.websocket.WebSocketConnection;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The switch of a connection to WebSocket (RFC 6455, section 4). */
final class Upgrade {
  private static final Logger LOG = LoggerFactory.getLogger(Upgrade.class);
  private static final String SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  private static final int KEY_BYTES = 16;

  private Upgrade() {}

  /**
   * The headers of the response to a handshake.
   *
   * @throws HttpProblem 426 if the request does not ask for WebSocket 13, 400 if its key is
   *     malformed
   */
  static Map<String, String> handshake(Head head) {
    if (!head.hasToken("Upgrade", "websocket") || !head.hasToken("Connection", "upgrade")) {
      throw new HttpProblem(426, "this path requires an upgrade to WebSocket")
          .withHeader("Upgrade", "websocket")
          .withHeader("Connection", "Upgrade");
    }
    if (!head.hasToken("Sec-WebSocket-Version", "13")) {
      throw new HttpProblem(426, "only version 13 of WebSocket is supported")
          .withHeader("Sec-WebSocket-Version", "13")
          .withHeader("Upgrade", "websocket")
          .withHeader("Connection", "Upgrade");
    }
    return Map.of(
        "Upgrade",
        "websocket",
        "Connection",
        "Upgrade",
        "Sec-WebSocket-Accept",
        accept(key(head.first("Sec-WebSocket-Key"))));
  }

  private static String key(@Nullable String key) {
    if (key != null) {
      try {
        if (Base64.getDecoder().decode(key).length == KEY_BYTES) {
          return key;
        }
      } catch (IllegalArgumentException _) {
        // Reported below.
      }
    }
    throw HttpProblem.malformed("the header Sec-WebSocket-Key must be 16 bytes in base64");
  }

  private static String accept(String key) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-1")
              .digest((key + SUFFIX).getBytes(StandardCharsets.ISO_8859_1));
      return Base64.getEncoder().encodeToString(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Writes the response that switches the connection, runs the WebSocket, and returns when the
   * connection is closed, which ends the request that was begun.
   *
   * @param pending the bytes received after the request
   * @param validity when the credentials of the request end, the connection is closed with 1008
   */
  static void run(
      Connection connection,
      byte[] pending,
      InFlight inFlight,
      Caller.Validity validity,
      Response.Upgraded upgraded) {
    inFlight.upgrade();
    try {
      Transport transport = connection.transport();
      if (!write(transport, upgraded)) {
        upgraded.opener().abandon();
        return;
      }
      WebSocketConnection socket =
          new WebSocketConnection(
              transport, pending, upgraded.limits(), connection.memory(), upgraded.opener()::open);
      try (PendingWait _ =
          PendingWait.untilStop(inFlight, () -> socket.goAway("the server is stopping"))) {
        Runnable atEnd =
            validity.onEnd(() -> socket.revoke("the credentials were revoked or have expired"));
        try {
          socket.run();
        } finally {
          atEnd.run();
        }
      }
    } finally {
      inFlight.leaveUpgraded();
    }
  }

  /** Writes the response. Returns false if the connection has failed. */
  private static boolean write(Transport transport, Response.Upgraded upgraded) {
    StringBuilder head = new StringBuilder("HTTP/1.1 101 Switching Protocols\r\n");
    upgraded
        .headers()
        .forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    ByteBuffer bytes =
        ByteBuffer.wrap(head.append("\r\n").toString().getBytes(StandardCharsets.US_ASCII));
    try {
      transport.send(bytes);
      return true;
    } catch (IOException e) {
      LOG.trace("a connection failed during its handshake", e);
      return false;
    }
  }
}
