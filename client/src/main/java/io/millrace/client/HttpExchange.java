package io.millrace.client;

import io.millrace.client.ConnectionPool.Call;
import io.millrace.client.ResponseReader.ResponseStream;
import io.millrace.store.Position;
import io.millrace.wire.Placement;
import io.millrace.wire.Placement.ShardsDifferException;
import io.millrace.wire.Responses;
import io.millrace.wire.ShardPaths;
import io.millrace.wire.ShardPaths.Destination;
import io.millrace.wire.WireException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * One exchange with a server: a request, and its response as a whole or as it arrives. {@link
 * HttpTransport} chooses the server and repeats it.
 */
final class HttpExchange {
  private HttpExchange() {}

  /** A request. Not a record, because a record compares arrays by identity. */
  static final class Request {
    private final String method;
    private final String path;
    private final Map<String, String> headers;
    private final byte @Nullable [] json;
    private final @Nullable UploadBody upload;
    private final int responseTimeoutMillis;
    private final boolean anywhere;

    /** Its shard, of a store that has shards; null if it is for none. */
    private @Nullable ToIntFunction<Placement> shard;

    private Request(
        String method,
        String path,
        Map<String, String> headers,
        byte @Nullable [] json,
        @Nullable UploadBody upload,
        int responseTimeoutMillis) {
      this(method, path, headers, json, upload, responseTimeoutMillis, false);
    }

    private Request(
        String method,
        String path,
        Map<String, String> headers,
        byte @Nullable [] json,
        @Nullable UploadBody upload,
        int responseTimeoutMillis,
        boolean anywhere) {
      if (!isPrintable(path)) {
        throw new IllegalArgumentException("the path must be percent-encoded: " + path);
      }
      this.method = method;
      this.path = path;
      this.headers = headers;
      this.json = json;
      this.upload = upload;
      this.responseTimeoutMillis = responseTimeoutMillis;
      this.anywhere = anywhere;
    }

    /** Whether a text is printable ASCII without spaces, so that it cannot inject a header. */
    private static boolean isPrintable(String text) {
      for (int i = 0; i < text.length(); i++) {
        if (text.charAt(i) <= ' ' || text.charAt(i) >= 127) {
          return false;
        }
      }
      return true;
    }

    /**
     * A request without a body.
     *
     * @param path the path after the server's address, percent-encoded
     * @param responseTimeoutMillis the longest wait for the response, and then for each part of it
     */
    static Request of(String method, String path, int responseTimeoutMillis) {
      return new Request(method, path, Map.of(), null, null, responseTimeoutMillis);
    }

    /** A request with a body that is read while it is sent. */
    static Request of(String method, String path, UploadBody body, int responseTimeoutMillis) {
      return new Request(method, path, Map.of(), null, body, responseTimeoutMillis);
    }

    /** A request with a JSON body, which is not copied. */
    static Request of(String method, String path, byte[] json, int responseTimeoutMillis) {
      return new Request(method, path, Map.of(), json, null, responseTimeoutMillis);
    }

    /** The same with an additional header. */
    Request with(String name, String value) {
      return new Request(method, path, Map.of(name, value), json, upload, responseTimeoutMillis);
    }

    /**
     * The same read, whose answer may be of some age and has its position.
     *
     * @param after the position that the answer must have; null for none
     * @param anywhere whether any server may be asked, not only the one that leads
     */
    Request stale(Duration bound, @Nullable Position after, boolean anywhere) {
      Request stale =
          new Request(
              method,
              path + (path.contains("?") ? "&" : "?") + "stale=" + bound.toMillis() + "ms",
              after == null ? headers : Map.of(Responses.POSITION_HEADER, after.toString()),
              json,
              upload,
              responseTimeoutMillis,
              anywhere);
      stale.shard = shard;
      return stale;
    }

    /** Sets its shard, of a store that has shards. */
    Request in(ToIntFunction<Placement> its) {
      shard = its;
      return this;
    }

    /** Its shard; empty if it is for none, or for several. */
    OptionalInt shard(Placement placement) {
      if (shard == null) {
        int end = path.indexOf('?');
        return new ShardPaths(placement)
                    .of(
                        method,
                        end < 0 ? path : path.substring(0, end),
                        end < 0 ? null : path.substring(end + 1))
                instanceof Destination.One(int one, String _)
            ? OptionalInt.of(one)
            : OptionalInt.empty();
      }
      try {
        return OptionalInt.of(shard.applyAsInt(placement));
      } catch (ShardsDifferException _) {
        // The server says so.
        return OptionalInt.empty();
      }
    }

    String method() {
      return method;
    }

    String path() {
      return path;
    }

    Map<String, String> headers() {
      return headers;
    }

    byte @Nullable [] json() {
      return json;
    }

    @Nullable UploadBody upload() {
      return upload;
    }

    /** Whether any server may answer it, not only the one that leads. */
    boolean isAnywhere() {
      return anywhere;
    }

    int responseTimeoutMillis() {
      return responseTimeoutMillis;
    }
  }

  /** A complete response. */
  static final class Response {
    private final ResponseStream head;
    private final byte[] body;

    private Response(ResponseStream head, byte[] body) {
      this.head = head;
      this.body = body;
    }

    int status() {
      return head.status();
    }

    /** The value of a header; null if it is missing. */
    @Nullable String header(String name) {
      return head.header(name);
    }

    /** The body, not a copy. */
    byte[] body() {
      return body;
    }

    /** The error message of the server. */
    String error() {
      try {
        return Responses.readError(body);
      } catch (WireException _) {
        String text = new String(body, 0, Math.min(body.length, 200), StandardCharsets.UTF_8);
        if (text.stripLeading().startsWith("<")) {
          return "a page that is not of Millrace, perhaps of a proxy";
        }
        return text.isBlank() ? "no reason given" : text.strip();
      }
    }
  }

  /**
   * A response whose body is read as it arrives. Its connection is reused if the body was read to
   * its end; otherwise closing the response cuts it. For use by one thread; any thread may close
   * it.
   */
  static final class StreamedResponse extends FilterInputStream {
    private final ResponseStream response;
    private final Connection connection;
    private final Call call;
    private final ConnectionPool<Connection> pool;
    private boolean released;

    StreamedResponse(
        ResponseStream response,
        Connection connection,
        Call call,
        ConnectionPool<Connection> pool) {
      super(response);
      this.response = response;
      this.connection = connection;
      this.call = call;
      this.pool = pool;
    }

    int status() {
      return response.status();
    }

    /** The value of a header; null if it is missing. */
    @Nullable String header(String name) {
      return response.header(name);
    }

    /** Reads the rest of the body and closes this response. */
    Response whole() throws IOException {
      try (this) {
        byte[] body = response.rest();
        release(true);
        return new Response(response, body);
      }
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      int count = in.read(target, offset, length);
      if (count < 0) {
        release(true);
      }
      return count;
    }

    @Override
    public void close() {
      // Closing the underlying stream would first read the rest of it.
      release(response.hasEnded());
    }

    private synchronized void release(boolean finished) {
      if (!released) {
        released = true;
        if (finished) {
          connection.finished(response);
        } else {
          connection.cut();
        }
        pool.release(connection, call);
      }
    }
  }
}
