package io.millrace.server.websocket;

import java.nio.channels.SocketChannel;
import java.util.function.Function;

/** A connection that has been switched to WebSocket. */
public final class WebSocketConnection {
  private final FrameReader frames;
  private final WebSocketLimits limits;
  private final Outbound out;

  private WebSocketConnection(FrameReader frames, WebSocketLimits limits, Outbound out) {
    this.frames = frames;
    this.limits = limits;
    this.out = out;
  }

  /**
   * Of a connected channel.
   *
   * @param channel in blocking mode
   * @param pending what was read of it already and belongs to the first frames
   */
  public static WebSocketConnection on(
      SocketChannel channel, byte[] pending, WebSocketLimits limits) {
    return new WebSocketConnection(
        new FrameReader(pending, channel), limits, new Outbound(channel));
  }

  /** Has {@code opener} speak with the peer until the connection is over. Called once. */
  public void run(Function<WebSocket, WebSocketListener> opener) {
    new Conversation(frames, limits, out, opener.apply(out)).run();
  }

  /**
   * Asks the peer to go, with 1001. What it sends until it agrees is still heard; after five
   * seconds it is cut off. Safe for use by any thread.
   */
  public void leave(String reason) {
    out.end(CloseCode.GOING_AWAY, reason);
  }
}
