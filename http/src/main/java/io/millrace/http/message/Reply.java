package io.millrace.http.message;

import io.millrace.http.websocket.WebSocket;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The answer to a request. Immutable. */
public sealed interface Reply {
  /** The content type of JSON. */
  String JSON = "application/json";

  /** The content type of plain text. */
  String TEXT = "text/plain; charset=utf-8";

  /** The content type of bytes of no known meaning. */
  String BYTES = "application/octet-stream";

  /** The content type of server-sent events. */
  String EVENTS = "text/event-stream";

  /** The status, 200 to 599, or 101. */
  int status();

  /** The content type; null for an answer without a body. */
  @Nullable String type();

  /** Further headers. */
  Map<String, String> headers();

  /** An answer that is there as a whole: the cheapest. */
  final class Whole implements Reply {
    private final int status;
    private final @Nullable String type;
    private final Map<String, String> headers;
    private final byte[] body;

    /**
     * Of these parts.
     *
     * @param status the status
     * @param type the content type; null for an answer without a body
     * @param headers further headers
     * @param body the body, not copied, not to be changed afterwards
     */
    public Whole(int status, @Nullable String type, Map<String, String> headers, byte[] body) {
      this.status = status;
      this.type = type;
      this.headers = headers;
      this.body = body;
    }

    @Override
    public int status() {
      return status;
    }

    @Override
    public @Nullable String type() {
      return type;
    }

    @Override
    public Map<String, String> headers() {
      return headers;
    }

    /** The body, not a copy. */
    byte[] body() {
      return body;
    }
  }

  /**
   * An answer that is written piece by piece.
   *
   * @param status the status
   * @param type the content type
   * @param headers further headers
   * @param lengthBytes its exact length, or -1 if it is not known yet
   * @param body writes it; not called for HEAD, but closed in any case
   */
  record Streamed(int status, String type, Map<String, String> headers, long lengthBytes, Body body)
      implements Reply {}

  /**
   * The switch to WebSocket, which {@link Request#webSocket} makes.
   *
   * @param headers those of the handshake
   * @param limits what the client may send
   * @param opener begins to speak with it
   */
  record Upgraded(Map<String, String> headers, WebSocket.Limits limits, SocketOpener opener)
      implements Reply {
    @Override
    public int status() {
      return 101;
    }

    @Override
    public @Nullable String type() {
      return null;
    }
  }

  /** Begins to speak over a WebSocket. */
  @FunctionalInterface
  interface SocketOpener {
    /** Begins; the result gets what the client sends. */
    WebSocket.Listener open(WebSocket socket);

    /** Releases what is held; called instead of {@link #open} if the connection ended before. */
    default void abandon() {}
  }

  /** Writes the body of an answer. */
  @FunctionalInterface
  interface Body {
    /** Writes all of it and leaves {@code target} open; its writes are buffered. */
    void writeTo(OutputStream target) throws IOException, InterruptedException;

    /**
     * Releases what the body holds, for example a subscription. Called once, whether the answer was
     * written, broke off, or could not be begun.
     */
    default void close() {}
  }

  /** 200 with JSON. */
  static Whole json(byte[] body) {
    return new Whole(200, JSON, Map.of(), body);
  }

  /** JSON under another status. */
  static Whole json(int status, byte[] body) {
    return new Whole(status, JSON, Map.of(), body);
  }

  /** 204: done, and nothing to say. */
  static Reply nothing() {
    return new Whole(204, null, Map.of(), new byte[0]);
  }

  /** 200 with a body of unknown length. */
  static Reply streamed(String type, Body body) {
    return new Streamed(200, type, Map.of(), -1, body);
  }
}
