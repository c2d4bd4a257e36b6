package io.millrace.store.environment;

import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Runs an activity on a platform thread that parks between steps, or for one step on the thread of
 * a caller of {@link #runOrSignal}, which saves two handovers. The thread that sets the state to
 * {@code RUNNING} runs steps; no other thread does until the state is {@code IDLE} or {@code
 * SIGNALLED} again.
 *
 * <pre>
 *             signal              the thread, or a caller
 *     IDLE -----------> SIGNALLED -----------------------> RUNNING ------> OVER
 *      ^ |                                                 ^ |  ^ |
 *      | +---- the thread at the due time, or a caller ----+ |  | | signal
 *      +-------------------- nothing more is due ------------+  | v
 *                                                              AGAIN
 * </pre>
 */
final class ThreadDriver implements Driver {
  private enum State {
    /** No step is due before {@link #dueNanos}. */
    IDLE,
    /** A step is due. */
    SIGNALLED,
    /** A thread runs a step. */
    RUNNING,
    /** A thread runs a step, and another is due after it. */
    AGAIN,
    /** The activity is finished or has failed. */
    OVER
  }

  private static final long NEVER = Long.MAX_VALUE;
  private static final long LONGEST_WAIT_NANOS = Long.MAX_VALUE / 4;

  private final AtomicReference<State> state = new AtomicReference<>(State.SIGNALLED);
  private final Activity activity;
  private final Thread thread;

  /** When a step is due without a signal, by {@link System#nanoTime}. Written while running. */
  private volatile long dueNanos = NEVER;

  /** The time at which the parked thread wakes up by itself. */
  private volatile long parkedUntilNanos = NEVER;

  /** The calling thread that runs a step; null for none. */
  private volatile @Nullable Thread guest;

  private ThreadDriver(String name, Activity activity) {
    this.activity = activity;
    thread = Thread.ofPlatform().name(name).unstarted(this::run);
  }

  static ThreadDriver start(String name, Activity activity) {
    ThreadDriver driver = new ThreadDriver(name, activity);
    driver.thread.start();
    return driver;
  }

  private void run() {
    for (State now = state.get(); now != State.OVER; now = state.get()) {
      long due = now == State.IDLE ? dueNanos : NEVER;
      if (now == State.SIGNALLED || isDue(due)) {
        if (state.compareAndSet(now, State.RUNNING)) {
          runSteps();
        }
      } else {
        park(now, due);
      }
    }
  }

  private static boolean isDue(long due) {
    return due != NEVER && due - System.nanoTime() <= 0;
  }

  /** Parks, unless the state has changed since {@code seen}. Later changes unpark the thread. */
  private void park(State seen, long due) {
    parkedUntilNanos = due;
    if (state.get() != seen || (seen == State.IDLE && dueNanos != due)) {
      return;
    }
    if (due == NEVER) {
      LockSupport.park(this);
    } else {
      LockSupport.parkNanos(this, Math.max(1, due - System.nanoTime()));
    }
  }

  /** Runs steps on the activity's own thread until nothing is due. */
  private void runSteps() {
    for (long wait = step(); wait != Activity.FINISHED; wait = step()) {
      if (wait > 0 && rest(wait)) {
        return;
      }
      state.set(State.RUNNING);
    }
  }

  /** Runs one step. If it throws, the activity ends. */
  private long step() {
    long wait = Activity.FINISHED;
    try {
      wait = activity.step();
    } catch (Throwable thrown) {
      activity.failed(thrown);
    } finally {
      if (wait == Activity.FINISHED) {
        state.set(State.OVER);
        LockSupport.unpark(thread);
      }
    }
    return wait;
  }

  /** Becomes idle for {@code wait} nanoseconds; returns false if there was a signal meanwhile. */
  private boolean rest(long wait) {
    dueNanos =
        wait == Activity.UNTIL_SIGNALLED
            ? NEVER
            : System.nanoTime() + Math.min(wait, LONGEST_WAIT_NANOS);
    return state.compareAndSet(State.RUNNING, State.IDLE);
  }

  @Override
  public void signal() {
    for (State now = state.get(); ; now = state.get()) {
      if (now == State.IDLE) {
        if (state.compareAndSet(State.IDLE, State.SIGNALLED)) {
          LockSupport.unpark(thread);
          return;
        }
      } else if (now != State.RUNNING || state.compareAndSet(State.RUNNING, State.AGAIN)) {
        return;
      }
    }
  }

  @Override
  public void runOrSignal() {
    State now = state.get();
    // An interrupted thread would close the journal's file channel.
    if ((now == State.IDLE || now == State.SIGNALLED)
        && !Thread.currentThread().isInterrupted()
        && state.compareAndSet(now, State.RUNNING)) {
      runStepHere();
    } else {
      signal();
    }
  }

  /** Runs one step on the caller's thread; the activity's own thread runs the steps after it. */
  private void runStepHere() {
    guest = Thread.currentThread();
    long wait;
    try {
      wait = step();
    } finally {
      guest = null;
    }
    if (wait == Activity.FINISHED) {
      return;
    }
    if (wait == 0 || !rest(wait)) {
      state.set(State.SIGNALLED);
      LockSupport.unpark(thread);
    } else {
      long due = dueNanos;
      long parkedUntil = parkedUntilNanos;
      if (due != NEVER && (parkedUntil == NEVER || due - parkedUntil < 0)) {
        LockSupport.unpark(thread);
      }
    }
  }

  @Override
  public void join() {
    Thread caller = Thread.currentThread();
    if (caller.equals(thread) || caller.equals(guest)) {
      return;
    }
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
