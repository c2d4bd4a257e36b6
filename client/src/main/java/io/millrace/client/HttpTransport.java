package io.millrace.client;

import io.millrace.client.ConnectionPool.Call;
import io.millrace.client.ResponseReader.Response;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.wire.Responses;
import io.millrace.wire.WireException;
import io.millrace.work.Backoff;
import java.io.FilterInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to one server over pooled connections, and repeats them if that is safe.
 * Thread-safe.
 */
final class HttpTransport implements AutoCloseable {
  private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

  private final ClientOptions options;
  private final String host;
  private final int port;
  private final String prefix;

  /** The encoded headers of every request. */
  private final byte[] headers;

  private final @Nullable SSLSocketFactory tls;
  private final ResponseDeadlines deadlines = new ResponseDeadlines();
  private final ConnectionPool<Connection> pool = new ConnectionPool<>(this::connect);

  /** With headers for every request. */
  HttpTransport(ClientOptions options, Map<String, String> headers) {
    this.options = options;
    URI address = options.server();
    String named = address.getHost();
    host = named.startsWith("[") ? named.substring(1, named.length() - 1) : named;
    boolean secure = "https".equalsIgnoreCase(address.getScheme());
    tls = secure ? options.tls().getSocketFactory() : null;
    int usual = secure ? 443 : 80;
    port = address.getPort() < 0 ? usual : address.getPort();
    String path = address.getRawPath() == null ? "" : address.getRawPath();
    prefix = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    StringBuilder lines = new StringBuilder("Host: ").append(named);
    if (port != usual) {
      lines.append(':').append(port);
    }
    lines.append("\r\n");
    if (options.token() != null) {
      lines.append("Authorization: Bearer ").append(options.token()).append("\r\n");
    }
    headers.forEach((name, value) -> lines.append(name).append(": ").append(value).append("\r\n"));
    this.headers = lines.toString().getBytes(StandardCharsets.ISO_8859_1);
  }

  /** The effect of a request that arrives twice. */
  enum Effect {
    /** None: the request only reads. */
    READ,
    /** The same as once, for example because of a request id. */
    ONCE,
    /** It is done twice. */
    AGAIN
  }

  /** A request. A class, since an array in a record would not be a value. */
  static final class Request {
    private final String method;
    private final String path;
    private final Map<String, String> headers;
    private final byte @Nullable [] json;
    private final @Nullable UploadBody upload;
    private final int answerMillis;

    private Request(
        String method,
        String path,
        Map<String, String> headers,
        byte @Nullable [] json,
        @Nullable UploadBody upload,
        int answerMillis) {
      if (!isPrintable(path)) {
        throw new IllegalArgumentException("the path must be percent-encoded: " + path);
      }
      this.method = method;
      this.path = path;
      this.headers = headers;
      this.json = json;
      this.upload = upload;
      this.answerMillis = answerMillis;
    }

    /** Whether it is printable ASCII without spaces, so that it cannot end a line of a head. */
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
     * @param answerMillis the longest wait for the answer, and then for each part of it
     */
    static Request of(String method, String path, int answerMillis) {
      return new Request(method, path, Map.of(), null, null, answerMillis);
    }

    /** A request with a body that is read while it is sent. */
    static Request of(String method, String path, UploadBody body, int answerMillis) {
      return new Request(method, path, Map.of(), null, body, answerMillis);
    }

    /** A request with JSON, which is not copied. */
    static Request of(String method, String path, byte[] json, int answerMillis) {
      return new Request(method, path, Map.of(), json, null, answerMillis);
    }

    /** The same with an additional header. */
    Request with(String name, String value) {
      return new Request(method, path, Map.of(name, value), json, upload, answerMillis);
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

    int answerMillis() {
      return answerMillis;
    }
  }

  /** The whole answer to a request. */
  static final class Answer {
    private final Response head;
    private final byte[] body;

    private Answer(Response head, byte[] body) {
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
        return text.isBlank() ? "no reason given" : text.strip();
      }
    }
  }

  /**
   * An answer whose body is read as it arrives. Its connection is reused if the body was read to
   * its end; otherwise closing cuts it. For one thread; any thread may close it.
   */
  final class Streamed extends FilterInputStream {
    private final Response answer;
    private final Connection connection;
    private final Call call;
    private boolean released;

    private Streamed(Response answer, Connection connection, Call call) {
      super(answer);
      this.answer = answer;
      this.connection = connection;
      this.call = call;
    }

    int status() {
      return answer.status();
    }

    /** The value of a header; null if it is missing. */
    @Nullable String header(String name) {
      return answer.header(name);
    }

    /** Reads the rest, and closes it. */
    Answer whole() throws IOException {
      try (this) {
        byte[] body = answer.rest();
        release(true);
        return new Answer(answer, body);
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
      release(false);
    }

    private synchronized void release(boolean finished) {
      if (!released) {
        released = true;
        if (finished) {
          connection.finished(answer);
        } else {
          connection.cut();
        }
        pool.release(connection, call);
      }
    }
  }

  /**
   * Encodes a name as one part of a path or query, percent-encoded in UTF-8, including slashes and
   * dots.
   */
  static String encode(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8)
        .replace("+", "%20")
        .replace("*", "%2A")
        .replace(".", "%2E");
  }

  /** The answer timeout plus {@code more}. */
  int answerMillis(Duration more) {
    return Math.clamp(options.timeouts().answer().plus(more).toMillis(), 1, Integer.MAX_VALUE);
  }

  /**
   * Sends a request, repeats it while that is safe and time allows, and returns the answer.
   *
   * @throws UnreachableException if the server was not reached and nothing changed
   * @throws OutcomeUnknownException if the request may have taken effect
   * @throws StoreClosedException if this is closed
   */
  Answer send(Request request, Effect effect, Call call) {
    long begin = System.nanoTime();
    boolean mayBeDone = false;
    Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
    while (true) {
      IOException failure;
      try {
        Answer answer = open(request, call, false).whole();
        if (answer.status() < 502 || answer.status() == 503) {
          return answer;
        }
        failure = new IOException("status " + answer.status() + ": " + answer.error());
        mayBeDone = true;
      } catch (NotSentException e) {
        failure = e;
      } catch (IOException e) {
        failure = e;
        mayBeDone = true;
      }
      boolean safe =
          (!mayBeDone || effect != Effect.AGAIN)
              && !(failure instanceof NotSentException.Untrusted);
      boolean late = System.nanoTime() - begin >= options.timeouts().retry().toNanos();
      if (!safe || late || call.isGivenUp() || isClosed() || !paused(backoff)) {
        throw failed(failure, mayBeDone && effect != Effect.READ);
      }
    }
  }

  private StoreException failed(IOException failure, boolean mayBeDone) {
    String why = failure.getMessage() == null ? "" : ": " + failure.getMessage();
    if (mayBeDone) {
      String message = "the connection to " + this + " broke before the answer came" + why;
      return new OutcomeUnknownException(message, failure);
    }
    if (isClosed()) {
      return closedException();
    }
    return new UnreachableException("no answer from " + this + why, failure);
  }

  /** Waits before the next attempt; false if interrupted. */
  private static boolean paused(Backoff backoff) {
    try {
      Thread.sleep(backoff.next(ThreadLocalRandom.current()));
      return true;
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Sends a request once and returns its answer as soon as it starts.
   *
   * @throws NotSentException if the server cannot have seen it
   * @throws IOException if it may have seen it, and there was no answer
   */
  Streamed open(Request request) throws IOException {
    return open(request, new Call(), true);
  }

  private Streamed open(Request request, Call call, boolean certain) throws IOException {
    Connection connection = pool.lease(call, certain);
    boolean opened = false;
    try {
      Response answer = connection.send(request, prefix, headers);
      Streamed streamed = new Streamed(answer, connection, call);
      opened = true;
      return streamed;
    } finally {
      if (!opened) {
        pool.release(connection, call);
      }
    }
  }

  /** Sends a request for server-sent events, as {@link #open} does. */
  Streamed events(String path, int answerMillis) throws IOException {
    return open(Request.of("GET", path, answerMillis).with("Accept", "text/event-stream"));
  }

  private Connection connect() throws NotSentException {
    int timeoutMillis = Math.clamp(options.timeouts().connect().toMillis(), 1, Integer.MAX_VALUE);
    try {
      return Connection.open(new InetSocketAddress(host, port), tls, timeoutMillis, deadlines);
    } catch (NotSentException e) {
      throw e;
    } catch (IOException e) {
      throw new NotSentException("cannot reach " + this + ": " + e.getMessage(), e);
    }
  }

  /** The exception for a status that has no special meaning for the request. */
  StoreException rejected(int status, String error) {
    return switch (status) {
      case 503 -> new StoreClosedException(this + " cannot serve this now: " + error);
      case 401 -> new RejectedException(401, this + " wants other credentials: " + error);
      case 403 -> new RejectedException(403, this + " does not allow this: " + error);
      case 413 -> new RejectedException(413, "too large for " + this + ": " + error);
      default ->
          new RejectedException(status, this + " answers with status " + status + ": " + error);
    };
  }

  boolean isClosed() {
    return pool.isClosed();
  }

  StoreClosedException closedException() {
    return new StoreClosedException("the client of " + this + " is closed");
  }

  /** Cuts all connections; running requests fail, later ones are not sent. */
  @Override
  public void close() {
    pool.close();
  }

  /** The server's address. */
  @Override
  public String toString() {
    return options.server().toString();
  }
}
