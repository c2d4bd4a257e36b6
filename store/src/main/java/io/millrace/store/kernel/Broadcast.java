package io.millrace.store.kernel;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The durable commits as a chain that the loop lengthens and subscribers walk, each at its own
 * place; what all have passed is garbage.
 */
final class Broadcast {
  /** A commit in the chain, or the place before the first. */
  static final class Link {
    private final @Nullable Event event;
    private final long number;
    private volatile @Nullable Link next;

    private Link(@Nullable Event event, long number) {
      this.event = event;
      this.number = number;
    }

    @Nullable Event event() {
      return event;
    }

    /** The number of this commit, or of the last one before the chain. */
    long number() {
      return number;
    }

    @Nullable Link next() {
      return next;
    }
  }

  /** One who walks the chain; told when it is too far behind. */
  interface Walker {
    /** The number of the last commit that it has passed. */
    long passed();

    /** Takes its place in the chain away, so that the chain behind it can be freed. */
    void cutOff();
  }

  private final int maxLag;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition longer = lock.newCondition();
  private final List<Walker> walkers = new ArrayList<>();
  private Link last;
  private boolean closed;

  Broadcast(long number, int maxLag) {
    this.last = new Link(null, number);
    this.maxLag = maxLag;
  }

  /** Adds durable commits, in order. */
  void publish(List<Event> events) {
    lock.lock();
    try {
      if (walkers.isEmpty()) {
        last = new Link(null, events.getLast().number());
        return;
      }
      for (Event event : events) {
        Link link = new Link(event, event.number());
        last.next = link;
        last = link;
      }
      for (Walker walker : walkers) {
        if (last.number - walker.passed() > maxLag) {
          walker.cutOff();
        }
      }
      longer.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The end of the chain, from which {@code walker} may walk on. */
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

  int size() {
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
  void close() {
    lock.lock();
    try {
      closed = true;
      longer.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
