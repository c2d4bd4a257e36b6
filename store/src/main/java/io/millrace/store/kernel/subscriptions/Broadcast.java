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

  /** A subscriber. The loop calls it on its thread, so it must be quick. */
  interface Walker {
    /** Whether these commits end its wait. */
    boolean wakesFor(List<Event> events);

    /** Called after commits up to {@code last} have been added, if it has not passed them. */
    void published(Link last);

    /** Called instead, if it waits, and they do not end its wait. */
    void passed(Link last);
  }

  private final int maxLag;
  private final long maxLagBytes;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Registration> registrations = new ArrayList<>();
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

  /** Adds durable commits, in order, and wakes the subscribers whose wait they end. */
  public void publish(List<Event> events) {
    lock.lock();
    try {
      if (registrations.isEmpty()) {
        last = new Link(null, events.getLast().number(), last.bytes);
        return;
      }
      for (Event event : events) {
        Link link = new Link(event, event.number(), last.bytes + Sizes.ofShown(event));
        last.next = link;
        last = link;
      }
      registrations.forEach(each -> each.published(events, last));
    } finally {
      lock.unlock();
    }
  }

  /** For a subscriber, which has not joined yet. */
  Registration register(Walker walker) {
    return new Registration(walker);
  }

  /** The number of subscribers. */
  public int size() {
    lock.lock();
    try {
      return registrations.size();
    } finally {
      lock.unlock();
    }
  }

  /** A subscriber of the list. Thread-safe. */
  final class Registration {
    private final Walker walker;
    private final Condition woken = lock.newCondition();

    // Guarded by the lock.
    private boolean waits;
    private boolean left;

    private Registration(Walker walker) {
      this.walker = walker;
    }

    /** Adds the subscriber. From now on, the list has the commits after the returned link. */
    Link join() {
      lock.lock();
      try {
        registrations.add(this);
        return last;
      } finally {
        lock.unlock();
      }
    }

    private void published(List<Event> events, Link end) {
      if (waits && !walker.wakesFor(events)) {
        walker.passed(end);
      } else {
        wake();
        walker.published(end);
      }
    }

    private void wake() {
      waits = false;
      woken.signal();
    }

    /**
     * Waits until commits come that end the wait, the time is over, the list is closed, or the
     * subscriber has left. Does not wait if there is any commit after {@code link}.
     *
     * @param link the last commit that the subscriber has passed
     * @param nanos how long to wait, by the clock of this machine
     */
    void await(Link link, long nanos) throws InterruptedException {
      lock.lock();
      try {
        waits = link.next == null && !closed && !left;
        long rest = nanos;
        while (waits && rest > 0) {
          long turn = Math.min(rest, TimeUnit.DAYS.toNanos(1));
          rest -= turn - woken.awaitNanos(turn);
        }
      } finally {
        waits = false;
        lock.unlock();
      }
    }

    /** Removes the subscriber. */
    void leave() {
      lock.lock();
      try {
        left = true;
        registrations.remove(this);
        wake();
      } finally {
        lock.unlock();
      }
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
      registrations.forEach(Registration::wake);
    } finally {
      lock.unlock();
    }
  }
}
