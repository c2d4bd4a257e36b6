package io.millrace.server.http;

import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Map;

/** The handshake of WebSocket (RFC 6455, section 4). */
final class Handshake {
  private static final HeaderName KEY = HeaderNames.create("Sec-WebSocket-Key");
  private static final HeaderName VERSION = HeaderNames.create("Sec-WebSocket-Version");
  private static final String SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  private static final int KEY_BYTES = 16;

  private Handshake() {}

  /**
   * The headers of the answer.
   *
   * @throws HttpProblem 426 for a request that does not ask for WebSocket 13, 400 for a broken one
   */
  static Map<String, String> answer(Headers headers) {
    if (!names(headers, HeaderNames.UPGRADE, "websocket")
        || !names(headers, HeaderNames.CONNECTION, "upgrade")) {
      throw new HttpProblem(426, "this path speaks WebSocket: ask for an upgrade to it")
          .withHeader("Upgrade", "websocket")
          .withHeader("Connection", "Upgrade");
    }
    if (!names(headers, VERSION, "13")) {
      throw new HttpProblem(426, "only version 13 of WebSocket is known")
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
        accept(key(headers)));
  }

  private static String key(Headers headers) {
    if (headers.contains(KEY)) {
      String key = headers.get(KEY).get().strip();
      try {
        if (Base64.getDecoder().decode(key).length == KEY_BYTES) {
          return key;
        }
      } catch (IllegalArgumentException _) {
        // Said below.
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

  /** Whether a header that is a list holds this word, in any case. */
  private static boolean names(Headers headers, HeaderName name, String word) {
    if (!headers.contains(name)) {
      return false;
    }
    for (String value : headers.get(name).allValues(true)) {
      if (value.strip().equalsIgnoreCase(word)) {
        return true;
      }
    }
    return false;
  }
}
