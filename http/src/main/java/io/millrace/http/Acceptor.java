package io.millrace.http;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.ResponseEncoder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts connections up to a limit, assigns them to the event loops, and closes idle ones. If
 * connections run short, it closes those that have been idle for a second and have sent no request
 * with accepted credentials. If memory runs short, it closes those that have stopped in the middle
 * of a request. Thread-safe.
 */
final class Acceptor {
  private static final Logger LOG = LoggerFactory.getLogger(Acceptor.class);
  private static final int BACKLOG = 1024;

  /** How long to wait after a failed accept, for example if no file descriptor is free. */
  private static final Duration RETRY_PAUSE = Duration.ofMillis(100);

  /**
   * If no connection has had bytes for that long, no request is on its way. A client that was
   * refused tries another connection after 30 ms at most.
   */
  private static final Duration QUIET = Duration.ofMillis(50);

  /** How long {@link #stop} waits for that, and how often it looks. */
  private static final Duration QUIET_WAIT = Duration.ofMillis(500);

  private static final Duration QUIET_PAUSE = Duration.ofMillis(1);

  /** How long {@link #stop} waits for connections to close. */
  private static final Duration CLOSE_WAIT = Duration.ofSeconds(1);

  /** How long a connection must have been idle to be closed in favour of others. */
  private static final Duration EVICTION_IDLE = Duration.ofSeconds(1);

  /** The shortest time between two searches for such connections. */
  private static final Duration EVICTION_INTERVAL = Duration.ofMillis(100);

  private final ServerSocketChannel server;
  private final Connection.Context context;
  private final List<EventLoop> loops;
  private final Set<Connection> open = ConcurrentHashMap.newKeySet();
  private final Condition full = new Condition();
  private final Condition failing = new Condition();
  private final Eviction eviction = new Eviction();
  private final Eviction memoryEviction = new Eviction();
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile @Nullable Counter refused;
  private final Thread accepting;
  private final Thread sweeping;

  private Acceptor(ServerSocketChannel server, Function<Acceptor, Connection.Context> context) {
    this.server = server;
    this.context = context.apply(this);
    this.context.memory().onShortage(() -> memoryEviction.run(true));
    this.loops =
        Stream.iterate(0, it -> it + 1)
            .limit(loopCount())
            .map(it -> EventLoop.start("http-" + it))
            .toList();
    this.accepting = Thread.ofPlatform().name("http-accept").unstarted(this::accept);
    this.sweeping = Thread.ofVirtual().name("http-sweep").unstarted(this::sweep);
  }

  /** A quarter of the processors; the rest is for the store and for the threads of requests. */
  private static int loopCount() {
    return Math.max(1, Runtime.getRuntime().availableProcessors() / 4);
  }

  /**
   * Starts accepting.
   *
   * @param context creates what connections share, from this acceptor, whose {@link #closed} must
   *     be called when a connection ends
   * @throws UncheckedIOException if that fails, for example because the port is taken
   */
  static Acceptor start(InetSocketAddress address, Function<Acceptor, Connection.Context> context) {
    try {
      ServerSocketChannel server = ServerSocketChannel.open();
      try {
        server.bind(address, BACKLOG);
        Acceptor acceptor = new Acceptor(server, context);
        acceptor.accepting.start();
        acceptor.sweeping.start();
        return acceptor;
      } catch (IOException | RuntimeException e) {
        server.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The port it listens on. */
  int port() {
    return server.socket().getLocalPort();
  }

  /** Registers the metrics of connections and of the memory for requests. */
  void measure(MeterRegistry registry) {
    Gauge.builder("millrace.http.connections", open, Set::size)
        .description("Open connections")
        .register(registry);
    Gauge.builder("millrace.http.request.memory", context.memory(), RequestMemory::usedBytes)
        .description("What requests keep in memory")
        .baseUnit("bytes")
        .register(registry);
    refused =
        Counter.builder("millrace.http.connections.refused")
            .description("Connections that were closed at once because there were too many")
            .register(registry);
  }

  private void accept() {
    int count = 0;
    while (server.isOpen()) {
      SocketChannel channel = null;
      try {
        channel = server.accept();
        failing.ends("connections are accepted again");
        if (open.size() < context.limits().maxConnections() || eviction.run(false)) {
          channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
          Connection connection =
              new Connection(channel, loops.get(count++ % loops.size()), context);
          open.add(connection);
          connection.begin();
          if (!server.isOpen()) {
            connection.abort();
          }
        } else {
          refuse(channel);
        }
      } catch (IOException | RuntimeException | Error e) {
        close(channel);
        if (server.isOpen()) {
          failing.begins(
              "connections cannot be accepted ({}); this is logged once a minute", e.toString());
          eviction.run(false);
          LockSupport.parkNanos(RETRY_PAUSE.toNanos());
        }
      }
    }
  }

  private void refuse(SocketChannel channel) throws IOException {
    full.begins(
        "the limit of connections is reached: {} are open, and further ones are closed; this is"
            + " logged once a minute",
        Integer.toString(open.size()));
    if (refused != null) {
      refused.increment();
    }
    HttpProblem problem =
        HttpProblem.unavailable(
            "the server has reached its limit of connections (server.max-connections)",
            RequestMemory.RETRY_SECONDS);
    try (channel) {
      channel.configureBlocking(false);
      if (context.certificate() == null) {
        channel.write(ResponseEncoder.last(ErrorForm.PLAIN.response(problem)));
      }
      channel.shutdownOutput();
      // Closing with unread bytes would reset the connection, and the client might miss the
      // response.
      channel.read(ByteBuffer.allocate(HttpLimits.DEFAULT.maxHeaderBytes()));
    }
  }

  private static void close(@Nullable SocketChannel channel) {
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (IOException e) {
      LOG.trace("a connection could not be closed", e);
    }
  }

  /** Removes a closed connection. */
  void closed(Connection connection) {
    open.remove(connection);
    if (open.isEmpty() && !server.isOpen()) {
      closed.countDown();
    }
  }

  /** Closes connections of little value when something runs short, but not too often. */
  private final class Eviction {
    private final AtomicLong lastNanos =
        new AtomicLong(System.nanoTime() - EVICTION_INTERVAL.toNanos());

    /** The number of connections that are being closed and not replaced yet. */
    private final AtomicLong evicted = new AtomicLong();

    /**
     * Closes connections if enough time has passed since the last call that did.
     *
     * @param forMemory whether memory runs short, and not connections
     * @return whether a closed connection makes room for one more
     */
    boolean run(boolean forMemory) {
      long now = System.nanoTime();
      long last = lastNanos.get();
      if (now - last >= EVICTION_INTERVAL.toNanos() && lastNanos.compareAndSet(last, now)) {
        evicted.set(
            open.stream().filter(each -> each.evict(EVICTION_IDLE.toNanos(), forMemory)).count());
      }
      return evicted.getAndUpdate(count -> Math.max(0, count - 1)) > 0;
    }
  }

  /** A condition that may last. It is logged when it begins, then at most once a minute. */
  private static final class Condition {
    private static final long MINUTE_NANOS = Duration.ofMinutes(1).toNanos();

    private boolean lasts;
    private long loggedNanos;

    void begins(String message, String detail) {
      long now = System.nanoTime();
      if (!lasts || now - loggedNanos > MINUTE_NANOS) {
        lasts = true;
        loggedNanos = now;
        LOG.warn(message, detail);
      }
    }

    /** Logs the end, but only a minute after the last warning, because conditions may alternate. */
    void ends(String message) {
      if (lasts && System.nanoTime() - loggedNanos > MINUTE_NANOS) {
        lasts = false;
        LOG.info(message);
      }
    }
  }

  /** Closes connections that have been idle for too long while a thread serves them. */
  private void sweep() {
    Duration limit = context.limits().idleTimeout();
    try {
      while (server.isOpen()) {
        Thread.sleep(limit.dividedBy(4).plusMillis(1));
        for (Connection connection : open) {
          if (connection.activity().idleNanos() > limit.toNanos()) {
            connection.abort();
          }
        }
      }
    } catch (InterruptedException _) {
      // The acceptor is stopping.
    }
  }

  /** Closes the connections with a request that {@code dispatcher} has begun and not ended. */
  void abort(Dispatcher dispatcher) {
    open.forEach(each -> each.abort(dispatcher));
  }

  /** Stops accepting. */
  void stopListening() {
    try {
      server.close();
    } catch (IOException e) {
      LOG.warn("the port could not be closed", e);
    }
  }

  /**
   * Closes every connection, after {@link #stopListening}. What is on its way on a busy one is
   * refused first, unless its client goes on and on.
   */
  void stop() {
    sweeping.interrupt();
    long end = System.nanoTime() + QUIET_WAIT.toNanos();
    while (System.nanoTime() - end < 0 && open.stream().anyMatch(Acceptor::isBusy)) {
      LockSupport.parkNanos(QUIET_PAUSE.toNanos());
    }
    open.forEach(Connection::abort);
    try {
      if (!open.isEmpty() && !closed.await(CLOSE_WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
        LOG.debug("{} connections are still open", open.size());
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    loops.forEach(EventLoop::close);
  }

  private static boolean isBusy(Connection connection) {
    return System.nanoTime() - connection.activity().lastNanos() < QUIET.toNanos();
  }
}
