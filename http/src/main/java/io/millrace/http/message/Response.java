package io.millrace.http.message;

import io.millrace.http.websocket.WebSocket;
import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The response to a request. Immutable. */
public sealed interface Response {
  /** The content type of JSON. */
  String JSON = "application/json";

  /** The content type of plain text. */
  String TEXT = "text/plain; charset=utf-8";

  /** The content type of any bytes. */
  String BYTES = "application/octet-stream";

  /** The content type of server-sent events. */
  String EVENTS = "text/event-stream";

  /** The status: 200 to 599, or 101. */
  int status();

  /** The content type; null for a response without a body. */
  @Nullable String type();

  /** Further headers. */
  Map<String, String> headers();

  /** A response with a complete body in memory. */
  final class Whole implements Response {
    private final int status;
    private final @Nullable String type;
    private final Map<String, String> headers;
    private final byte[] body;

    /**
     * A response.
     *
     * @param status the status
     * @param type the content type; null for a response without a body
     * @param headers further headers
     * @param body the body; it is not copied and must not be changed afterwards
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
   * A response whose body is streamed.
   *
   * @param status the status
   * @param type the content type
   * @param headers further headers
   * @param lengthBytes the exact length of the body, or -1 if it is unknown
   * @param body writes the body; only closed if the request was HEAD
   */
  record Streamed(int status, String type, Map<String, String> headers, long lengthBytes, Body body)
      implements Response {}

  /**
   * The switch to WebSocket, made by {@code Request.webSocket}.
   *
   * @param headers the headers of the handshake
   * @param limits the limits of the client's messages
   * @param opener opens the WebSocket
   */
  record Upgraded(Map<String, String> headers, WebSocket.Limits limits, SocketOpener opener)
      implements Response {
    @Override
    public int status() {
      return 101;
    }

    @Override
    public @Nullable String type() {
      return null;
    }
  }

  /** Opens a WebSocket. */
  @FunctionalInterface
  interface SocketOpener {
    /** Starts using the WebSocket for sending; the result gets the client's messages. */
    WebSocket.Listener open(WebSocket socket);

    /** Releases resources; called instead of {@link #open} if the connection ends before that. */
    default void abandon() {}
  }

  /** Writes the body of a response. */
  @FunctionalInterface
  interface Body {
    /** Writes the complete body. {@code target} is buffered, and must not be closed. */
    void writeTo(OutputStream target) throws IOException, InterruptedException;

    /**
     * Releases resources, for example a subscription. Called once in all cases, even if the
     * response was not written.
     */
    default void close() {}
  }

  /** The same response with more headers. */
  static Response withHeaders(Response response, Map<String, String> more) {
    Map<String, String> headers = new LinkedHashMap<>(response.headers());
    headers.putAll(more);
    return switch (response) {
      case Whole whole -> new Whole(whole.status, whole.type, headers, whole.body);
      case Streamed(int status, String type, var _, long lengthBytes, Body body) ->
          new Streamed(status, type, headers, lengthBytes, body);
      case Upgraded upgraded -> upgraded;
    };
  }

  /** A response with status 200 and JSON. */
  static Whole json(byte[] body) {
    return new Whole(200, JSON, Map.of(), body);
  }

  /** A response with JSON. */
  static Whole json(int status, byte[] body) {
    return new Whole(status, JSON, Map.of(), body);
  }

  /** A response with status 204 and no body. */
  static Response nothing() {
    return new Whole(204, null, Map.of(), new byte[0]);
  }

  /** A response with status 200 and a body of unknown length. */
  static Response streamed(String type, Body body) {
    return new Streamed(200, type, Map.of(), -1, body);
  }
}
