package io.millrace.client;

import io.millrace.client.ConnectionPool.Call;
import io.millrace.client.HttpExchange.Request;
import io.millrace.client.HttpExchange.Response;
import io.millrace.client.HttpTransport.Idempotency;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A client for the JSON APIs of a server. Thread-safe: each concurrent call uses a pooled
 * connection of its own.
 *
 * <p>Paths are relative to the server's address and percent-encoded.
 *
 * <p>Every method throws {@link UnreachableException} if the server cannot be reached and nothing
 * changed, {@link RejectedException} with the server's message if it rejects the call, {@link
 * StoreClosedException} if it is stopping or not ready, and {@link OutcomeUnknownException} if the
 * response to a change was lost.
 */
public final class JsonCalls implements AutoCloseable {
  /** The fields of problem details (RFC 9457) that an error message leaves out. */
  private static final Set<String> PROBLEM_FIELDS = Set.of("type", "title", "status", "instance");

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

  /** The additional time for the response to an upload, which the server stores first. */
  private static final Duration UPLOAD_TIMEOUT = Duration.ofMinutes(10);

  private final HttpTransport server;
  private final StaleReads reads;
  private final URI address;

  private JsonCalls(ClientOptions options, Map<String, String> headers) {
    server = new HttpTransport(options, headers);
    reads = new StaleReads(server, options.stale());
    address = options.server();
  }

  /**
   * A body that is read while it is sent.
   *
   * @param contentType its media type
   * @param length its length in bytes; -1 if unknown
   * @param content the bytes, read to the end and not closed
   */
  public record Upload(String contentType, long length, InputStream content) {}

  /** A client of the server that the options name. Connects on first use. */
  public static JsonCalls open(ClientOptions options) {
    return open(options, Map.of());
  }

  /**
   * The same, with these headers in every request.
   *
   * @throws IllegalArgumentException if a header contains anything but printable ASCII without
   *     spaces
   */
  public static JsonCalls open(ClientOptions options, Map<String, String> headers) {
    headers.forEach((name, value) -> {
      if (value.isEmpty() || !value.chars().allMatch(c -> c > ' ' && c < 127)) {
        throw new IllegalArgumentException(
            "the value of " + name + " must be printable ASCII without spaces");
      }
    });
    return new JsonCalls(options, headers);
  }

  /** Encodes a name as one part of a path. */
  public static String part(String name) {
    return HttpTransport.encode(name);
  }

  /** The first address of the server. */
  public URI server() {
    return address;
  }

  /** Gets the value at a path. Retried for the retry time of the options. */
  public JsonNode get(String path) {
    return call("GET", path, null, Idempotency.SAFE, Duration.ZERO);
  }

  /**
   * Gets the value at a path that takes the query parameter {@code stale}: with {@link
   * ClientOptions#stale}, any server answers, and the value may lack what others have changed
   * within that time, and nothing that this object has changed or read before, except from streams.
   * Retried for the retry time of the options.
   */
  public JsonNode read(String path) {
    return value(reads.send(request("GET", path, null, Duration.ZERO)));
  }

  /** {@link #read(String)} of a path that answers a posted query. */
  public JsonNode read(String path, JsonNode question) {
    return value(
        reads.send(request("POST", path, JSON.writeValueAsBytes(question), Duration.ZERO)));
  }

  /**
   * Posts a query, which changes nothing. Retried for the retry time of the options.
   *
   * @param question the body
   * @param wait how long the server may wait before it responds
   */
  public JsonNode ask(String path, JsonNode question, Duration wait) {
    return call("POST", path, JSON.writeValueAsBytes(question), Idempotency.SAFE, wait);
  }

  /**
   * Posts a change that must take effect only once. Not retried after it was sent.
   *
   * @param content JSON, not copied
   */
  public JsonNode post(String path, byte[] content) {
    return call("POST", path, content, Idempotency.NOT_IDEMPOTENT, Duration.ZERO);
  }

  /** {@link #post(String, byte[])} of a value. */
  public JsonNode post(String path, JsonNode content) {
    return post(path, JSON.writeValueAsBytes(content));
  }

  /** Puts a value at a path, which is idempotent. Retried for the retry time of the options. */
  public JsonNode put(String path, JsonNode content) {
    return call(
        "PUT", path, JSON.writeValueAsBytes(content), Idempotency.IDEMPOTENT, Duration.ZERO);
  }

  /**
   * Changes a part of the value at a path. The change must be idempotent: it is retried for the
   * retry time of the options.
   */
  public JsonNode patch(String path, JsonNode content) {
    return call(
        "PATCH", path, JSON.writeValueAsBytes(content), Idempotency.IDEMPOTENT, Duration.ZERO);
  }

  /** Deletes the value at a path. Not retried after the request was sent. */
  public JsonNode delete(String path) {
    return call("DELETE", path, null, Idempotency.NOT_IDEMPOTENT, Duration.ZERO);
  }

  private JsonNode call(
      String method, String path, byte @Nullable [] json, Idempotency idempotency, Duration wait) {
    try {
      return value(server.send(request(method, path, json, wait), idempotency, new Call()));
    } finally {
      reads.sawUnnamed();
    }
  }

  private Request request(String method, String path, byte @Nullable [] json, Duration wait) {
    int responseTimeoutMillis = server.responseTimeoutMillis(wait);
    return json == null
        ? Request.of(method, path, responseTimeoutMillis)
        : Request.of(method, path, json, responseTimeoutMillis);
  }

  /**
   * Posts a body that is read while it is sent. An incomplete body has no effect. Not retried.
   *
   * @throws IOException if the body cannot be read
   */
  public JsonNode upload(String path, Upload upload) throws IOException {
    try {
      return value(uploaded(path, upload));
    } finally {
      reads.sawUnnamed();
    }
  }

  private Response uploaded(String path, Upload upload) throws IOException {
    HttpTransport.Attempts attempts = server.new Attempts();
    UploadBody content = new UploadBody(upload.contentType(), upload.content(), upload.length());
    while (true) {
      try {
        if (!content.isShort()) {
          // The body can be read only once, so whoever takes it is found without it.
          server
              .open(Request.of("HEAD", path, server.responseTimeoutMillis(Duration.ZERO)))
              .close();
        }
        return server
            .open(Request.of("POST", path, content, server.responseTimeoutMillis(UPLOAD_TIMEOUT)))
            .whole();
      } catch (NotSentException e) {
        if (!content.rewind() || !attempts.mayFindLeader()) {
          throw server.unreachable(e);
        }
      } catch (IOException e) {
        if (content.failure() != null) {
          throw content.failure();
        }
        String message = "the connection to " + server + " broke ";
        if (content.hasEnded()) {
          throw new OutcomeUnknownException(message + "before the response arrived: " + e, e);
        }
        throw new UnreachableException(message + "before all was sent: " + e, e);
      }
    }
  }

  /**
   * The bytes at a path, read as they arrive. Not retried, except to find the leader among several
   * servers.
   *
   * @param silence how long the server may send nothing before reading fails
   * @return the bytes; closing the stream before its end cuts the connection
   */
  public InputStream stream(String path, Duration silence) {
    return opened(millis -> server.open(Request.of("GET", path, millis)), silence);
  }

  /**
   * The events at a path. Not retried, except to find the leader among several servers.
   *
   * @param silence how long the server may send nothing, not even a comment, before reading fails
   */
  public EventStream events(String path, Duration silence) {
    return new EventStream(opened(millis -> server.events(path, millis), silence));
  }

  @FunctionalInterface
  private interface Opener {
    HttpExchange.StreamedResponse open(int responseTimeoutMillis) throws IOException;
  }

  private InputStream opened(Opener opener, Duration silence) {
    HttpTransport.Attempts attempts = server.new Attempts();
    while (true) {
      try {
        HttpExchange.StreamedResponse stream =
            opener.open(Math.clamp(silence.toMillis(), 1, Integer.MAX_VALUE));
        if (stream.status() == 200) {
          reads.sawUnnamed();
          return stream;
        }
        Response response = stream.whole();
        if (response.status() != 503 || !attempts.mayFindLeader()) {
          throw failed(response);
        }
      } catch (IOException e) {
        if (!attempts.mayFindLeader()) {
          throw server.unreachable(e);
        }
      }
    }
  }

  private JsonNode value(Response response) {
    if (response.status() >= 300) {
      throw failed(response);
    }
    JsonNode json = parse(response);
    if (json == null) {
      throw new OutcomeUnknownException("the response of " + server + " is not JSON");
    }
    return json;
  }

  private static @Nullable JsonNode parse(Response response) {
    try {
      JsonNode json = JSON.readTree(response.body());
      return json.isMissingNode() ? null : json;
    } catch (JacksonException _) {
      return null;
    }
  }

  private StoreException failed(Response response) {
    String error = error(response);
    return switch (response.status()) {
      case 400, 404, 409, 410, 412 -> new RejectedException(response.status(), error);
      default -> server.rejected(response.status(), error);
    };
  }

  /** The error message of the server, with the other fields of the response. */
  private static String error(Response response) {
    StringBuilder error = new StringBuilder(response.error());
    JsonNode json = parse(response);
    if (json != null && json.isObject()) {
      for (Map.Entry<String, JsonNode> field : json.properties()) {
        boolean known =
            field.getKey().startsWith("error")
                || (json.has("detail") && PROBLEM_FIELDS.contains(field.getKey()))
                || field.getValue().asString("").equals(response.error());
        if (!known && field.getValue().isValueNode()) {
          error.append(" (").append(field.getKey()).append(": ");
          error.append(field.getValue().asString()).append(')');
        }
      }
    }
    return error.toString();
  }

  /** Closes all connections. Running calls fail. */
  @Override
  public void close() {
    server.close();
  }
}
