package io.millrace.store.journal;

import io.millrace.store.StoreException;
import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Environment;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/** Reads a folder once, from the newest whole snapshot to the last frame. */
final class Recovery {
  private static final int PIECE_BYTES = 4 << 20;

  /**
   * Where the journal goes on.
   *
   * @param file the last segment, open
   */
  record Ending(
      DiskFile file, long sizeBytes, long offset, long journalId, Chain chain, String notice) {}

  private final Environment environment;
  private final Storage storage;
  private final FileJournalOptions options;
  private final List<Long> passedOver = new ArrayList<>();
  private final StringJoiner notices = new StringJoiner("; ");

  Recovery(Environment environment, Storage storage, FileJournalOptions options) {
    this.environment = environment;
    this.storage = storage;
    this.options = options;
  }

  /** Adds every usable segment to {@code extent}; {@code newId} names a journal that is new. */
  Ending run(Journal.Replay replay, Extent extent, long newId) throws IOException {
    List<String> names = storage.list();
    List<Long> snapshots = FileNames.numbers(names, FileNames.SNAPSHOT);
    List<Long> segments = FileNames.numbers(names, FileNames.SEGMENT);
    long first = segments.isEmpty() ? Long.MAX_VALUE : segments.getFirst();
    Chain loaded =
        new SnapshotLoad(environment, storage, replay, notices::add).newest(snapshots, first);
    long base = loaded.sequence();
    for (long snapshot : snapshots) {
      if (snapshot > base) {
        passedOver.add(snapshot);
      }
    }
    if (segments.isEmpty()) {
      removeTemporary(names);
      return begin(new SegmentHeader(newId, loaded), extent);
    }
    List<Segment> usable = headers(segments, base);
    long newestSnapshot = snapshots.isEmpty() ? 0 : snapshots.getLast();
    Ending ending = replayAll(usable, base, newestSnapshot, replay);
    removeTemporary(names);
    Segment last = usable.removeLast();
    usable.forEach(extent::add);
    extent.add(new Segment(last.header(), ending.sizeBytes()));
    extent.durableUpTo(ending.offset());
    return ending;
  }

  /** The snapshots that are newer than the one chosen, and damaged. */
  List<Long> passedOver() {
    return passedOver;
  }

  /** The headers of all segments, of which only those that are needed must be whole. */
  private List<Segment> headers(List<Long> sequences, long base) throws IOException {
    List<Segment> usable = new ArrayList<>();
    for (int i = sequences.size() - 1; i >= 0; i--) {
      long sequence = sequences.get(i);
      boolean needed = i == sequences.size() - 1 || sequences.get(i + 1) > base + 1;
      try (DiskFile file = storage.read(FileNames.segment(sequence))) {
        Segment segment = new Segment(SegmentHeader.read(file, sequence), file.size());
        if (!usable.isEmpty()
            && usable.getFirst().header().journalId() != segment.header().journalId()) {
          throw new DamagedJournalException(segment.name(), 8, "this is of another journal");
        }
        usable.addFirst(segment);
      } catch (DamagedJournalException damage) {
        if (needed) {
          throw damage;
        }
        notices.add("segments up to " + damage.file() + " cannot be read: " + damage.getMessage());
        break;
      }
    }
    return usable;
  }

  private Ending replayAll(
      List<Segment> segments, long base, long newestSnapshot, Journal.Replay replay)
      throws IOException {
    int start = 0;
    for (int i = 0; i < segments.size(); i++) {
      if (segments.get(i).firstSequence() <= base + 1) {
        start = i;
      }
    }
    for (int i = start; i < segments.size(); i++) {
      Segment segment = segments.get(i);
      DiskFile file = storage.open(segment.name());
      boolean keepOpen = false;
      try {
        FrameScan scan = new FrameScan(file, segment.header(), segment.sizeBytes(), PIECE_BYTES);
        ArrayDeque<long[]> uncertain = new ArrayDeque<>();
        long at = scan.offset();
        for (@Nullable Frame frame = scan.next(); frame != null; frame = scan.next()) {
          uncertain.add(new long[] {frame.sequence(), at});
          while (!uncertain.isEmpty() && uncertain.getFirst()[0] <= frame.durableSequence()) {
            uncertain.remove();
          }
          at = scan.offset();
          if (frame.sequence() > base) {
            deliver(frame, segment, scan.offset(), replay);
          }
        }
        if (i < segments.size() - 1) {
          refuseGap(scan, segment, segments.get(i + 1).header());
        } else {
          Ending ending = end(file, segment, scan, newestSnapshot);
          rewrite(file, uncertain.isEmpty() ? at : uncertain.getFirst()[1], at);
          file.sync();
          keepOpen = true;
          return ending;
        }
      } finally {
        if (!keepOpen) {
          file.close();
        }
      }
    }
    throw new IllegalStateException("a journal without segments");
  }

  /** What the replay cannot read is damage too, though its checksums are right. */
  private static void deliver(Frame frame, Segment segment, long end, Journal.Replay replay) {
    try {
      replay.frame(frame);
    } catch (StoreException e) {
      long at = end - FrameFormat.sizeBytes(frame.payload().remaining());
      throw new DamagedJournalException(
          segment.name(), at, "frame " + frame.sequence() + ": " + e.getMessage(), e);
    }
  }

  private static void refuseGap(FrameScan scan, Segment segment, SegmentHeader next) {
    if (!scan.chain().equals(next.before())) {
      String problem = scan.problem();
      throw new DamagedJournalException(
          segment.name(),
          scan.offset(),
          (problem == null ? "the frames end" : problem)
              + " after frame "
              + scan.chain().sequence()
              + ", but "
              + FileNames.segment(next.firstSequence())
              + " begins with frame "
              + next.firstSequence());
    }
  }

  private Ending end(DiskFile file, Segment segment, FrameScan scan, long newestSnapshot)
      throws IOException {
    if (scan.chain().sequence() < newestSnapshot) {
      throw new DamagedJournalException(
          segment.name(),
          scan.offset(),
          "the frames end after frame "
              + scan.chain().sequence()
              + ", but there is a snapshot of frame "
              + newestSnapshot);
    }
    TornTail torn = TornTail.examine(file, segment, scan);
    if (!torn.isEmpty()) {
      notices.add(torn.cut(file, segment, storage));
    }
    storage.sync();
    return new Ending(
        file,
        file.size(),
        scan.offset(),
        segment.header().journalId(),
        scan.chain(),
        notices.toString());
  }

  /**
   * Writes again what no later frame says was durable. After a sync that failed in an earlier life
   * the file system may hold it in memory and believe it written, so that a sync alone does
   * nothing.
   */
  private static void rewrite(DiskFile file, long from, long to) throws IOException {
    ByteBuffer piece = ByteBuffer.allocateDirect((int) Math.min(PIECE_BYTES, to - from));
    for (long at = from; at < to; at += piece.limit()) {
      piece.clear().limit((int) Math.min(piece.capacity(), to - at));
      file.read(at, piece);
      file.write(at, piece.flip());
    }
  }

  private Ending begin(SegmentHeader header, Extent extent) throws IOException {
    Segment segment = new SpareSegment(storage, options.segmentBytes()).publish(header, 0);
    extent.add(segment);
    return new Ending(
        storage.open(segment.name()),
        segment.sizeBytes(),
        SegmentHeader.BLOCK_BYTES,
        header.journalId(),
        header.before(),
        notices.toString());
  }

  private void removeTemporary(List<String> names) throws IOException {
    for (String name : names) {
      if (name.endsWith(FileNames.TEMPORARY)) {
        storage.discard(name);
      }
    }
  }
}
