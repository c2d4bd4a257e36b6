package io.millrace.http;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.ReplyText;
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
 * Accepts connections up to a limit, hands them to the event loops, and closes those that stay
 * silent. When connections or memory run short it first closes what strangers hold: connections
 * that have been silent for a moment and on which no request with credentials has come, and
 * requests that have stopped halfway. Safe for use by threads.
 */
final class Acceptor {
  private static final Logger LOG = LoggerFactory.getLogger(Acceptor.class);
  private static final int BACKLOG = 1024;

  /** How long to wait before another try if none can be accepted, for example without files. */
  private static final Duration PAUSE = Duration.ofMillis(100);

  /** How long connections may take to notice that they are being closed. */
  private static final Duration LEAVING = Duration.ofSeconds(1);

  /** How long a connection must have been silent to be closed in favour of others. */
  private static final Duration SILENT = Duration.ofSeconds(1);

  /** How often it is worth looking for such connections. */
  private static final Duration RELIEF = Duration.ofMillis(100);

  private final ServerSocketChannel server;
  private final Connection.Context context;
  private final List<EventLoop> loops;
  private final Set<Connection> open = ConcurrentHashMap.newKeySet();
  private final Condition full = new Condition();
  private final Condition failing = new Condition();
  private final Relief relief = new Relief();
  private final Relief memoryRelief = new Relief();
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile @Nullable Counter refused;
  private final Thread accepting;
  private final Thread sweeping;

  private Acceptor(ServerSocketChannel server, Function<Acceptor, Connection.Context> context) {
    this.server = server;
    this.context = context.apply(this);
    this.context.memory().onShortage(() -> memoryRelief.close(true));
    this.loops =
        Stream.iterate(0, it -> it + 1)
            .limit(loopCount())
            .map(it -> EventLoop.start("http-" + it))
            .toList();
    this.accepting = Thread.ofPlatform().name("http-accept").unstarted(this::accept);
    this.sweeping = Thread.ofVirtual().name("http-sweep").unstarted(this::sweep);
  }

  /**
   * A quarter of the processors: the rest is for the store, and for requests that are not plain.
   */
  private static int loopCount() {
    return Math.max(1, Runtime.getRuntime().availableProcessors() / 4);
  }

  /**
   * Begins to accept.
   *
   * @param context makes what connections share; gets this acceptor, which is told of their end
   * @throws UncheckedIOException when it cannot, as when the port is taken
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

  /** Shows how many connections there are, and how many were turned away. */
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
        failing.over("connections are accepted again");
        if (open.size() < context.limits().maxConnections() || relief.close(false)) {
          channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
          Connection connection =
              new Connection(channel, loops.get(count++ % loops.size()), context);
          open.add(connection);
          connection.begin();
          if (!server.isOpen()) {
            connection.abort();
          }
        } else {
          turnAway(channel);
        }
      } catch (IOException | RuntimeException | Error e) {
        close(channel);
        if (server.isOpen()) {
          failing.begins(
              "connections cannot be accepted ({}); this is told once a minute", e.toString());
          relief.close(false);
          LockSupport.parkNanos(PAUSE.toNanos());
        }
      }
    }
  }

  private void turnAway(SocketChannel channel) throws IOException {
    full.begins(
        "there are {} connections, as many as may be, and further ones are closed; this is told"
            + " once a minute",
        Integer.toString(open.size()));
    if (refused != null) {
      refused.increment();
    }
    HttpProblem problem =
        HttpProblem.unavailable(
            "the server has as many connections as it can have (server.max-connections)",
            RequestMemory.RETRY_SECONDS);
    try (channel) {
      channel.configureBlocking(false);
      ByteBuffer text = ReplyText.last(ErrorForm.PLAIN.reply(problem));
      channel.write(text);
      channel.shutdownOutput();
      // What has come is read: closing with bytes unread would take the answer back.
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

  /** Forgets a connection that is closed. */
  void closed(Connection connection) {
    open.remove(connection);
    if (open.isEmpty() && !server.isOpen()) {
      closed.countDown();
    }
  }

  /** Makes room when something runs short, but does not look for it more often than is sensible. */
  private final class Relief {
    private final AtomicLong lastNanos = new AtomicLong(System.nanoTime() - RELIEF.toNanos());

    /** For how many more connections there is room, since that many are being closed. */
    private final AtomicLong made = new AtomicLong();

    /** Whether there is room for one more. */
    boolean close(boolean roomForBytes) {
      long now = System.nanoTime();
      long last = lastNanos.get();
      if (now - last >= RELIEF.toNanos() && lastNanos.compareAndSet(last, now)) {
        made.set(
            open.stream().filter(each -> each.giveWay(SILENT.toNanos(), roomForBytes)).count());
      }
      return made.getAndUpdate(count -> Math.max(0, count - 1)) > 0;
    }
  }

  /** Something that goes on for a while and is worth a line in the log, but not one each time. */
  private static final class Condition {
    private static final long MINUTE_NANOS = Duration.ofMinutes(1).toNanos();

    private boolean lasts;
    private long toldNanos;

    void begins(String message, String detail) {
      long now = System.nanoTime();
      if (!lasts || now - toldNanos > MINUTE_NANOS) {
        lasts = true;
        toldNanos = now;
        LOG.warn(message, detail);
      }
    }

    /** It is over if it has not been told of for a minute: it may come and go quickly. */
    void over(String message) {
      if (lasts && System.nanoTime() - toldNanos > MINUTE_NANOS) {
        lasts = false;
        LOG.info(message);
      }
    }
  }

  /** Closes connections that have been silent for too long while a thread serves them. */
  private void sweep() {
    Duration limit = context.limits().idleTimeout();
    try {
      while (server.isOpen()) {
        Thread.sleep(limit.dividedBy(4).plusMillis(1));
        for (Connection connection : open) {
          if (connection.activity().silentNanos() > limit.toNanos()) {
            connection.abort();
          }
        }
      }
    } catch (InterruptedException _) {
      // It is being stopped.
    }
  }

  /** Accepts no more, and closes every connection. */
  void stop() {
    try {
      server.close();
    } catch (IOException e) {
      LOG.warn("the port could not be closed", e);
    }
    sweeping.interrupt();
    open.forEach(Connection::abort);
    try {
      if (!open.isEmpty() && !closed.await(LEAVING.toMillis(), TimeUnit.MILLISECONDS)) {
        LOG.debug("{} connections are left", open.size());
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    loops.forEach(EventLoop::close);
  }
}
