package io.millrace.store.journal.files;

import io.millrace.store.journal.Chain;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Retention;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The segments of a journal, and the durable end of the last one. Thread-safe. */
final class SegmentIndex {
  private final List<Segment> segments = new ArrayList<>();
  private final List<FrameReader> readers = new ArrayList<>();
  private long durableEnd = SegmentHeader.BLOCK_BYTES;
  private long readableFrom;

  synchronized void add(Segment segment) {
    if (!segments.isEmpty() && isLast(segment.firstSequence())) {
      // A crash left the last segment without a complete frame, and the new one has replaced it.
      segments.removeLast();
    }
    segments.add(segment);
    durableEnd = SegmentHeader.BLOCK_BYTES;
  }

  synchronized void durableUpTo(long offset) {
    durableEnd = offset;
  }

  /** Whether the segment that begins with {@code firstSequence} is the last. */
  private boolean isLast(long firstSequence) {
    return segments.getLast().firstSequence() == firstSequence;
  }

  /** The segment after the one that begins with {@code firstSequence}; null for the last. */
  synchronized @Nullable Segment after(long firstSequence) {
    int next = segments.indexOf(at(firstSequence)) + 1;
    return next < segments.size() ? segments.get(next) : null;
  }

  /**
   * Notes that not all commits up to {@code position} are readable, although files contain them.
   */
  synchronized void readableFrom(long position) {
    readableFrom = Math.max(readableFrom, position);
  }

  /** The offset up to which the segment that begins with {@code firstSequence} may be read. */
  synchronized long readableEnd(long firstSequence) {
    return isLast(firstSequence) ? durableEnd : at(firstSequence).sizeBytes();
  }

  /** The segment that begins with {@code firstSequence}. */
  synchronized Segment at(long firstSequence) {
    for (Segment segment : segments) {
      if (segment.firstSequence() == firstSequence) {
        return segment;
      }
    }
    throw new DamagedJournalException(
        FileNames.segment(firstSequence), 0, "this segment is missing");
  }

  /**
   * Registers a reader. Its current segment and all later ones are kept until it is closed.
   *
   * @return its first segment; null if that has been removed or is damaged
   */
  synchronized @Nullable Segment enter(FrameReader reader, long position) {
    long least = Math.max(0, position);
    if (segments.isEmpty()
        || segments.getFirst().positionBefore() > least
        || readableFrom > least) {
      return null;
    }
    Segment found = segments.getFirst();
    for (Segment segment : segments) {
      if (segment.positionBefore() <= position) {
        found = segment;
      }
    }
    readers.add(reader);
    return found;
  }

  synchronized void leave(FrameReader reader) {
    readers.remove(reader);
  }

  /**
   * Removes the segments that are no longer needed, oldest first; returns their names.
   *
   * @param nowMillis the store time of the newest frame
   */
  synchronized List<String> trim(
      long keepFromSequence, long keepAfterPosition, Retention retention, long nowMillis) {
    long keep = keepFromSequence;
    for (FrameReader reader : readers) {
      keep = Math.min(keep, reader.segmentSequence());
    }
    long totalBytes = segments.stream().mapToLong(Segment::sizeBytes).sum();
    List<String> removed = new ArrayList<>();
    while (segments.size() > 1) {
      Chain end = segments.get(1).header().before();
      if (end.sequence() >= keep
          || end.position() > keepAfterPosition
          || retention.keeps(totalBytes, nowMillis - end.timeMillis())) {
        break;
      }
      Segment first = segments.removeFirst();
      totalBytes -= first.sizeBytes();
      removed.add(first.name());
    }
    return removed;
  }
}
