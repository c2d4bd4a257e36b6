package io.millrace.graph.schedule;

import io.millrace.blobs.Tail;
import io.millrace.graph.GraphWork;
import io.millrace.graph.NodeId;
import io.millrace.graph.type.Attempt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The attempts of a scheduler. For the scheduler's thread, except for their output, which any
 * thread may read.
 */
final class RunningAttempts implements GraphWork.Outputs {
  private final ConcurrentHashMap<NodeId, ActiveAttempt> byNode = new ConcurrentHashMap<>();
  private final PriorityQueue<ActiveAttempt> deadlines =
      new PriorityQueue<>(
          Comparator.comparingLong((ActiveAttempt active) -> active.deadlineMillis));
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition news = lock.newCondition();
  private int places;
  private int others;

  void add(ActiveAttempt active) {
    byNode.put(active.id, active);
    tellReaders();
    count(active, 1);
    if (active.deadlineMillis != Long.MAX_VALUE) {
      deadlines.add(active);
    }
  }

  void begun(ActiveAttempt active, Attempt attempt) {
    active.attempt = attempt;
    tellReaders();
  }

  private void tellReaders() {
    lock.lock();
    try {
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Changes the deadline of an attempt. */
  void endAt(ActiveAttempt active, long millis) {
    deadlines.remove(active);
    active.deadlineMillis = millis;
    deadlines.add(active);
  }

  void over(ActiveAttempt active) {
    active.over = true;
    count(active, -1);
    deadlines.remove(active);
  }

  private void count(ActiveAttempt active, int one) {
    if (active.type.takesPlace()) {
      places += one;
    } else {
      others += one;
    }
  }

  void remove(ActiveAttempt active) {
    byNode.remove(active.id, active);
  }

  boolean has(NodeId id, int number) {
    ActiveAttempt active = byNode.get(id);
    return active != null && active.number == number;
  }

  /** The attempt of a node that has begun and not ended; null if there is none. */
  @Nullable ActiveAttempt underWay(NodeId id) {
    ActiveAttempt active = byNode.get(id);
    return active == null || active.over || active.attempt == null ? null : active;
  }

  /** How many running attempts take a place. */
  int places() {
    return places;
  }

  /** How many running attempts take no place. */
  int others() {
    return others;
  }

  /** The attempts that have timed out, each once. */
  List<ActiveAttempt> timedOut(long nowMillis) {
    List<ActiveAttempt> out = new ArrayList<>();
    for (ActiveAttempt next = deadlines.peek();
        next != null && next.deadlineMillis <= nowMillis;
        next = deadlines.peek()) {
      out.add(deadlines.remove());
    }
    return out;
  }

  /** When the next attempt times out; the largest number for never. */
  long nextDeadlineMillis() {
    ActiveAttempt next = deadlines.peek();
    return next == null ? Long.MAX_VALUE : next.deadlineMillis;
  }

  /** The output of an attempt whose end is not recorded yet; null if there is none. */
  @Override
  public @Nullable Tail of(NodeId id, String key) {
    ActiveAttempt active = byNode.get(id);
    Attempt attempt = active == null ? null : active.attempt;
    return attempt == null ? null : attempt.recordings().get(key);
  }

  @Override
  public boolean isKnown(NodeId id, Duration within) throws InterruptedException {
    long nanos = within.toNanos();
    lock.lockInterruptibly();
    try {
      while (!isKnown(id) && nanos > 0) {
        nanos = news.awaitNanos(nanos);
      }
      return isKnown(id);
    } finally {
      lock.unlock();
    }
  }

  private boolean isKnown(NodeId id) {
    ActiveAttempt active = byNode.get(id);
    return active != null && (active.isNew || active.attempt != null);
  }
}
