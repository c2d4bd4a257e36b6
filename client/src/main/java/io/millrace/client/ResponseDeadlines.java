package io.millrace.client;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Cuts connections on which nothing arrives for too long. One thread watches all of them, and ends
 * when none is waiting. With a socket timeout, each read of a virtual thread would need a timer of
 * its own. Thread-safe.
 */
final class ResponseDeadlines {
  private static final long ORIGIN_NANOS = System.nanoTime();

  private final Set<Deadline> watched = ConcurrentHashMap.newKeySet();

  /**
   * When the thread checks next; {@link Deadline#NONE} while it checks, or if there is no thread.
   */
  private final AtomicLong nextCheck = new AtomicLong(Deadline.NONE);

  private @Nullable Thread thread;

  /** The nanoseconds since this class was loaded. */
  private static long now() {
    return System.nanoTime() - ORIGIN_NANOS;
  }

  /** The deadline of a connection, set by the thread that waits for the server. */
  final class Deadline implements AutoCloseable {
    private static final long NONE = Long.MAX_VALUE;
    private static final long PASSED = Long.MIN_VALUE;

    private final Runnable cut;
    private final AtomicLong nanos = new AtomicLong(NONE);

    private Deadline(Runnable cut) {
      this.cut = cut;
    }

    /**
     * Starts the deadline: the connection will be cut after this time. Does nothing if it was cut.
     */
    void begin(int millis) {
      long at = now() + millis * 1_000_000L;
      if (nanos.compareAndSet(NONE, at) && at < nextCheck.get()) {
        wake();
      }
    }

    /**
     * Cancels the deadline, because the server has sent something. Does nothing if it has passed.
     */
    void end() {
      long at = nanos.get();
      if (at != PASSED) {
        // This fails only if the thread has just cut the connection.
        var _ = nanos.compareAndSet(at, NONE);
      }
    }

    /** Whether the connection was cut. */
    boolean hasPassed() {
      return nanos.get() == PASSED;
    }

    @Override
    public void close() {
      watched.remove(this);
    }
  }

  /** Creates the deadline of a connection, to be closed with it. */
  Deadline of(Runnable cut) {
    Deadline deadline = new Deadline(cut);
    watched.add(deadline);
    return deadline;
  }

  private synchronized void wake() {
    if (thread == null) {
      thread = Thread.ofPlatform().daemon().name("millrace-client-timeouts").start(this::watch);
    } else {
      LockSupport.unpark(thread);
    }
  }

  private void watch() {
    while (true) {
      // A deadline that starts from here on wakes this thread, so none is missed.
      nextCheck.set(Deadline.NONE);
      long earliest = check();
      if (earliest < Deadline.NONE) {
        nextCheck.set(earliest);
        LockSupport.parkNanos(Math.max(1, earliest - now()));
      } else if (ended()) {
        return;
      }
    }
  }

  private synchronized boolean ended() {
    // Under the lock: a deadline that starts later finds no thread and starts a new one.
    if (check() < Deadline.NONE) {
      return false;
    }
    thread = null;
    return true;
  }

  /** Cuts the connections whose deadline has passed; returns the earliest other deadline. */
  private long check() {
    long earliest = Deadline.NONE;
    for (Deadline each : watched) {
      long at = each.nanos.get();
      if (at == Deadline.NONE || at == Deadline.PASSED) {
        continue;
      }
      if (at > now()) {
        earliest = Math.min(earliest, at);
      } else if (each.nanos.compareAndSet(at, Deadline.PASSED)) {
        each.cut.run();
      }
    }
    return earliest;
  }
}
