package io.millrace.queues.runner;

import io.millrace.queues.runner.Messages.Lines;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/**
 * The socket at which runners connect to their node. A connection that sends malformed messages is
 * closed; the others are not affected.
 */
final class RunnerSocket implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RunnerSocket.class);

  private static final long PAUSE_NANOS = 100_000_000;

  private final Path path;
  private final ServerSocketChannel server;
  private final Listener listener;
  private final Set<Lines> open = ConcurrentHashMap.newKeySet();

  /** Handles the messages of runners. Called on one thread for each connection. */
  interface Listener {
    /** The first message; false if the runner is unknown, so that its connection is closed. */
    boolean connected(Messages.Hello hello, Lines lines);

    /** A later message of the runner of this name. */
    void said(String name, Messages message);

    /** The connection of the runner of this name has ended. */
    void disconnected(String name, Lines lines);
  }

  private RunnerSocket(Path path, ServerSocketChannel server, Listener listener) {
    this.path = path;
    this.server = server;
    this.listener = listener;
  }

  /** Listens; a socket that an earlier node left behind is replaced. */
  static RunnerSocket listen(Path path, Listener listener) throws IOException {
    Files.deleteIfExists(path);
    ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      server.bind(UnixDomainSocketAddress.of(path), 1024);
    } catch (IOException e) {
      server.close();
      throw e;
    }
    RunnerSocket socket = new RunnerSocket(path, server, listener);
    Thread.ofVirtual().name("runners").start(socket::accept);
    return socket;
  }

  private void accept() {
    while (server.isOpen()) {
      try {
        SocketChannel channel = server.accept();
        Thread.ofVirtual().name("runner").start(() -> serve(new Lines(channel)));
      } catch (IOException | RuntimeException | Error e) {
        // Without this thread no runner could connect, and no task could begin.
        if (server.isOpen()) {
          LOG.warn("a runner cannot connect: {}", e.toString());
          // Without free files the next try would fail as well, at once.
          LockSupport.parkNanos(PAUSE_NANOS);
        }
      }
    }
  }

  private void serve(Lines lines) {
    open.add(lines);
    @Nullable String name = null;
    try (lines) {
      JsonNode first = lines.read();
      if (first == null
          || !(Messages.read(first) instanceof Messages.Hello hello)
          || !listener.connected(hello, lines)) {
        LOG.warn("a stranger was cut off");
        return;
      }
      name = hello.name();
      for (JsonNode next = lines.read(); next != null; next = lines.read()) {
        listener.said(name, Messages.read(next));
      }
    } catch (IOException e) {
      LOG.debug("a runner has gone", e);
    } catch (RuntimeException | Error e) {
      LOG.warn("a connection was cut off for what it sent: {}", e.toString());
    } finally {
      open.remove(lines);
      if (name != null) {
        listener.disconnected(name, lines);
      }
    }
  }

  @Override
  public void close() {
    try {
      server.close();
      Files.deleteIfExists(path);
    } catch (IOException e) {
      LOG.warn("the socket {} stays: {}", path, e.toString());
    }
    open.forEach(Lines::close);
  }
}
