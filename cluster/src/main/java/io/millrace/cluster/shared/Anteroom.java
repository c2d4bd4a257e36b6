package io.millrace.cluster.shared;

import io.millrace.cluster.lock.Sightings;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Where the threads of one member wait that want the same: one at a time tries for it, the others
 * stand in a row behind. So no two of them write the same, and what one has seen the next one
 * knows. Safe for use by any number of threads.
 */
final class Anteroom {
  private final ReentrantLock turn = new ReentrantLock(true);
  private final Semaphore bell = new Semaphore(0);
  private final Set<Thread> inside = ConcurrentHashMap.newKeySet();
  private final Set<String> left = ConcurrentHashMap.newKeySet();
  private final Sightings sightings;

  Anteroom(Sightings sightings) {
    this.sightings = sightings;
  }

  /** What was seen of the locks; for the thread whose turn it is. */
  Sightings sightings() {
    return sightings;
  }

  /** Waits for its turn; whether it came in time. */
  boolean queueUp(Duration most) throws InterruptedException {
    return turn.tryLock(most.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Ends its turn. */
  void goOn() {
    turn.unlock();
  }

  /** Forgets what was rung before; for the thread whose turn it is, before it looks. */
  void listen() {
    bell.drainPermits();
  }

  /** Waits until somebody rings; whether that was in time. */
  boolean rest(long mostMillis) throws InterruptedException {
    return bell.tryAcquire(mostMillis, TimeUnit.MILLISECONDS);
  }

  /** A thread of this member has come inside. */
  void enter(Thread thread) {
    inside.add(thread);
  }

  /**
   * A thread of this member is not inside any more, and whoever waits should look at once.
   *
   * @param key the lock that it has given back, or lost
   */
  void leave(Thread thread, String key) {
    inside.remove(thread);
    left.add(key);
    bell.release();
  }

  /** The locks that threads of this member have left since this was asked last. */
  Set<String> takeLeft() {
    Set<String> keys = Set.copyOf(left);
    left.removeAll(keys);
    return keys;
  }

  boolean isInside(Thread thread) {
    return inside.contains(thread);
  }
}
