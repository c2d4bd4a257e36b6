package io.millrace.queues.runner;

import io.millrace.processes.ProcessIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.runner.Messages.Lines;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/**
 * A runner's connection to its node, which is made again whenever a node listens. Safe for use by
 * any number of threads.
 */
final class NodeLink implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeLink.class);
  private static final long RETRY_MILLIS = 100;

  private final Path socket;
  private final String name;
  private final ProcessIdentity identity;
  private final Consumer<Messages> listener;
  private @Nullable Lines lines;
  private @Nullable ObjectId task;
  private @Nullable Duration left;
  private long leftSince;

  /** Whether an attempt to connect has failed, or a connection has ended. */
  private boolean tried;

  private long awaySince;
  private volatile boolean closed;

  /**
   * A link that begins with {@link #open}.
   *
   * @param name the name of the runner's folder
   * @param listener takes the messages of the node, on one thread
   */
  NodeLink(Path socket, String name, ProcessIdentity identity, Consumer<Messages> listener) {
    this.socket = socket;
    this.name = name;
    this.identity = identity;
    this.listener = listener;
  }

  void open() {
    Thread.ofPlatform().name("node").daemon().start(this::keep);
  }

  /** Says that the runner works on this task from now on. */
  synchronized void working(ObjectId now) {
    task = now;
    left = null;
  }

  /** Says how long the claim lasts from now on; zero if nothing is left of the work. */
  synchronized void holds(Duration time) {
    left = time;
    leftSince = System.nanoTime();
    sayLeft();
  }

  private void sayLeft() {
    ObjectId now = task;
    Duration said = left;
    if (now != null && said != null) {
      Duration still = said.minusNanos(System.nanoTime() - leftSince);
      say(new Messages.Holds(now, still.isPositive() ? still : Duration.ZERO));
    }
  }

  private void say(Messages message) {
    Lines now = lines;
    if (now != null) {
      try {
        now.write(Messages.write(message));
      } catch (IOException e) {
        LOG.debug("the node has gone", e);
      }
    }
  }

  /**
   * Says that the runner has ended its task. A node that is away is told when it is back.
   *
   * @param last whether the runner takes no other task
   */
  synchronized void ended(ObjectId done, boolean last) {
    task = null;
    say(new Messages.Ended(done, last));
  }

  /**
   * How long there has been no node, in nanoseconds; 0 if there is one. Before the first attempt to
   * connect has ended, which may take seconds while many runners start, it is 1.
   */
  synchronized long awayNanos() {
    if (lines != null) {
      return 0;
    }
    return tried ? Math.max(1, System.nanoTime() - awaySince) : 1;
  }

  private void keep() {
    while (!closed) {
      try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
        channel.connect(UnixDomainSocketAddress.of(socket));
        converse(new Lines(channel));
      } catch (IOException | RuntimeException | Error e) {
        LOG.debug("no node at {}", socket, e);
      }
      away();
      pause();
    }
  }

  private void converse(Lines connected) throws IOException {
    synchronized (this) {
      connected.write(Messages.write(new Messages.Hello(name, identity.toString(), task)));
      lines = connected;
      sayLeft();
    }
    for (JsonNode next = connected.read(); next != null; next = connected.read()) {
      listener.accept(Messages.read(next));
    }
  }

  private synchronized void away() {
    if (lines != null || !tried) {
      lines = null;
      tried = true;
      awaySince = System.nanoTime();
    }
  }

  private void pause() {
    try {
      Thread.sleep(RETRY_MILLIS);
    } catch (InterruptedException e) {
      closed = true;
    }
  }

  /** Closes the connection for good. */
  @Override
  public void close() {
    closed = true;
    Lines now;
    synchronized (this) {
      now = lines;
    }
    if (now != null) {
      now.close();
    }
  }
}
