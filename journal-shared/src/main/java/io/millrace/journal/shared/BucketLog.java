package io.millrace.journal.shared;

import io.millrace.journal.shared.BucketEntry.Boundary;
import io.millrace.journal.shared.Head.FrameMark;
import io.millrace.journal.shared.Head.Row;
import io.millrace.store.journal.DamagedJournalException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The log of a {@link BucketHome}: entries with numbers without gaps, the first of which are
 * removed.
 *
 * <pre>
 *   log/N              entry N: frames, and the head of the journal after them. N has no gaps
 *   boundary/N         the Nth time that entries were removed: the first one that is kept. Never
 *                      deleted
 *
 *   create:     create log/N --exists--> not created
 *                    | created
 *               read the next boundary --N is below--> it was removed and created again: nothing
 *                    | is kept
 *                 created
 * </pre>
 *
 * Creating fences a deposed leader only while the entry exists; the boundary does afterwards. It
 * moves before anything is deleted. For use by one thread at a time.
 */
final class BucketLog {
  /** How many keys are listed at a time. */
  static final int PAGE = 1_000;

  private static final int READ_AHEAD = 16;
  private static final int RECENT_BYTES = 4 << 20;
  private static final String LOG = "log/";

  private final Bucket bucket;

  /** Entries that were read, so that they are not read again at once. */
  private final LinkedHashMap<Long, BucketEntry> recent = new LinkedHashMap<>();

  private long recentBytes;
  private @Nullable BucketEntry tail;
  private Boundary boundary = Boundary.NONE;

  BucketLog(Bucket bucket) {
    this.bucket = bucket;
  }

  /** Creates the first entry of a new store. */
  void prepare(RandomGenerator random) throws IOException {
    if (lastBoundary().number() == 0 && bucket.get(logKey(1)) == null) {
      BucketEntry first = BucketEntry.first(random.nextLong());
      boolean _ = bucket.create(logKey(1), first.content());
    }
  }

  // ---- its end

  /** The last entry, which nobody had continued when this was called. */
  BucketEntry last() throws IOException {
    BucketEntry last = tail;
    while (true) {
      if (last == null) {
        last = locate();
      }
      BucketEntry next = entry(last.number() + 1);
      if (next != null) {
        last = next;
        continue;
      }
      // Below the boundary, entries are missing, or were created after their removal.
      if (lastBoundary().entry() <= last.number()) {
        tail = last;
        return last;
      }
      last = null;
    }
  }

  /** The last entry, found by halving, since the entries after the boundary have no gaps. */
  private BucketEntry locate() throws IOException {
    recent.clear();
    recentBytes = 0;
    long present = lastBoundary().entry();
    long step = 1;
    while (entry(present + step) != null) {
      present += step;
      step *= 2;
    }
    for (long absent = present + step; present + 1 < absent; ) {
      long middle = (present + absent) >>> 1;
      if (entry(middle) == null) {
        absent = middle;
      } else {
        present = middle;
      }
    }
    BucketEntry found = entry(present);
    if (found != null) {
      return found;
    }
    if (lastBoundary().entry() > present) {
      return locate();
    }
    throw new DamagedJournalException(logKey(present), 0, "the object is missing");
  }

  private Boundary lastBoundary() throws IOException {
    if (boundary.number() == 0) {
      long step = 1;
      while (true) {
        byte[] later = bucket.get(boundaryKey(boundary.number() + step));
        if (later != null) {
          boundary = Boundary.read(boundaryKey(boundary.number() + step), later);
          step *= 2;
        } else if (step == 1) {
          return boundary;
        } else {
          step /= 2;
        }
      }
    }
    while (true) {
      String key = boundaryKey(boundary.number() + 1);
      byte[] next = bucket.get(key);
      if (next == null) {
        return boundary;
      }
      boundary = Boundary.read(key, next);
    }
  }

  private @Nullable BucketEntry entry(long number) throws IOException {
    BucketEntry known = recent.get(number);
    if (known != null) {
      return known;
    }
    byte[] content = bucket.get(logKey(number));
    return content == null ? null : keep(BucketEntry.read(logKey(number), number, content));
  }

  private BucketEntry keep(BucketEntry entry) {
    if (recent.putIfAbsent(entry.number(), entry) == null) {
      recentBytes += entry.bytes().capacity();
      while (recentBytes > RECENT_BYTES && recent.size() > 1) {
        recentBytes -= recent.pollFirstEntry().getValue().bytes().capacity();
      }
    }
    return entry;
  }

  /** The last entry that is known, which may have been continued. */
  BucketEntry lastKnown() throws IOException {
    return tail == null ? last() : tail;
  }

  /** The same if it is not before a frame, otherwise the last entry. */
  private BucketEntry lastWith(long sequence) throws IOException {
    return tail == null || tail.end() < sequence ? last() : tail;
  }

  /** The boundary when it was last read. */
  Boundary boundary() {
    return boundary;
  }

  /** Adds an entry to the log; returns false if another one is there, or was. */
  boolean create(BucketEntry entry) throws IOException {
    if (!bucket.create(logKey(entry.number()), entry.content())
        || lastBoundary().entry() > entry.number()) {
      return false;
    }
    tail = keep(entry);
    return true;
  }

  private static String logKey(long number) {
    return LOG + digits(number);
  }

  private static String boundaryKey(long number) {
    return "boundary/" + digits(number);
  }

  /** A number as keys have it, in the order of numbers. */
  static String digits(long number) {
    return "%020d".formatted(number);
  }

  // ---- its frames

  /**
   * The frames from this one, up to about so many bytes; empty if it is not kept, or not there yet.
   */
  List<Row> frames(long from, int maxBytes) throws IOException {
    BucketEntry last = lastWith(from);
    BucketEntry found = entryOf(from, last);
    List<Row> rows = new ArrayList<>();
    long bytes = 0;
    for (long next = found == null ? Long.MAX_VALUE : found.number();
        next <= last.number() && bytes < maxBytes; ) {
      List<BucketEntry> read = entries(next, Math.min(last.number(), next + READ_AHEAD - 1));
      if (read.isEmpty()) {
        break;
      }
      for (BucketEntry entry : read) {
        for (Row row : entry.rows(logKey(entry.number()))) {
          if (row.sequence() >= from && (bytes < maxBytes || rows.isEmpty())) {
            rows.add(row);
            bytes += row.frame().remaining();
          }
        }
      }
      next += read.size();
    }
    return rows;
  }

  /** What is known of a frame; null if it is not kept, or not there yet. */
  @Nullable FrameMark mark(long sequence) throws IOException {
    BucketEntry found = entryOf(sequence, lastWith(sequence));
    if (found == null) {
      return null;
    }
    for (Row row : found.rows(logKey(found.number()))) {
      if (row.sequence() == sequence) {
        return new FrameMark(row.position(), row.timeMillis(), row.totalBytes());
      }
    }
    return null;
  }

  /** The entries with these numbers, or those before the first one that is missing. */
  private List<BucketEntry> entries(long from, long to) throws IOException {
    List<BucketEntry> entries = new ArrayList<>();
    BucketEntry known = recent.get(from);
    if (known != null) {
      entries.add(known);
      return entries;
    }
    List<String> keys = new ArrayList<>();
    for (long number = from; number <= to; number++) {
      keys.add(logKey(number));
    }
    for (byte[] content : bucket.getAll(keys)) {
      if (content == null) {
        break;
      }
      long number = from + entries.size();
      entries.add(BucketEntry.read(logKey(number), number, content));
    }
    return entries;
  }

  /** The entry that has a frame; null if it is not kept, or not there yet. */
  private @Nullable BucketEntry entryOf(long sequence, BucketEntry last) throws IOException {
    while (sequence <= last.end()) {
      long first = boundary.entry();
      BucketEntry found = search(sequence, first, last.number());
      if (found != null) {
        return sequence <= found.end() - found.frames() ? null : found;
      }
      if (lastBoundary().entry() == first) {
        return null;
      }
      // Entries were removed meanwhile; that of the frame may be there.
    }
    return null;
  }

  /** The first entry whose end is not before a frame; null if one on the way is missing. */
  private @Nullable BucketEntry search(long sequence, long from, long to) throws IOException {
    long low = from;
    long high = to;
    while (low < high) {
      long middle = (low + high) >>> 1;
      BucketEntry entry = entry(middle);
      if (entry == null) {
        return null;
      }
      if (entry.end() < sequence) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return entry(low);
  }

  // ---- what is removed

  /**
   * Moves the boundary to the entry that has a frame, at most to {@code last}.
   *
   * @return false if another one has moved it
   */
  boolean keepFrom(long first, long firstPosition, BucketEntry last) throws IOException {
    BucketEntry kept = entryOf(first, last);
    long entry = kept == null ? last.number() : kept.number();
    return move(
        new Boundary(boundary.number() + 1, entry, last.head().journalId(), first, firstPosition));
  }

  /** Moves the boundary after an entry, with which the journal before has ended. */
  void removeThrough(BucketEntry last, long journalId) throws IOException {
    while (lastBoundary().entry() <= last.number()) {
      boolean _ = move(new Boundary(boundary.number() + 1, last.number() + 1, journalId, 1, 0));
    }
  }

  private boolean move(Boundary next) throws IOException {
    boolean moved = bucket.create(boundaryKey(next.number()), next.content());
    if (moved) {
      boundary = next;
    }
    return moved;
  }

  /** Deletes all entries below the boundary. */
  void deleteRemoved() throws IOException {
    delete(bucket, LOG, logKey(lastBoundary().entry()));
  }

  /** Deletes what begins with a prefix and comes before {@code end}, if that is not empty. */
  static void delete(Bucket bucket, String prefix, String end) throws IOException {
    while (true) {
      List<String> keys =
          bucket.list(prefix, "", PAGE).stream()
              .filter(key -> end.isEmpty() || key.compareTo(end) < 0)
              .toList();
      if (!keys.isEmpty()) {
        bucket.delete(keys);
      }
      if (keys.size() < PAGE) {
        return;
      }
    }
  }
}
