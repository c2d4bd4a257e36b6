package io.millrace.client;

import io.millrace.client.ConnectionPool.Call;
import io.millrace.client.HttpExchange.Request;
import io.millrace.client.HttpExchange.Response;
import io.millrace.client.HttpExchange.StreamedResponse;
import io.millrace.client.ResponseReader.ResponseStream;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.wire.Placement;
import io.millrace.wire.Responses;
import io.millrace.work.Backoff;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to a server over pooled connections, and repeats them if that is safe. If several
 * servers share a store, it finds the one that leads it: a standby answers 307 with its address,
 * and after a failure the next configured server is asked. Credentials go only to servers that are
 * configured and to those that one of them has named. Thread-safe.
 */
final class HttpTransport implements AutoCloseable {
  private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

  /** The same if several servers are configured: another one leads within seconds. */
  private static final Duration LONGEST_PAUSE_OF_SEVERAL = Duration.ofMillis(200);

  private static final int REDIRECT = 307;
  private static final int MOST_REDIRECTS = 4;

  /** How many servers that are not configured are remembered. */
  private static final int MOST_NAMED = 32;

  private final ClientOptions options;
  private final Map<String, String> headers;
  private final ResponseDeadlines deadlines = new ResponseDeadlines();
  private final List<Target> configured;

  /** The server that the next request goes to. */
  private volatile Target current;

  /** Counts the requests that any server may answer. */
  private final AtomicInteger anywhere = new AtomicInteger();

  /** The place of the configured server whose turn it was last; guarded by this. */
  private int turn;

  /** The servers that configured ones have named, by address. */
  private final Map<String, Target> named = new ConcurrentHashMap<>();

  /** The leaders of shards as far as they were named, of a store that has shards. */
  private final Map<Integer, Target> leaders = new ConcurrentHashMap<>();

  /** How that store is divided; null as long as no shard was named. */
  private volatile @Nullable Placement placement;

  private volatile boolean closed;

  /** Adds these headers to every request. Connects on first use. */
  HttpTransport(ClientOptions options, Map<String, String> headers) {
    this.options = options;
    this.headers = headers;
    this.configured = options.servers().stream().map(address -> new Target(address, true)).toList();
    this.current = configured.getFirst();
  }

  /** A server. */
  private final class Target {
    /** The address, without a slash at its end. */
    private final String address;

    private final String host;
    private final int port;
    private final String prefix;
    private final boolean isConfigured;

    /** The encoded headers of every request. */
    private final byte[] headers;

    private final @Nullable SSLSocketFactory tls;
    private final ConnectionPool<Connection> pool = new ConnectionPool<>(this::connect);

    Target(URI address, boolean isConfigured) {
      this.isConfigured = isConfigured;
      String text = address.toString();
      this.address = text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
      String its = address.getHost();
      host = its.startsWith("[") ? its.substring(1, its.length() - 1) : its;
      boolean secure = "https".equalsIgnoreCase(address.getScheme());
      tls = secure ? options.tls().getSocketFactory() : null;
      int usual = secure ? 443 : 80;
      port = address.getPort() < 0 ? usual : address.getPort();
      String path = address.getRawPath() == null ? "" : address.getRawPath();
      prefix = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
      StringBuilder lines = new StringBuilder("Host: ").append(its);
      if (port != usual) {
        lines.append(':').append(port);
      }
      lines.append("\r\n");
      if (options.token() != null) {
        lines.append("Authorization: Bearer ").append(options.token()).append("\r\n");
      }
      HttpTransport.this.headers.forEach(
          (name, value) -> lines.append(name).append(": ").append(value).append("\r\n"));
      this.headers = lines.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    private Connection connect() throws NotSentException {
      int timeoutMillis = Math.clamp(options.timeouts().connect().toMillis(), 1, Integer.MAX_VALUE);
      try {
        return Connection.open(new InetSocketAddress(host, port), tls, timeoutMillis, deadlines);
      } catch (NotSentException e) {
        throw e;
      } catch (IOException e) {
        // Whoever tells of the failure names the servers, so only one of several is named here.
        String which = address.equals(options.addresses()) ? "" : "cannot reach " + address + ": ";
        throw new NotSentException(which + e.getMessage(), e);
      }
    }

    StreamedResponse open(Request request, Call call, boolean certain) throws IOException {
      Connection connection = pool.lease(call, certain);
      boolean opened = false;
      try {
        ResponseStream response = connection.send(request, prefix, headers);
        StreamedResponse streamed = new StreamedResponse(response, connection, call, pool);
        opened = true;
        return streamed;
      } finally {
        if (!opened) {
          pool.release(connection, call);
        }
      }
    }
  }

  /** What happens if a request arrives twice, in the terms of RFC 9110. */
  enum Idempotency {
    /** Nothing: the request only reads. */
    SAFE,
    /** It takes effect once, for example because it has a request id. */
    IDEMPOTENT,
    /** It takes effect twice. */
    NOT_IDEMPOTENT
  }

  /**
   * Percent-encodes a name for use as one part of a path or query. Slashes and dots are encoded
   * too.
   */
  static String encode(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8)
        .replace("+", "%20")
        .replace("*", "%2A")
        .replace(".", "%2E");
  }

  /** The response timeout plus {@code more}. */
  int responseTimeoutMillis(Duration more) {
    return Math.clamp(options.timeouts().response().plus(more).toMillis(), 1, Integer.MAX_VALUE);
  }

  /**
   * Sends a request and returns the response. The request is retried if that is safe, until the
   * retry time is over.
   *
   * @throws UnreachableException if the server was not reached and nothing changed
   * @throws OutcomeUnknownException if the request may have taken effect
   * @throws StoreClosedException if this is closed
   */
  Response send(Request request, Idempotency idempotency, Call call) {
    Attempts attempts = new Attempts();
    boolean mayBeDone = false;
    while (true) {
      IOException failure;
      Response unavailable = null;
      try {
        Response response = open(request, call, false).whole();
        if (response.status() < 502) {
          return response;
        }
        if (response.status() == 503) {
          if (!hasOthers() && response.header(Responses.ROLE_HEADER) == null) {
            return response;
          }
          unavailable = response;
        }
        failure = new IOException("status " + response.status() + ": " + response.error());
        mayBeDone |= unavailable == null;
      } catch (NotSentException e) {
        failure = e;
      } catch (IOException e) {
        failure = e;
        mayBeDone = true;
      }
      boolean safe =
          (!mayBeDone || idempotency != Idempotency.NOT_IDEMPOTENT)
              && !(failure instanceof NotSentException.Untrusted);
      if (!safe || call.isCancelled() || isClosed() || !attempts.hasTime()) {
        if (unavailable != null && !mayBeDone) {
          return unavailable;
        }
        throw failed(failure, mayBeDone && idempotency != Idempotency.SAFE);
      }
    }
  }

  private StoreException failed(IOException failure, boolean mayBeDone) {
    if (mayBeDone) {
      return new OutcomeUnknownException(
          "the connection to " + this + " broke before the response arrived" + why(failure),
          failure);
    }
    if (isClosed()) {
      return closedException();
    }
    return unreachable(failure);
  }

  /** The exception for a server that was not reached, or did not answer a read. */
  UnreachableException unreachable(IOException failure) {
    return new UnreachableException("no answer from " + this + why(failure), failure);
  }

  private static String why(IOException failure) {
    return failure.getMessage() == null ? "" : ": " + failure.getMessage();
  }

  /** Whether several servers are configured, so that one of them may soon lead. */
  boolean hasOthers() {
    return configured.size() > 1;
  }

  /** The pauses between attempts to reach a server that leads. */
  Backoff backoff() {
    return Backoff.untilAnswered(
        FIRST_PAUSE, hasOthers() ? LONGEST_PAUSE_OF_SEVERAL : LONGEST_PAUSE);
  }

  /** The attempts to do one thing, from now on until the retry time is over. For one thread. */
  final class Attempts {
    private final long begin = System.nanoTime();
    private final Backoff backoff = backoff();

    /** Waits before the next attempt; false if there is no time for it, or if interrupted. */
    boolean hasTime() {
      return System.nanoTime() - begin < options.timeouts().retry().toNanos() && pause(backoff);
    }

    /** The same for what is repeated only because another server may soon lead. */
    boolean mayFindLeader() {
      return hasOthers() && hasTime();
    }
  }

  private static boolean pause(Backoff backoff) {
    try {
      Thread.sleep(backoff.next(ThreadLocalRandom.current()));
      return true;
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Sends a request once and returns its response as soon as its head has arrived.
   *
   * @throws NotSentException if the server cannot have seen the request
   * @throws IOException if the server may have seen it, and there was no response
   */
  StreamedResponse open(Request request) throws IOException {
    return open(request, new Call(), true);
  }

  private StreamedResponse open(Request request, Call call, boolean certain) throws IOException {
    Target next = request.isAnywhere() ? anyone() : null;
    for (int redirects = 0; ; redirects++) {
      Target target = next == null ? leaderFor(request) : next;
      next = null;
      StreamedResponse response;
      try {
        response = target.open(request, call, certain);
      } catch (IOException e) {
        leave(target);
        throw e;
      }
      if (response.status() != REDIRECT) {
        if (response.status() == 503) {
          leave(target);
        }
        return response;
      }
      Response redirect = response.whole();
      String location = redirect.header("Location");
      UploadBody upload = request.upload();
      if (upload != null && upload.bytesRead() > 0 && !upload.rewind()) {
        current = follow(target, location, request);
        throw new NotSentException(
            target.address + " is a standby; the leader is asked next", null);
      }
      if (redirects == MOST_REDIRECTS) {
        leave(target);
        throw new NotSentException("no leader was found in " + redirects + " redirections", null);
      }
      Target leader = follow(target, location, request);
      String shard = redirect.header(Responses.SHARD_HEADER);
      if (shard == null) {
        current = leader;
      } else {
        leads(shard, leader);
      }
      next = leader;
    }
  }

  /** The server to ask first. */
  private Target leaderFor(Request request) {
    Placement known = placement;
    OptionalInt shard = known == null ? OptionalInt.empty() : request.shard(known);
    Target leader = shard.isEmpty() ? null : leaders.get(shard.getAsInt());
    return leader == null ? current : leader;
  }

  /**
   * Notes the leader of a shard.
   *
   * @param place see {@link Responses#SHARD_HEADER}
   */
  private void leads(String place, Target leader) throws NotSentException {
    String[] parts = place.split("/", 2);
    try {
      placement = new Placement(Integer.parseInt(parts[1]));
      leaders.put(Integer.parseInt(parts[0]), leader);
    } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
      throw new NotSentException(leader.address + " leads what is no shard: " + place, e);
    }
  }

  /**
   * The configured server whose turn it is to answer a read; a standby that cannot names another.
   */
  private Target anyone() {
    return configured.get(Math.floorMod(anywhere.getAndIncrement(), configured.size()));
  }

  /**
   * Asks another configured server next, after a failure of this one. They take turns, whomever
   * they name meanwhile: a standby may name one that does not answer any more.
   */
  private synchronized void leave(Target target) {
    var _ = leaders.values().removeIf(target::equals);
    if (target.equals(current)) {
      turn = (turn + 1) % configured.size();
      current = configured.get(turn);
    }
  }

  /**
   * The server that a standby names.
   *
   * @param location its address with the path of the request
   */
  private Target follow(Target standby, @Nullable String location, Request request)
      throws NotSentException {
    if (location == null || !location.endsWith(request.path())) {
      leave(standby);
      throw new NotSentException(standby.address + " redirects to " + location, null);
    }
    String address = location.substring(0, location.length() - request.path().length());
    for (Target each : configured) {
      if (each.address.equals(address)) {
        return each;
      }
    }
    Target known = named.get(address);
    if (known != null && standby.isConfigured) {
      return known;
    }
    leave(standby);
    try {
      URI uri = ClientOptions.at(address).server();
      if (standby.tls != null && !"https".equalsIgnoreCase(uri.getScheme())) {
        throw new NotSentException.Untrusted(
            standby.address + " redirects to " + address + ", which is not encrypted", null);
      }
      if (!standby.isConfigured) {
        throw new NotSentException(
            standby.address + " was named by another server, and names " + address, null);
      }
      Target found = new Target(uri, false);
      synchronized (this) {
        if (named.size() >= MOST_NAMED) {
          leaders.clear();
          named.values().forEach(target -> target.pool.close());
          named.clear();
        }
        named.put(address, found);
      }
      if (closed) {
        found.pool.close();
      }
      return found;
    } catch (IllegalArgumentException e) {
      throw new NotSentException(standby.address + " redirects to " + location, e);
    }
  }

  /** Requests server-sent events. Throws what {@link #open} throws. */
  StreamedResponse events(String path, int responseTimeoutMillis) throws IOException {
    return open(Request.of("GET", path, responseTimeoutMillis).with("Accept", "text/event-stream"));
  }

  /** The exception for a status that has no special meaning for the request. */
  StoreException rejected(int status, String error) {
    return switch (status) {
      case 503 -> new StoreClosedException(this + " cannot serve this now: " + error);
      case 401 -> new RejectedException(401, this + " does not accept the credentials: " + error);
      case 403 -> new RejectedException(403, this + " does not allow this: " + error);
      case 413 -> new RejectedException(413, "too large for " + this + ": " + error);
      default ->
          new RejectedException(status, this + " answers with status " + status + ": " + error);
    };
  }

  boolean isClosed() {
    return closed;
  }

  StoreClosedException closedException() {
    return new StoreClosedException("the client of " + this + " is closed");
  }

  /** Closes all connections: running requests fail, and later ones are not sent. */
  @Override
  public void close() {
    closed = true;
    configured.forEach(target -> target.pool.close());
    named.values().forEach(target -> target.pool.close());
  }

  /** The addresses of the server. */
  @Override
  public String toString() {
    return options.addresses();
  }
}
