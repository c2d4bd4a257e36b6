package io.millrace.http.websocket;

import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * The sending side of a WebSocket. No method blocks or fails: if nothing can be sent any more,
 * {@link Listener#closed} is called. Messages are sent in the order of the calls. Thread-safe.
 */
public interface WebSocket {
  /** If this many messages wait to be sent, the peer is disconnected: 4,096. */
  int MAX_QUEUED = 4_096;

  /** Sends a text message. */
  void text(String text);

  /**
   * Sends a binary message, in fragments of at most 256 KiB. If its content cannot be read, the
   * connection is closed with 1011.
   *
   * @param before a text message to send directly before it; null for none
   * @param size the size of the content in bytes
   * @param content opened, read and closed by another thread when the message is sent
   */
  void binary(@Nullable String before, long size, Content content);

  /** Sends a ping. */
  void ping();

  /**
   * Closes the connection after the messages sent before; only a binary message in progress is left
   * incomplete. Messages of the peer are not passed on any more. A peer that does not answer the
   * close frame within five seconds is disconnected. Closing again does nothing.
   *
   * @param code a close code that may be sent, from 1000 to 4999
   * @param reason the reason, for people; cut to 123 bytes of UTF-8
   */
  void close(int code, String reason);

  /** Opens the content of a message. */
  @FunctionalInterface
  interface Content {
    /** The bytes; null if they do not exist any more, so that neither message is sent. */
    @Nullable InputStream open() throws IOException;
  }

  /**
   * The limits of the peer's messages. If one is exceeded, the connection is closed with 1009.
   *
   * @param frameBytes the longest frame
   * @param textBytes the longest text message
   * @param messageBytes the longest binary message, of any number of frames
   */
  record Limits(long frameBytes, int textBytes, long messageBytes) {}

  /**
   * Receives the peer's messages. Called by the thread of the connection, which reads nothing
   * meanwhile.
   */
  interface Listener {
    /** A text message. */
    void text(String text);

    /**
     * A binary message, from its first frame on. The unread part is skipped.
     *
     * @param message the content; reading waits for the peer, and fails if the connection fails or
     *     the peer violates the protocol or a limit
     * @throws IOException if {@code message} does; for any other failure, the connection is closed
     *     with 1011
     */
    void binary(InputStream message) throws IOException;

    /**
     * The peer is alive: it has sent a ping, a pong or a part of a message. Not called for every
     * part. May be called while {@link #binary} reads.
     */
    void alive();

    /** A further limit of text messages in bytes, for a peer that is not authenticated yet. */
    default long textLimit() {
      return Long.MAX_VALUE;
    }

    /**
     * The connection is closed. Called once, as the last call.
     *
     * @param code the close code of the side that closed first; 1001 if this server is stopping,
     *     1005 if the peer gave none, 1006 if the connection failed without a close
     * @param reason why this side closed; empty if it did not
     */
    void closed(int code, String reason);
  }
}
