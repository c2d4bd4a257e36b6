package io.millrace.http;

import io.millrace.http.message.HeadCache;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread that serves the plain requests of many connections. It waits only for its selector, so
 * requests and responses that arrive together cost one wake-up.
 *
 * <p>{@link #execute} and {@link #close} may be called by any thread, all other methods only by the
 * thread of the loop.
 */
final class EventLoop {
  private static final Logger LOG = LoggerFactory.getLogger(EventLoop.class);
  private static final int BUFFER_BYTES = RequestBuffer.MAX_BYTES;

  /**
   * How many tasks of other threads run in a tick, mostly responses. The requests that the clients
   * send after the first of these responses then reach the store while the rest is written.
   */
  private static final int MOST_TASKS = 8;

  /** How often timeouts of connections are checked. */
  private static final Duration CHECK_INTERVAL = Duration.ofMillis(500);

  private final Selector selector;
  private final Thread thread;

  /** The tasks of other threads. */
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

  /** The tasks of the loop's own thread, which all run in the tick. */
  private final Deque<Runnable> ownTasks = new ArrayDeque<>();

  private final List<Runnable> deregistrations = new ArrayList<>();
  private List<Connection> readAgain = new ArrayList<>();
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

  /** Runs a task on the thread of the loop, soon. */
  void execute(Runnable task) {
    if (Thread.currentThread().equals(thread)) {
      ownTasks.add(task);
      return;
    }
    tasks.add(task);
    if (asleep) {
      asleep = false;
      selector.wakeup();
    }
  }

  /** Ends the loop. Its connections are not closed. */
  void close() {
    closed = true;
    selector.wakeup();
  }

  Selector selector() {
    return selector;
  }

  /** The current tick. */
  LoopTick tick() {
    return tick;
  }

  /** The heads that were parsed last. */
  HeadCache heads() {
    return heads;
  }

  /** The shared buffer, cleared. Its content is valid only until the caller returns to the loop. */
  ByteBuffer buffer() {
    return buffer.clear();
  }

  /**
   * Runs an action once the selector has removed all cancelled keys, so that their channels can be
   * switched to blocking mode.
   */
  void afterDeregistration(Runnable action) {
    deregistrations.add(action);
  }

  /** Calls {@link Connection#ready} in the next tick, even if its channel has no more to read. */
  void readAgain(Connection connection) {
    readAgain.add(connection);
  }

  private void run() {
    try (selector) {
      while (!closed) {
        runTick();
      }
    } catch (IOException e) {
      LOG.error("the selector of an event loop could not be closed", e);
    }
  }

  /** One tick. Failures are logged and do not end the loop. */
  private void runTick() {
    try {
      select();
      List<Connection> again = readAgain;
      if (!again.isEmpty()) {
        readAgain = new ArrayList<>();
      }
      for (SelectionKey key : selector.selectedKeys()) {
        ((Connection) key.attachment()).ready();
      }
      selector.selectedKeys().clear();
      if (!again.isEmpty()) {
        again.forEach(Connection::ready);
      }
      run(tick::end);
      runTasks();
      long now = System.nanoTime();
      if (now - checkedNanos > CHECK_INTERVAL.toNanos()) {
        checkedNanos = now;
        // The key of a connection that is closed by this stays in the set until the next select.
        selector.keys().forEach(key -> ((Connection) key.attachment()).checkTimeouts(now));
      }
    } catch (IOException | RuntimeException | Error e) {
      LOG.error("a tick of an event loop failed; the loop continues", e);
      LockSupport.parkNanos(CHECK_INTERVAL.toNanos());
    }
  }

  private void runTasks() {
    for (int i = 0; i < MOST_TASKS; i++) {
      runAll(ownTasks);
      Runnable task = tasks.poll();
      if (task == null) {
        return;
      }
      run(task);
    }
    runAll(ownTasks);
  }

  private static void runAll(Deque<Runnable> tasks) {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      run(task);
    }
  }

  private void select() throws IOException {
    if (!deregistrations.isEmpty()) {
      selector.selectNow();
      List<Runnable> now = List.copyOf(deregistrations);
      deregistrations.clear();
      now.forEach(Runnable::run);
    } else {
      asleep = true;
      if (tasks.isEmpty() && ownTasks.isEmpty() && readAgain.isEmpty()) {
        selector.select(CHECK_INTERVAL.toMillis());
      } else {
        selector.selectNow();
      }
      asleep = false;
    }
  }

  private static void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOG.error("a task of an event loop failed", e);
    }
  }
}
