package io.millrace.work;

import io.millrace.store.StoreClosedException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that calls a {@link Step} whenever it is due or woken. A step that throws is logged and
 * called again after a second, errors included: nothing else would do its work. A {@link
 * StoreClosedException} ends the loop. To be closed before the store. Safe for use by threads.
 */
public final class StepLoop implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StepLoop.class);
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(1);

  /** The clock is read again after this time, however far off a step is: it may have been set. */
  private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

  private final InstantSource clock;
  private final Step step;
  private final AtomicBoolean woken = new AtomicBoolean();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private final Thread thread;
  private volatile boolean closed;

  /**
   * A loop that has not begun.
   *
   * @param thread makes the thread of the loop; its name is used in the log
   * @param clock tells the time that steps get
   */
  public StepLoop(Thread.Builder thread, InstantSource clock, Step step) {
    this.clock = clock;
    this.step = step;
    this.thread = thread.unstarted(this::run);
  }

  /** Starts a loop on a virtual thread of this name; the first step comes at once. */
  public static StepLoop start(String name, InstantSource clock, Step step) {
    return new StepLoop(Thread.ofVirtual().name(name), clock, step).start();
  }

  /** Starts the loop; the first step comes at once. */
  public StepLoop start() {
    thread.start();
    return this;
  }

  /** Has a step called soon. Calls may merge; none is lost. */
  public void wake() {
    if (!woken.get() && !woken.getAndSet(true)) {
      LockSupport.unpark(thread);
    }
  }

  /** Completes when the last step has ended, because the activity is over or the loop closed. */
  public CompletableFuture<Void> onEnd() {
    return ended.copy();
  }

  private void run() {
    try {
      while (!closed) {
        woken.set(false);
        Instant due = step();
        if (due.equals(Step.FINISHED)) {
          return;
        }
        await(due);
      }
    } catch (StoreClosedException _) {
      LOG.debug("{} ends, because the store is closed", thread.getName());
    } finally {
      ended.complete(null);
    }
  }

  private Instant step() {
    try {
      return step.step(clock.instant());
    } catch (StoreClosedException e) {
      throw e;
    } catch (RuntimeException | Error e) {
      if (closed) {
        LOG.debug("{} failed while it was closed", thread.getName(), e);
      } else {
        LOG.warn("{} failed; the next try comes in a second", thread.getName(), e);
      }
      return clock.instant().plus(AFTER_FAILURE);
    }
  }

  /** Waits until a step is due by the clock, or the loop is woken or closed. */
  private void await(Instant due) {
    Instant now = clock.instant();
    while (!woken.get() && !closed && due.isAfter(now)) {
      boolean isFar = due.isAfter(now.plus(LONGEST_WAIT));
      Duration wait = isFar ? LONGEST_WAIT : Duration.between(now, due);
      LockSupport.parkNanos(this, wait.toNanos());
      if (Thread.interrupted()) {
        // Only close interrupts, and the loop looks at that.
        LOG.trace("{} was interrupted", thread.getName());
      }
      now = clock.instant();
    }
  }

  /** Ends the loop and waits for the step under way. Closing twice does nothing. */
  @Override
  public void close() {
    closed = true;
    wakeThread();
    join(Duration.ofMillis(Long.MAX_VALUE));
  }

  /**
   * Waits until the activity is over by itself, and otherwise ends the loop.
   *
   * @param grace how long to wait; a step that is under way then is interrupted
   * @return whether the activity was over, or its last step, in time
   */
  public boolean close(Duration grace) {
    wakeThread();
    boolean over = join(grace);
    closed = true;
    if (!over) {
      thread.interrupt();
    }
    return over;
  }

  private void wakeThread() {
    woken.set(true);
    LockSupport.unpark(thread);
  }

  /** Waits for the end of the thread; a caller on the thread itself does not wait. */
  private boolean join(Duration most) {
    if (Thread.currentThread().equals(thread) || thread.getState() == Thread.State.NEW) {
      return true;
    }
    try {
      return thread.join(most);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
