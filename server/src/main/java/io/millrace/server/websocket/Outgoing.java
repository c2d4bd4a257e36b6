package io.millrace.server.websocket;

import org.jspecify.annotations.Nullable;

/** What waits to be sent. */
sealed interface Outgoing {
  /** A text message. */
  record Text(String text) implements Outgoing {}

  /**
   * A binary message.
   *
   * @param before a text message directly before it; null for none
   * @param size in bytes
   * @param content its bytes
   */
  record Binary(@Nullable String before, long size, WebSocket.Content content)
      implements Outgoing {}

  /** A ping without content. */
  record Ping() implements Outgoing {}

  /** The answer to a ping. */
  final class Pong implements Outgoing {
    private final byte[] content;

    Pong(byte[] content) {
      this.content = content;
    }

    byte[] content() {
      return content;
    }
  }

  /**
   * The last frame.
   *
   * @param code 1005 for none
   * @param reason for people
   */
  record Close(int code, String reason) implements Outgoing {}
}
