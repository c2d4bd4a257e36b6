package io.millrace.client;

import io.millrace.client.ConnectionPool.Call;
import io.millrace.client.HttpTransport.Answer;
import io.millrace.client.HttpTransport.Effect;
import io.millrace.client.HttpTransport.Request;
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
 * Calls of the JSON APIs of a server. Thread-safe; each concurrent call uses a pooled connection of
 * its own.
 *
 * <p>Paths are relative to the server's address and percent-encoded.
 *
 * <p>Every method throws {@link UnreachableException} if the server cannot be reached and nothing
 * changed, {@link RejectedException} with the server's message if it rejects the call, {@link
 * StoreClosedException} if it is stopping or not ready, and {@link OutcomeUnknownException} if the
 * answer to a change was lost.
 */
public final class JsonCalls implements AutoCloseable {
  /** What a problem of RFC 9457 says beside its detail. */
  private static final Set<String> PROBLEM_FIELDS = Set.of("type", "title", "status", "instance");

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

  /** The additional answer time for an upload, which the server stores first. */
  private static final Duration UPLOAD_PATIENCE = Duration.ofMinutes(10);

  private final HttpTransport server;
  private final URI address;

  private JsonCalls(ClientOptions options, Map<String, String> headers) {
    server = new HttpTransport(options, headers);
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

  /** Calls of the server that the options name. Connects on first use. */
  public static JsonCalls open(ClientOptions options) {
    return open(options, Map.of());
  }

  /**
   * The same, with these headers in each call.
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

  /** The server's address. */
  public URI server() {
    return address;
  }

  /** Gets the value at a path; retried while the options allow. */
  public JsonNode get(String path) {
    return call("GET", path, null, Effect.READ, Duration.ZERO);
  }

  /**
   * Posts a query, which changes nothing; retried while the options allow.
   *
   * @param question the body
   * @param wait how long the server may wait before it answers
   */
  public JsonNode ask(String path, JsonNode question, Duration wait) {
    return call("POST", path, JSON.writeValueAsBytes(question), Effect.READ, wait);
  }

  /**
   * Posts a change that must take effect once; not retried after it was sent.
   *
   * @param content JSON, not copied
   */
  public JsonNode post(String path, byte[] content) {
    return call("POST", path, content, Effect.AGAIN, Duration.ZERO);
  }

  /** {@link #post(String, byte[])} of a value. */
  public JsonNode post(String path, JsonNode content) {
    return post(path, JSON.writeValueAsBytes(content));
  }

  /** Puts a value at a path, which is idempotent; retried while the options allow. */
  public JsonNode put(String path, JsonNode content) {
    return call("PUT", path, JSON.writeValueAsBytes(content), Effect.ONCE, Duration.ZERO);
  }

  /**
   * Changes a part of the value at a path, which must be idempotent; retried while the options
   * allow.
   */
  public JsonNode patch(String path, JsonNode content) {
    return call("PATCH", path, JSON.writeValueAsBytes(content), Effect.ONCE, Duration.ZERO);
  }

  /** Deletes the value at a path. */
  public JsonNode delete(String path) {
    return call("DELETE", path, null, Effect.AGAIN, Duration.ZERO);
  }

  private JsonNode call(
      String method, String path, byte @Nullable [] json, Effect effect, Duration wait) {
    int answerMillis = server.answerMillis(wait);
    Request request =
        json == null
            ? Request.of(method, path, answerMillis)
            : Request.of(method, path, json, answerMillis);
    return answer(server.send(request, effect, new Call()));
  }

  /**
   * Posts a body that is read while it is sent. A body that does not arrive completely has no
   * effect. Not retried.
   *
   * @throws IOException if the body cannot be read
   */
  public JsonNode upload(String path, Upload upload) throws IOException {
    UploadBody content = new UploadBody(upload.contentType(), upload.content(), upload.length());
    try {
      return answer(
          server
              .open(Request.of("POST", path, content, server.answerMillis(UPLOAD_PATIENCE)))
              .whole());
    } catch (NotSentException e) {
      throw new UnreachableException("no answer from " + server + ": " + e.getMessage(), e);
    } catch (IOException e) {
      if (content.failure() != null) {
        throw content.failure();
      }
      String message = "the connection to " + server + " broke ";
      if (content.hasEnded()) {
        throw new OutcomeUnknownException(message + "before the answer came: " + e, e);
      }
      throw new UnreachableException(message + "before all was sent: " + e, e);
    }
  }

  /**
   * The bytes at a path, read while they arrive; not retried.
   *
   * @param silence the longest wait for bytes, after which reading fails
   * @return the bytes; closing the stream before its end cuts the connection
   */
  public InputStream stream(String path, Duration silence) {
    return opened(millis -> server.open(Request.of("GET", path, millis)), silence);
  }

  /**
   * The events at a path; not retried.
   *
   * @param silence the longest wait for an event or a comment, after which reading fails
   */
  public EventStream events(String path, Duration silence) {
    return new EventStream(opened(millis -> server.events(path, millis), silence));
  }

  @FunctionalInterface
  private interface Opening {
    HttpTransport.Streamed open(int answerMillis) throws IOException;
  }

  private InputStream opened(Opening opening, Duration silence) {
    try {
      HttpTransport.Streamed stream =
          opening.open(Math.clamp(silence.toMillis(), 1, Integer.MAX_VALUE));
      if (stream.status() == 200) {
        return stream;
      }
      throw failed(stream.whole());
    } catch (IOException e) {
      throw new UnreachableException("no answer from " + server + ": " + e.getMessage(), e);
    }
  }

  private JsonNode answer(Answer answer) {
    if (answer.status() >= 300) {
      throw failed(answer);
    }
    JsonNode json = parse(answer);
    if (json == null) {
      throw new OutcomeUnknownException("the answer of " + server + " is not JSON");
    }
    return json;
  }

  private static @Nullable JsonNode parse(Answer answer) {
    try {
      JsonNode json = JSON.readTree(answer.body());
      return json.isMissingNode() ? null : json;
    } catch (JacksonException _) {
      return null;
    }
  }

  private StoreException failed(Answer answer) {
    String error = error(answer);
    return switch (answer.status()) {
      case 400, 404, 409, 410, 412 -> new RejectedException(answer.status(), error);
      default -> server.rejected(answer.status(), error);
    };
  }

  /** The message of the server, with the fields that it names. */
  private static String error(Answer answer) {
    StringBuilder error = new StringBuilder(answer.error());
    JsonNode json = parse(answer);
    if (json != null && json.isObject()) {
      for (Map.Entry<String, JsonNode> field : json.properties()) {
        boolean told =
            field.getKey().startsWith("error")
                || (json.has("detail") && PROBLEM_FIELDS.contains(field.getKey()))
                || field.getValue().asString("").equals(answer.error());
        if (!told && field.getValue().isValueNode()) {
          error.append(" (").append(field.getKey()).append(": ");
          error.append(field.getValue().asString()).append(')');
        }
      }
    }
    return error.toString();
  }

  /** Cuts all connections; running calls fail. */
  @Override
  public void close() {
    server.close();
  }
}
