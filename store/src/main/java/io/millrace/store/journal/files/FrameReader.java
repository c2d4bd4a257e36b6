package io.millrace.store.journal.files;

import io.millrace.store.environment.DiskFile;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Reads the durable frames of all segments, while others are appended. */
final class FrameReader implements Journal.Reader {
  private static final int PIECE_BYTES = 256 << 10;

  private final Storage storage;
  private final SegmentIndex index;
  private final long position;
  private @Nullable DiskFile file;
  private @Nullable FrameScan scan;
  private volatile long segmentSequence;

  private FrameReader(Storage storage, SegmentIndex index, long position) {
    this.storage = storage;
    this.index = index;
    this.position = position;
  }

  static @Nullable FrameReader open(Storage storage, SegmentIndex index, long position) {
    FrameReader reader = new FrameReader(storage, index, position);
    Segment first = index.enter(reader, position);
    if (first == null) {
      return null;
    }
    try {
      reader.enter(first);
    } catch (JournalException e) {
      index.leave(reader);
      throw e;
    }
    return reader;
  }

  /** The first frame of the current segment. */
  long segmentSequence() {
    return segmentSequence;
  }

  @Override
  public @Nullable Frame next() {
    try {
      while (scan != null) {
        // Read before the next segment is looked up, so that this is the end while there is none.
        long durable = index.readableEnd(segmentSequence);
        // Looked up before reading: a segment with a successor is complete. Bytes between its last
        // frame and the first one of the successor do not belong to the journal.
        @Nullable Segment next = index.after(segmentSequence);
        if (next != null && next.firstSequence() == scan.chain().sequence() + 1) {
          enter(next);
          continue;
        }
        scan.limit(next == null ? durable : index.readableEnd(segmentSequence));
        @Nullable Frame frame = scan.next();
        if (frame != null && frame.position() > position) {
          return frame;
        }
        if (frame == null) {
          // The next segment proves that all frames before it exist.
          refuseDamage(scan, next == null ? durable : Long.MAX_VALUE);
          return null;
        }
      }
      throw new JournalException("this reader is closed");
    } catch (IOException e) {
      throw new JournalException(
          "cannot read " + FileNames.segment(segmentSequence) + " in " + storage.describe(), e);
    }
  }

  /** Throws if the frames end before {@code end}, for example because the disk lost a write. */
  private void refuseDamage(FrameScan stopped, long end) {
    String problem =
        stopped.problem() == null && stopped.offset() < end ? "zeros" : stopped.problem();
    if (problem != null) {
      throw new DamagedJournalException(
          FileNames.segment(segmentSequence), stopped.offset(), problem);
    }
  }

  private void enter(Segment segment) {
    try {
      closeFile();
      segmentSequence = segment.firstSequence();
      DiskFile opened = storage.read(segment.name());
      file = opened;
      scan = new FrameScan(opened, segment, PIECE_BYTES);
    } catch (IOException e) {
      throw new JournalException("cannot open " + segment.name() + " in " + storage.describe(), e);
    }
  }

  private void closeFile() throws IOException {
    if (file != null) {
      file.close();
      file = null;
    }
  }

  @Override
  public void close() {
    index.leave(this);
    scan = null;
    try {
      closeFile();
    } catch (IOException e) {
      throw new JournalException(
          "cannot close " + FileNames.segment(segmentSequence) + " in " + storage.describe(), e);
    }
  }
}
