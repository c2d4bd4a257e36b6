package io.millrace.cluster.member;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Has one thread wait until it is due, or called. Any thread may call. */
final class Alarm {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition called = lock.newCondition();
  private boolean rings;

  /** Has whoever waits go on, or whoever waits next not wait. */
  void ring() {
    lock.lock();
    try {
      rings = true;
      called.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits for a time at most; not at all where that is not positive. */
  void await(Duration most) throws InterruptedException {
    lock.lock();
    try {
      long left = most.toNanos();
      while (!rings && left > 0) {
        left = called.awaitNanos(left);
      }
      rings = false;
    } finally {
      lock.unlock();
    }
  }

  /** A time until a moment, at most a minute. */
  static Duration until(long dueMillis, long nowMillis) {
    long most = TimeUnit.MINUTES.toMillis(1);
    return Duration.ofMillis(dueMillis <= nowMillis ? 0 : Math.min(dueMillis - nowMillis, most));
  }
}
