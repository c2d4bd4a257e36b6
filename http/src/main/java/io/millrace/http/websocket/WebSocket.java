package io.millrace.http.websocket;

import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * What can be sent on a connection. No method blocks or fails: what cannot be sent any more shows
 * in {@link Listener#closed}. What is sent arrives in the order of the calls. Safe for use by any
 * thread.
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

  /**
   * What a peer may send; more is answered by closing with 1009.
   *
   * @param frameBytes the longest frame
   * @param textBytes the longest text message
   * @param messageBytes the longest binary message, of however many frames
   */
  record Limits(long frameBytes, int textBytes, long messageBytes) {}

  /**
   * Hears what a peer sends. Called by one thread, the connection's; while it works nothing is
   * read.
   */
  interface Listener {
    /** A text message. */
    void text(String text);

    /**
     * A binary message while it comes. What is left of it unread is skipped.
     *
     * @param message blocks for the peer; fails when the connection does, or the message breaks a
     *     rule
     * @throws IOException when {@code message} does; otherwise the connection is closed with 1011
     */
    void binary(InputStream message) throws IOException;

    /**
     * The peer is there: it has sent a ping, a pong, or a further part of a message, of which not
     * every one is told. May be called within {@link #binary}, while it reads.
     */
    void alive();

    /**
     * The most bytes that a text message may have now, besides the limits of the connection; for
     * peers that are not trusted yet.
     */
    default long textLimit() {
      return Long.MAX_VALUE;
    }

    /**
     * The connection is over: called once, and nothing after it.
     *
     * @param code the close code of whichever side closed first; 1001 when this server stops, 1005
     *     when the peer named none, 1006 when the connection broke without a close
     * @param reason why this side closed; empty when it did not
     */
    void closed(int code, String reason);
  }
}
