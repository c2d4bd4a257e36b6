package io.millrace.store.kernel.subscriptions;

import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.state.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The durable commits as a linked list. The loop appends to it, and each subscriber follows it at
 * its own link; links that all have passed are garbage collected. A subscriber that is too far
 * behind the end loses its link, so that a stalled one does not keep all commits in memory.
 */
public final class Broadcast {
  /** A commit in the list, or the start before the first. */
  static final class Link {
    private final @Nullable Event event;
    private final long number;

    /** The total bytes of all commits up to this one. */
    private final long bytes;

    private volatile @Nullable Link next;

    private Link(@Nullable Event event, long number, long bytes) {
      this.event = event;
      this.number = number;
      this.bytes = bytes;
    }

    @Nullable Event event() {
      return event;
    }

    /** The number of this commit, or of the last one before the list. */
    long number() {
      return number;
    }

    /** The total bytes of all commits up to this one, from an arbitrary commit on. */
    long bytes() {
      return bytes;
    }

    @Nullable Link next() {
      return next;
    }
  }

  /** A subscriber. */
  interface Walker {
    /** Called on the loop's thread after commits up to {@code last} have been added. */
    void published(Link last);
  }

  private final int maxLag;
  private final long maxLagBytes;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition longer = lock.newCondition();
  private final List<Walker> walkers = new ArrayList<>();
  private volatile Link last;
  private boolean closed;

  /** A list that begins after commit {@code number}. */
  public Broadcast(long number, Limits limits) {
    this.last = new Link(null, number, 0);
    this.maxLag = limits.subscriberLag();
    this.maxLagBytes = limits.subscriberLagBytes();
  }

  /** The last link. */
  Link last() {
    return last;
  }

  /** Whether a subscriber at {@code number} and {@code bytes} is too far behind {@code newest}. */
  boolean isTooFar(long number, long bytes, Link newest) {
    return newest.number - number > maxLag || newest.bytes - bytes > maxLagBytes;
  }

  /** Adds durable commits, in order. */
  public void publish(List<Event> events) {
    lock.lock();
    try {
      if (walkers.isEmpty()) {
        last = new Link(null, events.getLast().number(), last.bytes);
        return;
      }
      for (Event event : events) {
        Link link = new Link(event, event.number(), last.bytes + Sizes.ofShown(event));
        last.next = link;
        last = link;
      }
      for (Walker walker : walkers) {
        walker.published(last);
      }
      longer.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Registers a subscriber; from now on, the list has the commits after the returned link. */
  Link join(Walker walker) {
    lock.lock();
    try {
      walkers.add(walker);
      return last;
    } finally {
      lock.unlock();
    }
  }

  void leave(Walker walker) {
    lock.lock();
    try {
      walkers.remove(walker);
      longer.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The number of subscribers. */
  public int size() {
    lock.lock();
    try {
      return walkers.size();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until there is a commit after {@code link}, the time is over, the list is closed, or the
   * walker has left.
   *
   * @param nanos how long to wait, by the clock of this machine
   */
  void await(Walker walker, Link link, long nanos) throws InterruptedException {
    lock.lock();
    try {
      long rest = nanos;
      while (link.next == null && !closed && rest > 0 && walkers.contains(walker)) {
        long turn = Math.min(rest, TimeUnit.DAYS.toNanos(1));
        rest -= turn - longer.awaitNanos(turn);
      }
    } finally {
      lock.unlock();
    }
  }

  boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /** Closes the list; no more commits follow. */
  public void close() {
    lock.lock();
    try {
      closed = true;
      longer.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
