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
 * The durable commits as a chain that the loop lengthens and subscribers walk, each at its own
 * place; what all have passed is collected. A subscriber that lets the chain behind it grow beyond
 * the limits loses its place, so that one that has stalled does not keep the commits of all in
 * memory.
 */
public final class Broadcast {
  /** A commit in the chain, or the place before the first. */
  static final class Link {
    private final @Nullable Event event;
    private final long number;

    /** The bytes of all commits up to this one. */
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

    /** The number of this commit, or of the last one before the chain. */
    long number() {
      return number;
    }

    /** The bytes of all commits up to this one, counted from some commit on. */
    long bytes() {
      return bytes;
    }

    @Nullable Link next() {
      return next;
    }
  }

  /** A subscriber. */
  interface Walker {
    /** Commits have been added, up to {@code last}; called on the loop's thread. */
    void published(Link last);
  }

  private final int maxLag;
  private final long maxLagBytes;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition longer = lock.newCondition();
  private final List<Walker> walkers = new ArrayList<>();
  private volatile Link last;
  private boolean closed;

  /** A chain that begins after commit {@code number}. */
  public Broadcast(long number, Limits limits) {
    this.last = new Link(null, number, 0);
    this.maxLag = limits.subscriberLag();
    this.maxLagBytes = limits.subscriberLagBytes();
  }

  /** The end of the chain. */
  Link last() {
    return last;
  }

  /** Whether {@code newest} is further from a place than a subscriber may stay behind. */
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

  /** Takes in a subscriber; from now on the chain holds what follows its end. */
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
   * Waits until something follows {@code link}, or the time is over, or the chain is closed, or the
   * walker has left.
   *
   * @param nanos how long to wait, which the clock of this machine measures
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

  /** Ends the chain: nothing more will come. */
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
