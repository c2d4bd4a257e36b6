package io.millrace.http.websocket;

import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * What can be sent on a connection. No method blocks or fails: what cannot be sent any more shows
 * in {@link WebSocketListener#closed}. What is sent arrives in the order of the calls. Safe for use
 * by any thread.
 */
public interface WebSocket {
  /** A peer that leaves so many messages untaken is disconnected: 4,096. */
  int MOST_QUEUED = 4_096;

  /** Sends a text message. */
  void text(String text);

  /**
   * Sends a binary message, in fragments of at most 256 KiB. If its content cannot be read, the
   * connection is closed with 1011; if there is none any more, nothing is sent.
   *
   * @param before a text message that goes directly before it; null for none
   * @param size how many bytes it has
   * @param content opened, read and closed when its turn comes, on another thread
   */
  void binary(@Nullable String before, long size, Content content);

  /** Sends a ping. */
  void ping();

  /**
   * Closes the connection: after what was sent before, but not after the rest of a binary message
   * under way. Nothing that comes is passed on any more. A peer that does not agree within five
   * seconds is cut off. Closing again does nothing.
   *
   * @param code a close code that may be sent, from 1000 to 4999
   * @param reason for people; cut to 123 bytes of UTF-8
   */
  void close(int code, String reason);

  /** Opens the content of a message. */
  @FunctionalInterface
  interface Content {
    /** The bytes, to be closed; null leaves the message out, and what goes before it. */
    @Nullable InputStream open() throws IOException;
  }
}
