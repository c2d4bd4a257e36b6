package io.millrace.http;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the requests in flight, so that a stop can wait for them. A stop ends each {@link
 * PendingWait} and lets everything else finish. Thread-safe.
 */
final class InFlight {
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicInteger upgraded = new AtomicInteger();
  private final Set<PendingWait> waits = ConcurrentHashMap.newKeySet();
  private final CountDownLatch idle = new CountDownLatch(1);
  private volatile boolean stopping;

  /**
   * Begins a request. Returns false if the server is stopping; the request must then be refused.
   */
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

  /** Notes that a request that was begun has become a WebSocket. */
  void upgrade() {
    upgraded.incrementAndGet();
  }

  /** Ends a WebSocket. */
  void leaveUpgraded() {
    upgraded.decrementAndGet();
    leave();
  }

  /** The number of open WebSockets. */
  int upgraded() {
    return upgraded.get();
  }

  /** The number of requests in flight, without WebSockets. */
  int requests() {
    return Math.max(0, count.get() - upgraded.get());
  }

  boolean stopping() {
    return stopping;
  }

  /** Registers a wait, which a stop ends; at once if the server is already stopping. */
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
   * Refuses new requests, ends each {@link PendingWait}, and waits for all other requests.
   *
   * @return whether all ended within {@code grace}
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
