package io.millrace.client;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Cuts connections whose server is silent for too long. One thread looks after all of them, and
 * ends when nothing waits; a timeout of each socket would cost a virtual thread a timer with each
 * read. Safe for use by threads.
 */
final class AnswerDeadlines {
  private static final long ORIGIN_NANOS = System.nanoTime();

  private final Set<Deadline> watched = ConcurrentHashMap.newKeySet();

  /** When the thread looks next; {@link Deadline#NONE} while it looks, and if there is none. */
  private final AtomicLong nextLook = new AtomicLong(Deadline.NONE);

  private @Nullable Thread thread;

  /** The nanoseconds since this class was loaded. */
  private static long now() {
    return System.nanoTime() - ORIGIN_NANOS;
  }

  /** The deadline of a connection; it is set by the thread that waits for the server. */
  final class Deadline implements AutoCloseable {
    private static final long NONE = Long.MAX_VALUE;
    private static final long PASSED = Long.MIN_VALUE;

    private final Runnable cut;
    private final AtomicLong nanos = new AtomicLong(NONE);

    private Deadline(Runnable cut) {
      this.cut = cut;
    }

    /** Has the connection cut after this time. Nothing if it was cut already. */
    void begin(int millis) {
      long at = now() + millis * 1_000_000L;
      if (nanos.compareAndSet(NONE, at) && at < nextLook.get()) {
        wake();
      }
    }

    /** The server has spoken. Nothing if that was too late. */
    void end() {
      long at = nanos.get();
      if (at != PASSED) {
        // Lost only to the thread that cuts the connection.
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

  /** A deadline for a connection, to be closed with it. */
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
      // A deadline that begins from here on wakes this thread, so that none is overlooked.
      nextLook.set(Deadline.NONE);
      long earliest = look();
      if (earliest < Deadline.NONE) {
        nextLook.set(earliest);
        LockSupport.parkNanos(Math.max(1, earliest - now()));
      } else if (ended()) {
        return;
      }
    }
  }

  private synchronized boolean ended() {
    // Under the lock: what begins later finds no thread, and starts another.
    if (look() < Deadline.NONE) {
      return false;
    }
    thread = null;
    return true;
  }

  /** Cuts what is too late; gives the earliest other deadline. */
  private long look() {
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
