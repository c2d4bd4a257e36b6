package io.millrace.http.websocket;

import java.io.IOException;
import java.io.InputStream;

/**
 * Hears what a peer sends. Called by one thread, the connection's; while it works nothing is read.
 */
public interface WebSocketListener {
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
