package io.millrace.graph.store;

import io.millrace.graph.GraphChanges;
import io.millrace.graph.GraphChanges.GraphEvent;
import io.millrace.graph.GraphException.VersionLostException;
import io.millrace.graph.GraphRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The latest changes of the graph, and the streams that wait for them. Safe for threads. */
final class History {
  /** The most nodes of all events together; the last event is kept even if it has more. */
  static final int MAX_NODES = 100_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition news = lock.newCondition();
  private final TreeMap<Long, GraphEvent> events = new TreeMap<>();
  private int nodes;

  /** All events after this version are kept. */
  private long complete;

  private long version;

  private static int size(GraphEvent event) {
    return event.changed().size() + event.removed().size();
  }

  void add(List<GraphEvent> more) {
    lock.lock();
    try {
      for (GraphEvent event : more) {
        events.put(event.version(), event);
        nodes += size(event);
        version = event.version();
      }
      while (nodes > MAX_NODES && events.size() > 1) {
        GraphEvent oldest = events.pollFirstEntry().getValue();
        nodes -= size(oldest);
        complete = oldest.version();
      }
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Continues at a version that was reached by changes that are not known. */
  void restart(long at) {
    lock.lock();
    try {
      events.clear();
      nodes = 0;
      complete = at;
      version = at;
      news.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** As {@link GraphRegistry#changes}. */
  GraphChanges changes(@Nullable Long after) {
    lock.lock();
    try {
      long from = after == null ? version : after;
      check(from);
      return new Changes(from);
    } finally {
      lock.unlock();
    }
  }

  private void check(long after) {
    if (after < complete || after > version) {
      throw new VersionLostException(
          "changes after version " + after + " are not kept; those after " + complete + " are");
    }
  }

  private final class Changes implements GraphChanges {
    private long position;
    private boolean closed;

    Changes(long position) {
      this.position = position;
    }

    @Override
    public List<GraphEvent> next(Duration timeout) throws InterruptedException {
      long nanos = TimeUnit.NANOSECONDS.convert(timeout);
      lock.lockInterruptibly();
      try {
        check(position);
        while (position == version && !closed && nanos > 0) {
          nanos = news.awaitNanos(nanos);
          check(position);
        }
        List<GraphEvent> next = new ArrayList<>(events.tailMap(position, false).values());
        position = version;
        return next;
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void close() {
      lock.lock();
      try {
        closed = true;
        news.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }
}
