package io.millrace.http;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The requests being answered, so that a stop can wait for them. Safe for use by any thread.
 *
 * <p>A stop ends what waits for events (each {@link PendingWait}) and lets everything else finish.
 */
final class InFlight {
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicInteger lasting = new AtomicInteger();
  private final Set<PendingWait> waits = ConcurrentHashMap.newKeySet();
  private final CountDownLatch idle = new CountDownLatch(1);
  private volatile boolean stopping;

  /** Begins a request; false if the server is stopping, and then it must be refused. */
  boolean enter() {
    count.incrementAndGet();
    if (stopping) {
      leave();
      return false;
    }
    return true;
  }

  /** Ends a request. */
  void leave() {
    if (count.decrementAndGet() == 0 && stopping) {
      idle.countDown();
    }
  }

  int count() {
    return count.get();
  }

  /** Begins what lasts and is no request: a connection that was switched. As {@link #enter}. */
  boolean enterLasting() {
    lasting.incrementAndGet();
    boolean entered = enter();
    if (!entered) {
      lasting.decrementAndGet();
    }
    return entered;
  }

  /** Ends what {@link #enterLasting} began. */
  void leaveLasting() {
    lasting.decrementAndGet();
    leave();
  }

  /** How many connections are switched. */
  int lasting() {
    return lasting.get();
  }

  /** How many requests are being answered. */
  int requests() {
    return Math.max(0, count.get() - lasting.get());
  }

  boolean stopping() {
    return stopping;
  }

  /** Ends the wait when the server stops; at once if it is stopping already. */
  void add(PendingWait wait) {
    waits.add(wait);
    if (stopping) {
      wait.end(PendingWait.Cause.STOPPING);
    }
  }

  void remove(PendingWait wait) {
    waits.remove(wait);
  }

  /**
   * Turns away new requests, ends what waits for events and waits for the others.
   *
   * @return whether all were answered within {@code grace}
   */
  boolean stop(Duration grace) throws InterruptedException {
    stopping = true;
    waits.forEach(wait -> wait.end(PendingWait.Cause.STOPPING));
    if (count.get() == 0) {
      return true;
    }
    return idle.await(grace.toMillis(), TimeUnit.MILLISECONDS) || count.get() == 0;
  }
}
