package io.millrace.cli.storm;

import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A worker over a real WebSocket that misbehaves at random, and reconnects when it is cut off. */
final class StormWorker implements AutoCloseable {
  private static final Executor SOON = CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS);

  /** One for each attempt, over all workers. */
  private static final AtomicLong ATTEMPTS = new AtomicLong();

  private final HttpClient client;
  private final StormServer server;
  private final String id;
  private final int capacity;
  private final SplittableRandom random;
  private final List<Transcript> transcripts = new ArrayList<>();
  private @Nullable WebSocket current;
  private boolean over;

  /**
   * Connects at once, and again whenever it must.
   *
   * @param capacity how many jobs it takes at a time
   */
  StormWorker(
      HttpClient client, StormServer server, String id, int capacity, SplittableRandom random) {
    this.client = client;
    this.server = server;
    this.id = id;
    this.capacity = capacity;
    this.random = random;
    connect();
  }

  private void connect() {
    StormConnection line = new StormConnection(this);
    synchronized (this) {
      if (over) {
        return;
      }
      transcripts.add(line.transcript());
    }
    var _ =
        client
            .newWebSocketBuilder()
            .buildAsync(server.socketAt("/api/worker"), line)
            .exceptionally(_ -> {
              again();
              return null;
            });
  }

  /** Connects again, once there is a server. */
  void again() {
    var _ = server.up().thenRunAsync(this::connect, SOON);
  }

  String id() {
    return id;
  }

  int capacity() {
    return capacity;
  }

  static long newAttempt() {
    return ATTEMPTS.incrementAndGet();
  }

  /** Notes the connection that it has; false where it is to have none any more. */
  synchronized boolean opened(WebSocket socket) {
    current = socket;
    return !over;
  }

  synchronized WorkerAction nextDeed() {
    return WorkerAction.any(random);
  }

  /** What was said on each of its connections. */
  synchronized List<Transcript> transcripts() {
    return List.copyOf(transcripts);
  }

  @Override
  public synchronized void close() {
    over = true;
    if (current != null) {
      current.abort();
    }
  }
}
