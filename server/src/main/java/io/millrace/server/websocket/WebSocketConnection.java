package io.millrace.server.websocket;

import java.nio.channels.SocketChannel;
import java.util.function.Function;

/** A connection that has been switched to WebSocket. */
public final class WebSocketConnection {
  private final FrameReader frames;
  private final WebSocketLimits limits;
  private final Memory memory;
  private final Outbound out;

  private WebSocketConnection(
      FrameReader frames, WebSocketLimits limits, Memory memory, Outbound out) {
    this.frames = frames;
    this.limits = limits;
    this.memory = memory;
    this.out = out;
  }

  /** A budget for texts, which are kept until they have been passed on. */
  public interface Memory {
    /**
     * Reserves more bytes for a text.
     *
     * @param total how many it then has
     * @return false if there is no room, so that nothing is reserved
     */
    boolean reserve(long bytes, long total);

    /** Gives bytes back. */
    void release(long bytes);
  }

  /**
   * Of a connected channel.
   *
   * @param channel in blocking mode
   * @param pending what was read of it already and belongs to the first frames
   * @param memory for texts; one for which it has no room is answered by closing with 1013
   */
  public static WebSocketConnection on(
      SocketChannel channel, byte[] pending, WebSocketLimits limits, Memory memory) {
    return new WebSocketConnection(
        new FrameReader(pending, channel), limits, memory, new Outbound(channel));
  }

  /** Has {@code opener} speak with the peer until the connection is over. Called once. */
  public void run(Function<WebSocket, WebSocketListener> opener) {
    new Conversation(frames, limits, memory, out, opener.apply(out)).run();
  }

  /**
   * Asks the peer to go, with 1001. What it sends until it agrees is still heard; after five
   * seconds it is cut off. Safe for use by any thread.
   */
  public void leave(String reason) {
    out.end(CloseCode.GOING_AWAY, reason);
  }
}
