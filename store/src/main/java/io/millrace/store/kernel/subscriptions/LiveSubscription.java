package io.millrace.store.kernel.subscriptions;

import io.millrace.store.Bytes;
import io.millrace.store.Commit;
import io.millrace.store.Commit.Change;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.PositionLostException.Why;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.Task;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.GroupParts;
import io.millrace.store.kernel.records.JournalRecord;
import io.millrace.store.kernel.records.RecordException;
import io.millrace.store.kernel.records.RecordReader;
import io.millrace.store.kernel.records.Records;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A subscription that reads the journal while it is behind, and otherwise follows the list of new
 * commits.
 *
 * <p>If a subscriber does not ask for the next commit and falls behind further than the limits
 * allow, it loses its link in the list, and an open reader of the journal is closed, so that it
 * keeps neither commits nor segments. When it asks again, it continues in the journal; if the
 * journal no longer has its next commit, it was too slow.
 */
public final class LiveSubscription implements Subscription, Broadcast.Walker {
  private static final Logger LOG = LoggerFactory.getLogger(LiveSubscription.class);

  private final Interest interest;
  private final Position start;
  private final Broadcast broadcast;
  private final Broadcast.Registration registration;
  private final Journal.Leader journal;
  private final Environment environment;
  private final Consumer<String> refuseToWait;

  /** Held while the journal is read, so that the reader is not closed meanwhile. */
  private final ReentrantLock reading = new ReentrantLock();

  private final Deque<Event> past = new ArrayDeque<>();
  private final GroupParts parts = new GroupParts();

  /** Whether the reader has begun one commit before those that are wanted. */
  private boolean wholeGroups;

  /** The reader of the journal; null if it is not open. Guarded by {@link #reading}. */
  private Journal.@Nullable Reader reader;

  /**
   * The last link of the list that was passed. While the journal is still read, commits after this
   * link need not be read from it. Null for none: all commits come from the journal.
   */
  private final AtomicReference<Broadcast.@Nullable Link> place = new AtomicReference<>();

  /** Whether the next commit comes from the journal. For the subscriber's thread. */
  private boolean behind;

  /** The end of the list when the subscriber last asked. */
  private volatile long askedAt;

  private volatile long askedAtBytes;

  /** When the wait for the next commit ends, by the clock of the environment. */
  private volatile long waitsUntilNanos;

  /** The last commit that was delivered or skipped. The loop sets it while the subscriber waits. */
  private long passed;

  private volatile boolean closed;

  /**
   * A subscription to the commits after {@code start}, which counts as open from now on. Call
   * {@link #open} next.
   *
   * @param live whether there are no durable commits after {@code start}, so that it begins at the
   *     end of the list
   * @param refuseToWait throws if the current thread, which wants to do this, must not wait
   */
  public LiveSubscription(
      Interest interest,
      Position start,
      boolean live,
      Broadcast broadcast,
      Journal.Leader journal,
      Environment environment,
      Consumer<String> refuseToWait) {
    this.interest = interest;
    this.start = start;
    this.broadcast = broadcast;
    this.journal = journal;
    this.environment = environment;
    this.refuseToWait = refuseToWait;
    this.passed = start.number();
    this.behind = !live;
    this.registration = broadcast.register(this);
    Broadcast.Link end = registration.join();
    this.askedAt = end.number();
    this.askedAtBytes = end.bytes();
    if (live) {
      place.set(end);
    }
  }

  /**
   * Opens the journal if the subscription begins in the past.
   *
   * @throws PositionLostException if the journal does not go back that far; the subscription is
   *     then closed
   */
  public LiveSubscription open() {
    reading.lock();
    try {
      if (behind && !openReader()) {
        throw new PositionLostException(
            Why.GONE, start, "the commits after position " + start + " are no longer kept");
      }
      return this;
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    } finally {
      reading.unlock();
    }
  }

  /** Opens the journal after the last commit delivered; returns false if that is no longer kept. */
  private boolean openReader() {
    wholeGroups = false;
    reader = journal.read(passed);
    return reader != null;
  }

  @Override
  public Position start() {
    return start;
  }

  /** The bytes of the commits that this subscriber keeps in memory. */
  public long keptBytes() {
    Broadcast.Link at = place.get();
    return at == null ? 0 : broadcast.last().bytes() - at.bytes();
  }

  @Override
  public boolean wakesFor(List<Event> events) {
    return environment.nanos() - waitsUntilNanos >= 0
        || events.stream().anyMatch(event -> event.changes().stream().anyMatch(interest::includes));
  }

  @Override
  public void passed(Broadcast.Link last) {
    Broadcast.Link at = place.get();
    if (at != null && place.compareAndSet(at, last)) {
      passed = last.number();
    }
  }

  @Override
  public void published(Broadcast.Link last) {
    Broadcast.Link at = place.get();
    if (at != null) {
      if (broadcast.isTooFar(at.number(), at.bytes(), last)) {
        place.compareAndSet(at, null);
      }
    } else if (broadcast.isTooFar(askedAt, askedAtBytes, last) && reading.tryLock()) {
      try {
        closeReader();
      } catch (JournalException e) {
        LOG.warn(
            "the journal's reader of a slow subscriber could not be closed: {}", e.getMessage());
      } finally {
        reading.unlock();
      }
    }
  }

  @Override
  public @Nullable Commit next(Duration timeout) throws InterruptedException {
    long end = environment.nanos() + timeout.toNanos();
    Broadcast.Link last = broadcast.last();
    askedAt = last.number();
    askedAtBytes = last.bytes();
    while (true) {
      Event event = poll(Math.max(0, end - environment.nanos()));
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
      boolean live = !behind;
      Event event = live ? walk(nanos) : readPast();
      if (event != null) {
        if (event.number() > passed) {
          return event;
        }
      } else if (live && !behind && !closed) {
        return null;
      }
    }
  }

  /** The next commit from the journal; null if there is none, or the list has the next one. */
  private @Nullable Event readPast() {
    reading.lock();
    try {
      if (closed) {
        return null;
      }
      if (reader == null && !openReader()) {
        throw tooSlow();
      }
      return readPast(Objects.requireNonNull(reader));
    } catch (StoreException e) {
      abandonReader(e);
      if (e instanceof JournalException && broadcast.isClosed()) {
        throw new StoreClosedException("the store is closed", e);
      }
      throw e;
    } finally {
      reading.unlock();
    }
  }

  /** Closes a reader that has failed; the next one begins after the last commit delivered. */
  private void abandonReader(StoreException failure) {
    try {
      closeReader();
    } catch (JournalException e) {
      failure.addSuppressed(e);
    }
  }

  private @Nullable Event readPast(Journal.Reader journalReader) {
    if (past.isEmpty()) {
      Frame frame = journalReader.next();
      if (frame == null) {
        // Read once more after the link is set: then no commit is missed between journal and list.
        if (!place.compareAndSet(null, broadcast.last())) {
          goLive();
        }
        return null;
      }
      ByteBuffer group = addPart(frame);
      if (group == null) {
        return null;
      }
      RecordReader records = new RecordReader(group);
      while (!records.atEnd()) {
        if (Records.read(records) instanceof JournalRecord.Committed(Event event)) {
          past.add(event);
        }
      }
    }
    Event event = past.poll();
    Broadcast.Link at = place.get();
    if (event != null && at != null && event.number() >= at.number()) {
      goLive();
    }
    return event;
  }

  /**
   * Adds a frame; returns the records of a whole group, or null. The first parts of a divided group
   * have the position before it. If the reader has begun after them, it begins one commit earlier.
   */
  private @Nullable ByteBuffer addPart(Frame frame) {
    try {
      return parts.add(frame.payload());
    } catch (RecordException e) {
      closeReader();
      reader = wholeGroups ? null : journal.read(passed - 1);
      wholeGroups = true;
      if (reader == null) {
        PositionLostException lost = tooSlow();
        lost.initCause(e);
        throw lost;
      }
      return null;
    }
  }

  private PositionLostException tooSlow() {
    return new PositionLostException(
        Why.TOO_SLOW,
        new Position(start.history(), passed),
        "too slow: the commits after commit " + passed + " are no longer kept");
  }

  private void goLive() {
    closeReader();
    behind = false;
  }

  private void closeReader() {
    past.clear();
    parts.clear();
    Journal.Reader open = reader;
    reader = null;
    if (open != null) {
      open.close();
    }
  }

  /** The next commit of the list; null if there is none yet, or the link is lost. */
  private @Nullable Event walk(long nanos) throws InterruptedException {
    Broadcast.Link link = place.get();
    if (link != null && link.next() == null && nanos > 0) {
      refuseToWait.accept("waiting for the next commit");
      waitsUntilNanos = environment.nanos() + nanos;
      registration.await(link, nanos);
      // It may be a later one, or have been lost.
      link = place.get();
    }
    if (link == null) {
      behind = true;
      return null;
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
    // If the link was lost meanwhile, this commit can still be delivered.
    place.compareAndSet(link, following);
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

  /** Removes data that was kept, because commits from the journal do not have it either. */
  private static Change withoutKeptData(Change change) {
    return change instanceof Change.Changed(long oldId, Task task, boolean kept) && kept
        ? new Change.Changed(oldId, task.withData(Bytes.EMPTY), true)
        : change;
  }

  @Override
  public void close() {
    closed = true;
    reading.lock();
    try {
      closeReader();
    } finally {
      reading.unlock();
      registration.leave();
      place.set(null);
    }
  }
}
