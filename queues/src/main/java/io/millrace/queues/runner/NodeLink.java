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
 * A runner's side of the connection to its node, made again whenever a node listens. Safe for use
 * by any number of threads.
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
  private long awaySince = System.nanoTime();
  private volatile boolean closed;

  /**
   * A link that begins with {@link #open}.
   *
   * @param name the name of the runner's folder
   * @param listener gets what the node says, on one thread
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

  /** From now on the runner works on this task. */
  synchronized void working(ObjectId now) {
    task = now;
    left = null;
  }

  /** The claim lasts for so long from now on; zero when nothing is left of the work. */
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
   * The runner is done with its task. A node that is away hears it when it asks again.
   *
   * @param last whether it takes no other
   */
  synchronized void ended(ObjectId done, boolean last) {
    task = null;
    say(new Messages.Ended(done, last));
  }

  /** How long there has been no node, in nanoseconds; 0 if there is one. */
  synchronized long awayNanos() {
    return lines == null ? Math.max(1, System.nanoTime() - awaySince) : 0;
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
    if (lines != null) {
      lines = null;
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

  /** Cuts the connection and makes no other. */
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
