package io.millrace.store.kernel.snapshots;

import io.millrace.store.Document;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.History;
import io.millrace.store.kernel.records.JournalRecord;
import io.millrace.store.kernel.records.RecordWriter;
import io.millrace.store.kernel.records.Records;
import io.millrace.store.kernel.state.FrozenState;
import io.millrace.store.kernel.state.Listings;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/**
 * Lists the records of a snapshot: counters, waiting tasks, held tasks, documents, starts,
 * requests.
 */
final class SnapshotRecords {
  /** The size at which a part is written, in bytes. */
  private static final int PART = 256 << 10;

  private SnapshotRecords() {}

  /**
   * The records of {@code state}.
   *
   * @param forks see {@link JournalRecord.Counters}
   */
  static Iterator<JournalRecord> of(FrozenState state, History history, boolean forks) {
    JournalRecord counters =
        new JournalRecord.Counters(
            state.lastId(), state.commits(), state.timeMillis(), forks, history);
    Iterator<Iterator<JournalRecord>> waiting =
        Listings.map(
            state.groups(),
            group -> Listings.map(group.frozenWaiting(), JournalRecord.KeptTask::new));
    Iterator<Iterator<JournalRecord>> held =
        Listings.map(
            state.groups(), group -> Listings.map(group.frozenHeld(), JournalRecord.KeptTask::new));
    return new Chain<>(
        List.of(
                List.of(counters).iterator(),
                new Chain<>(waiting),
                new Chain<>(held),
                Listings.<Document, JournalRecord>map(
                    state.documents(), JournalRecord.KeptDocument::new),
                Listings.<JournalRecord.KeptStarts, JournalRecord>map(state.starts(), each -> each),
                Listings.<Event, JournalRecord>map(
                    state.requests(), JournalRecord.KeptRequest::new))
            .iterator());
  }

  /** Fills a part; returns false if there are no more records. */
  static boolean fill(RecordWriter part, Iterator<JournalRecord> records) {
    while (part.size() < PART && records.hasNext()) {
      Records.write(part, records.next());
    }
    return !part.isEmpty();
  }

  /**
   * A concatenation of iterators. A stream is not used, because its iterator would collect a whole
   * group before it returned the first task.
   */
  private static final class Chain<T> implements Iterator<T> {
    private final Iterator<Iterator<T>> links;
    private Iterator<T> current = Collections.emptyIterator();

    Chain(Iterator<Iterator<T>> links) {
      this.links = links;
    }

    @Override
    public boolean hasNext() {
      while (!current.hasNext() && links.hasNext()) {
        current = links.next();
      }
      return current.hasNext();
    }

    @Override
    public T next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return current.next();
    }
  }
}
