package io.millrace.graph.schedule;

import io.millrace.blobs.Tail;
import io.millrace.graph.Attempt;
import io.millrace.graph.GraphWork;
import io.millrace.graph.NodeId;
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
 * The attempts in hand. Belongs to the scheduler's thread, but for their output, which any may
 * read.
 */
final class Roster implements GraphWork.Outputs {
  private final ConcurrentHashMap<NodeId, Trial> trials = new ConcurrentHashMap<>();
  private final PriorityQueue<Trial> deadlines =
      new PriorityQueue<>(Comparator.comparingLong((Trial trial) -> trial.deadlineMillis));
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition news = lock.newCondition();
  private int places;
  private int others;

  void add(Trial trial) {
    trials.put(trial.id, trial);
    tellReaders();
    count(trial, 1);
    if (trial.deadlineMillis != Long.MAX_VALUE) {
      deadlines.add(trial);
    }
  }

  /** It has begun, or was found. */
  void begun(Trial trial, Attempt attempt) {
    trial.attempt = attempt;
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

  /** Its time is over at another time. */
  void endAt(Trial trial, long millis) {
    deadlines.remove(trial);
    trial.deadlineMillis = millis;
    deadlines.add(trial);
  }

  /** It has ended, and takes no place any more. */
  void over(Trial trial) {
    trial.over = true;
    count(trial, -1);
    deadlines.remove(trial);
  }

  private void count(Trial trial, int one) {
    if (trial.type.takesPlace()) {
      places += one;
    } else {
      others += one;
    }
  }

  /** Its end is on record. */
  void remove(Trial trial) {
    trials.remove(trial.id, trial);
  }

  boolean has(NodeId id, int number) {
    Trial trial = trials.get(id);
    return trial != null && trial.number == number;
  }

  /** The attempt of a node that has begun and not ended; null where there is none. */
  @Nullable Trial underWay(NodeId id) {
    Trial trial = trials.get(id);
    return trial == null || trial.over || trial.attempt == null ? null : trial;
  }

  /** How many attempts of types that take a place are under way. */
  int places() {
    return places;
  }

  /** How many of the others are. */
  int others() {
    return others;
  }

  /** Those whose time is over now, each once. */
  List<Trial> timedOut(long nowMillis) {
    List<Trial> out = new ArrayList<>();
    for (Trial next = deadlines.peek();
        next != null && next.deadlineMillis <= nowMillis;
        next = deadlines.peek()) {
      out.add(deadlines.remove());
    }
    return out;
  }

  /** When the next one's time is over; the largest number for never. */
  long nextDeadlineMillis() {
    Trial next = deadlines.peek();
    return next == null ? Long.MAX_VALUE : next.deadlineMillis;
  }

  /** The output of an attempt whose end is not on record; null where there is none. */
  @Override
  public @Nullable Tail of(NodeId id, String key) {
    Trial trial = trials.get(id);
    Attempt attempt = trial == null ? null : trial.attempt;
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
    Trial trial = trials.get(id);
    return trial != null && (trial.isNew || trial.attempt != null);
  }
}
