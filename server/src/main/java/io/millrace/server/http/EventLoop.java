package io.millrace.server.http;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread that serves the plain requests of many connections. It never waits for anything but
 * its selector, so requests and answers that come together cost one wake-up together.
 *
 * <p>{@link #execute} may be called by any thread; all else belongs to the loop's own.
 */
final class EventLoop {
  private static final Logger LOG = LoggerFactory.getLogger(EventLoop.class);
  private static final int BUFFER_BYTES = Inbox.MOST_BYTES;

  private final Selector selector;
  private final Thread thread;
  private final Queue<Runnable> errands = new ConcurrentLinkedQueue<>();
  private final List<Runnable> returns = new ArrayList<>();
  private final Round round = new Round();
  private final PlainReader reader;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private volatile boolean asleep;
  private volatile boolean closed;

  private EventLoop(String name, HttpLimits limits) {
    reader = new PlainReader(limits);
    try {
      selector = Selector.open();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
  }

  static EventLoop start(String name, HttpLimits limits) {
    EventLoop loop = new EventLoop(name, limits);
    loop.thread.start();
    return loop;
  }

  /** Has the loop run this soon. */
  void execute(Runnable errand) {
    errands.add(errand);
    if (asleep) {
      asleep = false;
      selector.wakeup();
    }
  }

  /** Ends the loop; connections that it serves are left as they are. */
  void close() {
    closed = true;
    selector.wakeup();
  }

  Selector selector() {
    return selector;
  }

  /** What is being done now. */
  Round round() {
    return round;
  }

  /** What reads the heads of requests. */
  PlainReader reader() {
    return reader;
  }

  /** A cleared buffer for what is done with it at once. */
  ByteBuffer buffer() {
    return buffer.clear();
  }

  /** Runs this once the selector has forgotten the keys that are cancelled. */
  void afterForgetting(Runnable giveBack) {
    returns.add(giveBack);
  }

  private void run() {
    try (selector) {
      while (!closed) {
        select();
        for (SelectionKey key : selector.selectedKeys()) {
          ((Line) key.attachment()).ready();
        }
        selector.selectedKeys().clear();
        round.end();
        runErrands();
      }
    } catch (IOException | RuntimeException | Error e) {
      LOG.error("a thread of the HTTP server ended by a fault of its own", e);
    }
  }

  private void select() throws IOException {
    if (!returns.isEmpty()) {
      selector.selectNow();
      returns.forEach(Runnable::run);
      returns.clear();
    } else {
      asleep = true;
      if (errands.isEmpty()) {
        selector.select();
      } else {
        selector.selectNow();
      }
      asleep = false;
    }
  }

  private void runErrands() {
    for (Runnable errand = errands.poll(); errand != null; errand = errands.poll()) {
      errand.run();
    }
  }
}
