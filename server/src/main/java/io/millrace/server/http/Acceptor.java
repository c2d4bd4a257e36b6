package io.millrace.server.http;

import io.helidon.common.concurrency.limits.FixedLimit;
import io.helidon.http.RequestException;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.spi.ServerConnection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts connections, gives each a virtual thread of its own on which the library handles it, and
 * closes those that stay silent. Safe for use by threads.
 */
final class Acceptor {
  private static final Logger LOG = LoggerFactory.getLogger(Acceptor.class);
  private static final int BACKLOG = 1024;

  /** How long to wait before another try where none can be accepted, as without free files. */
  private static final Duration PAUSE = Duration.ofMillis(100);

  /** How long connections may take to notice that they are being closed. */
  private static final Duration LEAVING = Duration.ofSeconds(1);

  private final ServerSocketChannel server;
  private final Surroundings surroundings;
  private final Http1ConnectionSelector http;
  private final List<EventLoop> loops;
  private final Semaphore room;
  private final Set<Accepted> open = ConcurrentHashMap.newKeySet();
  private final Thread accepting;
  private final Thread sweeping;

  private Acceptor(ServerSocketChannel server, Surroundings surroundings) {
    this.server = server;
    this.surroundings = surroundings;
    this.http = Library.http(surroundings.limits());
    this.room = new Semaphore(surroundings.limits().maxConnections());
    this.loops =
        Stream.iterate(0, it -> it + 1)
            .limit(loopCount())
            .map(it -> EventLoop.start("http-" + it, surroundings.limits()))
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
   * @throws UncheckedIOException when it cannot, as when the port is taken
   */
  static Acceptor start(InetSocketAddress address, Surroundings surroundings) {
    try {
      ServerSocketChannel server = ServerSocketChannel.open();
      try {
        server.bind(address, BACKLOG);
      } catch (IOException | RuntimeException e) {
        server.close();
        throw e;
      }
      Acceptor acceptor = new Acceptor(server, surroundings);
      acceptor.accepting.start();
      acceptor.sweeping.start();
      return acceptor;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The port it listens on. */
  int port() {
    return server.socket().getLocalPort();
  }

  /** A connection with the thread that handles it. */
  private record Accepted(Connection connection, ServerConnection handled, Thread thread) {
    /** For how long nothing has come or gone: requests, answers, or frames after an upgrade. */
    Duration silence() {
      Duration silent = Duration.ofNanos(connection.silentNanos());
      Duration idle = handled.idleTime();
      return silent.compareTo(idle) < 0 ? silent : idle;
    }
  }

  private void accept() {
    int count = 0;
    while (server.isOpen()) {
      try {
        room.acquire();
        SocketChannel channel = server.accept();
        EventLoop loop = loops.get(count++ % loops.size());
        Thread.ofVirtual().name("http-connection").start(() -> handle(channel, loop));
      } catch (InterruptedException e) {
        return;
      } catch (IOException e) {
        room.release();
        if (server.isOpen()) {
          LOG.warn("a connection could not be accepted", e);
          LockSupport.parkNanos(PAUSE.toNanos());
        }
      }
    }
  }

  private void handle(SocketChannel channel, EventLoop loop) {
    try (channel) {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      Connection connection = new Connection(channel, surroundings, loop);
      Accepted accepted =
          new Accepted(connection, http.connection(connection), Thread.currentThread());
      open.add(accepted);
      try {
        if (server.isOpen()) {
          accepted.handled.handle(FixedLimit.create());
        }
      } finally {
        open.remove(accepted);
      }
    } catch (CloseConnectionException
        | RequestException
        | UncheckedIOException
        | IOException
        | InterruptedException e) {
      LOG.trace("a connection ended", e);
    } catch (RuntimeException e) {
      LOG.warn("a connection ended by a fault of the server", e);
    } finally {
      room.release();
    }
  }

  /** Closes connections that have been silent for too long. */
  private void sweep() {
    Duration limit = surroundings.limits().idleTimeout();
    try {
      while (server.isOpen()) {
        Thread.sleep(limit.dividedBy(4).plusMillis(1));
        for (Accepted accepted : open) {
          if (accepted.silence().compareTo(limit) > 0) {
            accepted.handled.close(true);
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
    open.forEach(accepted -> accepted.handled.close(true));
    long deadline = System.nanoTime() + LEAVING.toNanos();
    try {
      for (Accepted accepted : open) {
        accepted.thread.join(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    open.forEach(accepted -> accepted.connection.serverSocket().close());
    loops.forEach(EventLoop::close);
    surroundings.context().executor().shutdown();
  }
}
