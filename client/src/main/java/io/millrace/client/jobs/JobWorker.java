package io.millrace.client.jobs;

import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import io.millrace.store.StoreException;
import io.millrace.work.Backoff;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives jobs from a server over a WebSocket and passes them to a handler. Reconnects whenever
 * the connection breaks. Runs until it is stopped, or until the server rejects it before its first
 * registration. Its threads do not keep the JVM alive: wait for {@link #onEnd()}. Thread-safe.
 */
public final class JobWorker implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(JobWorker.class);

  /** The statuses of a handshake after which a retry would not help. */
  private static final Set<Integer> PERMANENT = Set.of(400, 401, 403, 404);

  /** The close codes with which a server rejects a message. */
  private static final Set<Integer> REJECTIONS = Set.of(1007, 1008);

  /**
   * How many rejections in a row end the worker. A single one may mean that it registered too late.
   */
  private static final int MAX_REJECTIONS = 3;

  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

  /** If several servers are configured, of which another one soon leads. */
  private static final Duration LONGEST_PAUSE_OF_SEVERAL = Duration.ofSeconds(1);

  private final JobWorkerOptions options;
  private final JobHandler handler;
  private final CountDownLatch leaving = new CountDownLatch(1);
  private final CompletableFuture<Void> ready = new CompletableFuture<>();
  private final CompletableFuture<Void> end = new CompletableFuture<>();
  private volatile @Nullable WorkerConnection connection;

  /** The place in the addresses of the server that is tried; for the thread of the worker. */
  private int at;

  /** The server that the one at that place has named as the leader; null for none. */
  private @Nullable URI leader;

  private JobWorker(JobWorkerOptions options, JobHandler handler) {
    this.options = options;
    this.handler = handler;
  }

  /**
   * Starts a worker. It keeps trying if the server cannot be reached.
   *
   * @throws IllegalArgumentException if the certificates of the options cannot be read
   */
  public static JobWorker start(JobWorkerOptions options, JobHandler handler) {
    JobWorker worker = new JobWorker(options, handler);
    HttpClient client =
        HttpClient.newBuilder()
            .connectTimeout(options.server().timeouts().connect())
            .sslContext(options.server().tls())
            .build();
    Thread.ofVirtual().name("millrace-job-worker").start(() -> worker.run(client));
    return worker;
  }

  /** Starts a worker for jobs of a kind, whose name is the type of the worker. */
  public static <P, R> JobWorker start(
      JobWorkerOptions options, JobKind<P, R> kind, JobKind.Handler<P, R> handler) {
    return start(options.withType(kind.name()), kind.handledBy(handler));
  }

  /** Completes when the server has accepted the worker for the first time. */
  public CompletableFuture<Void> onReady() {
    return ready.copy();
  }

  /**
   * Completes when the worker and all of its work have ended; with a {@link WorkerRefusedException}
   * if the server rejected it.
   */
  public CompletableFuture<Void> onEnd() {
    return end.copy();
  }

  /** The number of jobs in progress. */
  public int busy() {
    WorkerConnection now = connection;
    return now == null ? 0 : now.busy();
  }

  private void run(HttpClient client) {
    Throwable failure = null;
    try {
      connectUntilStopped(client);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failure = e;
    } catch (RuntimeException | Error e) {
      failure = e;
    }
    client.shutdownNow();
    if (failure == null) {
      end.complete(null);
    } else {
      end.completeExceptionally(failure);
    }
  }

  private void connectUntilStopped(HttpClient client) throws InterruptedException {
    boolean hasOthers = options.server().servers().size() > 1;
    Backoff backoff =
        Backoff.untilAnswered(FIRST_PAUSE, hasOthers ? LONGEST_PAUSE_OF_SEVERAL : LONGEST_PAUSE);
    int rejections = 0;
    while (!isLeaving()) {
      WorkerConnection now = new WorkerConnection(options, handler, () -> ready.complete(null));
      connection = now;
      WorkerConnection.CloseStatus ended = serve(client, now);
      if (isLeaving()) {
        return;
      }
      if (leader != null) {
        LOG.info("{} is a standby; {}", options.server().servers().get(at), ended.reason());
        continue;
      }
      rejections = !ready.isDone() && REJECTIONS.contains(ended.code()) ? rejections + 1 : 0;
      if (rejections == MAX_REJECTIONS) {
        throw new WorkerRefusedException(
            options.server().server() + " rejects the worker: " + ended.reason());
      }
      if (now.registered()) {
        backoff.succeeded();
      }
      LOG.warn("no connection to {}, trying again: {}", options.server().server(), ended.reason());
      long pause = backoff.next(ThreadLocalRandom.current()).toNanos();
      boolean _ = leaving.await(pause, TimeUnit.NANOSECONDS);
    }
  }

  private boolean isLeaving() {
    return leaving.getCount() == 0;
  }

  private WorkerConnection.CloseStatus serve(HttpClient client, WorkerConnection now)
      throws InterruptedException {
    ClientOptions server = options.server();
    WebSocket.Builder builder =
        client.newWebSocketBuilder().connectTimeout(server.timeouts().connect());
    if (server.token() != null) {
      builder.header("Authorization", "Bearer " + server.token());
    }
    try {
      var _ = builder.buildAsync(address(), now).join();
    } catch (CompletionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      if (isDirected(cause)) {
        now.cut("the leader is at " + leader);
        return now.await();
      }
      moveOn();
      boolean handshake =
          cause instanceof WebSocketHandshakeException refusal
              && PERMANENT.contains(refusal.getResponse().statusCode());
      // A worker that was accepted before keeps trying: the server may be restarting.
      if (!ready.isDone() && (handshake || cause instanceof SSLException)) {
        throw new WorkerRefusedException(rejection(cause), cause);
      }
      now.cut(describe(cause));
    }
    if (isLeaving()) {
      now.leave();
    }
    WorkerConnection.CloseStatus ended = now.await();
    // Whether or not that one still leads, the first question is for a configured server.
    leader = null;
    return ended;
  }

  private static String describe(Throwable failure) {
    return switch (failure) {
      case WebSocketHandshakeException refusal -> "status " + refusal.getResponse().statusCode();
      // Its own message is empty.
      case ConnectException refused ->
          refused.getCause() instanceof UnresolvedAddressException
              ? "there is no such host"
              : "it accepts no connections";
      default -> failure.getMessage() == null ? failure.toString() : failure.getMessage();
    };
  }

  private String path() {
    return "/api/worker" + (options.type().isEmpty() ? "" : "/" + JsonCalls.part(options.type()));
  }

  private URI address() {
    URI named = leader;
    String server = withoutSlash(named == null ? options.server().servers().get(at) : named);
    return URI.create("ws" + server.substring("http".length()) + path());
  }

  private static String withoutSlash(URI address) {
    return address.toString().replaceAll("/+$", "");
  }

  /** Tries the next address of the server. */
  private void moveOn() {
    leader = null;
    at = (at + 1) % options.server().servers().size();
  }

  /**
   * Whether a configured server is a standby and has named the leader, which is tried next. The
   * credentials are not sent to it without encryption if they are encrypted on the way to the one
   * that names it.
   */
  private boolean isDirected(Throwable failure) {
    if (leader != null
        || !(failure instanceof WebSocketHandshakeException refusal)
        || refusal.getResponse().statusCode() != 307) {
      return false;
    }
    String location = refusal.getResponse().headers().firstValue("Location").orElse("");
    String scheme = options.server().servers().get(at).getScheme() + "://";
    if (!location.endsWith(path())
        || !(location.startsWith(scheme) || location.startsWith("https://"))) {
      return false;
    }
    leader = URI.create(location.substring(0, location.length() - path().length()));
    return true;
  }

  /**
   * The reason of a rejected handshake. A plain request is rejected for the same reason, and unlike
   * that of a handshake, its response can be read.
   */
  private String rejection(Throwable failure) {
    try (JsonCalls calls = JsonCalls.open(options.server().withRetryFor(Duration.ZERO))) {
      var _ = calls.get(path());
      return describe(failure);
    } catch (StoreException e) {
      return String.valueOf(e.getMessage());
    }
  }

  /** Takes no more jobs, and ends when the active ones have ended. Returns at once. */
  public void leave() {
    leaving.countDown();
    WorkerConnection now = connection;
    if (now != null) {
      now.leave();
    }
  }

  /**
   * Stops the worker: takes no more jobs and waits until the active ones have ended. After {@code
   * grace}, their handlers are cancelled and the server offers the jobs to other workers.
   *
   * @return whether all jobs ended in time
   */
  public boolean stop(Duration grace) {
    leave();
    try {
      var _ = end.get(grace.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException _) {
      // Not all jobs have ended in time.
    } catch (ExecutionException _) {
      return true;
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    WorkerConnection now = connection;
    if (now != null) {
      now.goAway("the worker was stopped");
    }
    return false;
  }

  /** Stops the worker with a grace period of 30 seconds. */
  @Override
  public void close() {
    stop(Duration.ofSeconds(30));
  }
}
