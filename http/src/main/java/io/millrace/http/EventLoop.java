package io.millrace.http;

import io.millrace.http.message.HeadCache;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
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
  private static final int BUFFER_BYTES = RequestBuffer.MOST_BYTES;

  /** How often it is checked which connections take too long. */
  private static final Duration CHECK_INTERVAL = Duration.ofMillis(500);

  private final Selector selector;
  private final Thread thread;
  private final Queue<Runnable> errands = new ConcurrentLinkedQueue<>();
  private final List<Runnable> returns = new ArrayList<>();
  private final LoopTick tick = new LoopTick();
  private final HeadCache heads = new HeadCache();
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private volatile boolean asleep;
  private volatile boolean closed;

  private long checkedNanos = System.nanoTime();

  private EventLoop(String name) {
    try {
      selector = Selector.open();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
  }

  static EventLoop start(String name) {
    EventLoop loop = new EventLoop(name);
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
  LoopTick tick() {
    return tick;
  }

  /** The heads that came last. */
  HeadCache heads() {
    return heads;
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
        runTick();
      }
    } catch (IOException e) {
      LOG.error("a selector of the HTTP server could not be closed", e);
    }
  }

  /** One tick: does what is to be done now. No failure ends the loop. */
  private void runTick() {
    try {
      select();
      for (SelectionKey key : selector.selectedKeys()) {
        ((Connection) key.attachment()).ready();
      }
      selector.selectedKeys().clear();
      run(tick::end);
      for (Runnable errand = errands.poll(); errand != null; errand = errands.poll()) {
        run(errand);
      }
      long now = System.nanoTime();
      if (now - checkedNanos > CHECK_INTERVAL.toNanos()) {
        checkedNanos = now;
        // A connection that is closed in the course of this leaves its key until the next select.
        selector.keys().forEach(key -> ((Connection) key.attachment()).checkTimeouts(now));
      }
    } catch (IOException | RuntimeException | Error e) {
      LOG.error("a thread of the HTTP server failed, and goes on", e);
      LockSupport.parkNanos(CHECK_INTERVAL.toNanos());
    }
  }

  private void select() throws IOException {
    if (!returns.isEmpty()) {
      selector.selectNow();
      List<Runnable> now = List.copyOf(returns);
      returns.clear();
      now.forEach(Runnable::run);
    } else {
      asleep = true;
      if (errands.isEmpty()) {
        selector.select(CHECK_INTERVAL.toMillis());
      } else {
        selector.selectNow();
      }
      asleep = false;
    }
  }

  private static void run(Runnable errand) {
    try {
      errand.run();
    } catch (RuntimeException | Error e) {
      LOG.error("a part of the HTTP server failed", e);
    }
  }
}
