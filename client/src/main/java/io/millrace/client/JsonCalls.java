package io.millrace.client;

import io.millrace.client.Exchanges.Effect;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Calls of a server's JSON interfaces. Safe for use by any number of threads; each call has a
 * connection of its own, which is used again.
 *
 * <p>Every method throws {@link UnreachableException} where the server cannot be reached and
 * nothing changed, {@link RejectedException} with the server's own words where it does not take the
 * call, {@link StoreClosedException} where it does not serve, and {@link OutcomeUnknownException}
 * where it may have done something and its answer did not come.
 */
public final class JsonCalls implements AutoCloseable {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

  /** How much longer a server may take with something long: it stores that first. */
  private static final Duration UPLOAD_PATIENCE = Duration.ofMinutes(10);

  private final Server server;
  private final Connections connections;
  private final Exchanges exchanges;
  private final ClientOptions options;

  private JsonCalls(ClientOptions options, Map<String, String> headers) {
    this.options = options;
    server = new Server(options, headers);
    connections = new Connections(server::connect);
    exchanges = new Exchanges(server, connections, options.timeouts().retry().toNanos());
  }

  /** Calls of the server that the options name. Connects when first used. */
  public static JsonCalls open(ClientOptions options) {
    return open(options, Map.of());
  }

  /**
   * Calls of the server that the options name, each with these headers.
   *
   * @throws IllegalArgumentException when a header cannot be sent as it is
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

  /** A name as one part of a path, percent-encoded. */
  public static String part(String name) {
    return Paths.encode(name);
  }

  /** The server's address. */
  public URI server() {
    return options.server();
  }

  /**
   * What is at a path; tried again while the options allow.
   *
   * @param path what follows the server's address, percent-encoded
   */
  public JsonNode get(String path) {
    return answer(exchanges.send(Request.get(path, patience(Duration.ZERO)), Effect.READ, call()));
  }

  /**
   * Posts a question, which changes nothing; tried again while the options allow.
   *
   * @param path what follows the server's address, percent-encoded
   * @param question what to send
   * @param wait how long the server was asked to wait with its answer
   */
  public JsonNode ask(String path, JsonNode question, Duration wait) {
    Request request = Request.post(path, JSON.writeValueAsBytes(question), patience(wait));
    return answer(exchanges.send(request, Effect.READ, call()));
  }

  /**
   * Posts something that the server is to do once.
   *
   * @param path what follows the server's address, percent-encoded
   * @param content JSON, not copied
   */
  public JsonNode post(String path, byte[] content) {
    Request request = Request.post(path, content, patience(Duration.ZERO));
    return answer(exchanges.send(request, Effect.AGAIN, call()));
  }

  /** {@link #post(String, byte[])} of a value. */
  public JsonNode post(String path, JsonNode content) {
    return post(path, JSON.writeValueAsBytes(content));
  }

  /**
   * Puts something at a path, which comes to the same when it is done twice; tried again while the
   * options allow.
   *
   * @param path what follows the server's address, percent-encoded
   */
  public JsonNode put(String path, JsonNode content) {
    Request request = Request.put(path, JSON.writeValueAsBytes(content), patience(Duration.ZERO));
    return answer(exchanges.send(request, Effect.ONCE, call()));
  }

  /**
   * Changes a part of what is at a path, which comes to the same when it is done twice; tried again
   * while the options allow.
   *
   * @param path what follows the server's address, percent-encoded
   */
  public JsonNode patch(String path, JsonNode content) {
    Request request = Request.patch(path, JSON.writeValueAsBytes(content), patience(Duration.ZERO));
    return answer(exchanges.send(request, Effect.ONCE, call()));
  }

  /**
   * Deletes what is at a path.
   *
   * @param path what follows the server's address, percent-encoded
   */
  public JsonNode delete(String path) {
    return answer(
        exchanges.send(Request.delete(path, patience(Duration.ZERO)), Effect.AGAIN, call()));
  }

  /**
   * Posts something long, which is read while it is sent, and which the server is to take once; a
   * body that does not arrive whole does nothing. Tried once.
   *
   * @param path what follows the server's address, percent-encoded
   * @throws IOException when the body cannot be read
   */
  public JsonNode upload(String path, Upload upload) throws IOException {
    Connection connection;
    try {
      connection = server.connect();
    } catch (NotSentException e) {
      throw new UnreachableException("no answer from " + server + ": " + e.getMessage(), e);
    }
    Sent sent = new Sent(upload);
    try {
      int millis = patience(UPLOAD_PATIENCE);
      return answer(
          connection.upload(path, new Upload(upload.contentType(), upload.length(), sent), millis));
    } catch (IOException e) {
      if (sent.failure != null) {
        throw sent.failure;
      }
      String message = "the connection to " + server + " broke ";
      if (sent.ended) {
        throw new OutcomeUnknownException(message + "before the answer came: " + e, e);
      }
      throw new UnreachableException(message + "before all was sent: " + e, e);
    } finally {
      connection.cut();
    }
  }

  /** A body on its way, which knows how far it came. */
  private static final class Sent extends FilterInputStream {
    private final long length;
    private long taken;
    private boolean ended;
    private @Nullable IOException failure;

    Sent(Upload upload) {
      super(upload.content());
      length = upload.length();
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int count) throws IOException {
      try {
        int read = super.read(target, offset, count);
        if (read < 0 && taken < length) {
          throw new EOFException("it ended after " + taken + " of " + length + " bytes");
        }
        taken += Math.max(read, 0);
        ended = read < 0 || taken == length;
        return read;
      } catch (IOException e) {
        failure = e;
        throw e;
      }
    }

    /** It is the caller's to close. */
    @Override
    public void close() {}
  }

  /**
   * The bytes at a path, read while they come; tried once.
   *
   * @param path what follows the server's address, percent-encoded
   * @param silence the longest wait for bytes; after it reading fails
   * @return the bytes; closing cuts the connection
   */
  public InputStream stream(String path, Duration silence) {
    try {
      Connection connection = server.connect();
      try {
        int millis = Math.clamp(silence.toMillis(), 1, Integer.MAX_VALUE);
        return new Streamed(connection.stream(Request.get(path, millis), null), connection);
      } catch (Connection.Refusal refusal) {
        connection.cut();
        throw failed(refusal.answer());
      } catch (IOException e) {
        connection.cut();
        throw e;
      }
    } catch (IOException e) {
      throw new UnreachableException("no answer from " + server + ": " + e.getMessage(), e);
    }
  }

  /**
   * The events that a server sends from a path; tried once.
   *
   * @param path what follows the server's address, percent-encoded
   * @param silence the longest wait for a sign of life; after it reading fails
   */
  public EventStream events(String path, Duration silence) {
    try {
      Connection connection = server.connect();
      try {
        int millis = Math.clamp(silence.toMillis(), 1, Integer.MAX_VALUE);
        InputStream in = connection.stream(Request.get(path, millis), "text/event-stream");
        return new EventStream(connection, new Events(in));
      } catch (Connection.Refusal refusal) {
        connection.cut();
        throw failed(refusal.answer());
      } catch (IOException e) {
        connection.cut();
        throw e;
      }
    } catch (IOException e) {
      throw new UnreachableException("no answer from " + server + ": " + e.getMessage(), e);
    }
  }

  private static final class Streamed extends FilterInputStream {
    private final Connection connection;

    Streamed(InputStream in, Connection connection) {
      super(in);
      this.connection = connection;
    }

    @Override
    public void close() {
      // Closing the stream itself would first read all that is still to come.
      connection.cut();
    }
  }

  private static Connections.Call call() {
    return new Connections.Call();
  }

  private int patience(Duration more) {
    return Math.clamp(options.timeouts().answer().plus(more).toMillis(), 1, Integer.MAX_VALUE);
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
      case 503 -> new StoreClosedException(server + " cannot serve this now: " + error);
      case 401 -> new RejectedException(401, server + " wants other credentials: " + error);
      case 403 -> new RejectedException(403, server + " does not allow this: " + error);
      case 413 -> new RejectedException(413, "too large for " + server + ": " + error);
      case 400, 404, 409, 410, 412 -> new RejectedException(answer.status(), error);
      default ->
          new RejectedException(
              answer.status(), server + " answers with status " + answer.status() + ": " + error);
    };
  }

  /** The server's words, with the fields that it says are at fault. */
  private static String error(Answer answer) {
    StringBuilder error = new StringBuilder(answer.error());
    JsonNode json = parse(answer);
    if (json != null && json.isObject()) {
      for (Map.Entry<String, JsonNode> field : json.properties()) {
        boolean told =
            field.getKey().startsWith("error")
                || field.getValue().asString("").equals(answer.error());
        if (!told && field.getValue().isValueNode()) {
          error.append(" (").append(field.getKey()).append(": ");
          error.append(field.getValue().asString()).append(')');
        }
      }
    }
    return error.toString();
  }

  /** Cuts all connections; calls under way fail. */
  @Override
  public void close() {
    connections.close();
  }
}
