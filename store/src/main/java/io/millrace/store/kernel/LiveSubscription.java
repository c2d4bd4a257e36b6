package io.millrace.store.kernel;

import io.millrace.store.Bytes;
import io.millrace.store.Change;
import io.millrace.store.Commit;
import io.millrace.store.Interest;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.PositionLostException.Why;
import io.millrace.store.StoreClosedException;
import io.millrace.store.Subscription;
import io.millrace.store.Task;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A subscription that first reads the journal, where it begins in the past, and then walks the
 * chain of new commits.
 */
final class LiveSubscription implements Subscription, Broadcast.Walker {
  private final Interest interest;
  private final Position start;
  private final Broadcast broadcast;

  /** Held while the past is read, so that its reader is not closed under who reads. */
  private final Object reading = new Object();

  private final Deque<Event> past = new ArrayDeque<>();
  private volatile Journal.@Nullable Reader reader;
  private volatile Broadcast.@Nullable Link place;

  /** Once in the chain, commits up to here come from the journal. */
  private volatile long joinedAt = Long.MAX_VALUE;

  private volatile long passed;
  private volatile boolean cutOff;
  private volatile boolean closed;

  /**
   * A subscription to what follows {@code start}.
   *
   * @param reader reads the journal from there; null where nothing durable follows
   */
  LiveSubscription(
      Interest interest, Position start, Broadcast broadcast, Journal.@Nullable Reader reader) {
    this.interest = interest;
    this.start = start;
    this.broadcast = broadcast;
    this.reader = reader;
    this.passed = start.number();
    if (reader == null) {
      join();
    }
  }

  @Override
  public Position start() {
    return start;
  }

  @Override
  public long passed() {
    // While the past is read, what is in the chain waits, and only that counts as lag. A publisher
    // may ask while this is joining: joinedAt is then still the largest number, and nothing waits.
    return reader == null ? passed : Math.max(passed, joinedAt);
  }

  @Override
  public void cutOff() {
    cutOff = true;
    place = null;
  }

  private void join() {
    Broadcast.Link link = broadcast.join(this);
    joinedAt = link.number();
    place = link;
  }

  @Override
  public @Nullable Commit next(Duration timeout) throws InterruptedException {
    long end = System.nanoTime() + timeout.toNanos();
    while (true) {
      Event event = poll(Math.max(0, end - System.nanoTime()));
      if (event == null) {
        return null;
      }
      passed = event.number();
      Commit commit = select(event);
      if (!commit.changes().isEmpty()) {
        return commit;
      }
    }
  }

  private @Nullable Event poll(long nanos) throws InterruptedException {
    while (true) {
      if (closed) {
        throw new StoreClosedException("the subscription is closed");
      }
      if (cutOff) {
        throw new PositionLostException(
            Why.TOO_SLOW,
            new Position(start.history(), passed),
            "too slow: cut off after commit " + passed);
      }
      boolean live = reader == null;
      Event event = live ? walk(nanos) : readPast();
      if (event != null) {
        if (event.number() > passed) {
          return event;
        }
      } else if (live && !closed && !cutOff) {
        return null;
      }
    }
  }

  /** The next commit from the journal; null when there is none, or the chain takes over. */
  private @Nullable Event readPast() {
    synchronized (reading) {
      Journal.Reader journal = reader;
      return journal == null ? null : readPast(journal);
    }
  }

  private @Nullable Event readPast(Journal.Reader journal) {
    if (past.isEmpty()) {
      Frame frame = journal.next();
      if (frame == null) {
        if (joinedAt == Long.MAX_VALUE) {
          join();
          return null;
        }
        stopReading();
        return null;
      }
      RecordReader records = new RecordReader(frame.payload());
      while (!records.atEnd()) {
        if (Records.read(records) instanceof JournalRecord.Committed(Event event)) {
          past.add(event);
        }
      }
    }
    Event event = past.poll();
    if (event != null && event.number() >= joinedAt) {
      stopReading();
    }
    return event;
  }

  private void stopReading() {
    Journal.Reader journal = reader;
    reader = null;
    if (journal != null) {
      journal.close();
    }
  }

  private @Nullable Event walk(long nanos) throws InterruptedException {
    Broadcast.Link link = place;
    if (link == null) {
      return null;
    }
    if (link.next() == null) {
      broadcast.await(this, link, nanos);
    }
    Broadcast.Link following = link.next();
    if (following == null) {
      if (closed) {
        throw new StoreClosedException("the subscription is closed");
      }
      if (broadcast.isClosed()) {
        throw new StoreClosedException("the store is closed");
      }
      return null;
    }
    place = following;
    return following.event();
  }

  private Commit select(Event event) {
    List<Change> changes = new ArrayList<>(event.changes().size());
    for (Change change : event.changes()) {
      if (interest.includes(change)) {
        changes.add(withoutKeptData(change));
      }
    }
    return new Commit(
        new Position(start.history(), event.number()),
        event.timeMillis(),
        event.client(),
        event.override(),
        List.copyOf(changes));
  }

  /** The journal does not repeat data that was kept, so the chain does not show it either. */
  private static Change withoutKeptData(Change change) {
    return change instanceof Change.Changed(long oldId, Task task, boolean kept) && kept
        ? new Change.Changed(oldId, Tasks.withData(task, Bytes.EMPTY), true)
        : change;
  }

  @Override
  public void close() {
    closed = true;
    synchronized (reading) {
      stopReading();
      broadcast.leave(this);
    }
  }
}
