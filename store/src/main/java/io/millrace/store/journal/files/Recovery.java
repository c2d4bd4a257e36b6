package io.millrace.store.journal.files;

import io.millrace.store.StoreException;
import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.FrameCodec;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.files.FrameScan.TornTail;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * Recovers a journal: reads its folder once, from the newest complete snapshot to the last frame.
 */
final class Recovery {
  private static final int PIECE_BYTES = 4 << 20;

  /**
   * The end of the journal, where new frames are written.
   *
   * @param file the last segment, open
   * @param sizeBytes the offset up to which frames may be written to it
   */
  record Ending(
      DiskFile file, long sizeBytes, long offset, long journalId, Chain chain, String notice) {}

  private final Environment environment;
  private final Storage storage;
  private final FileJournalOptions options;
  private final List<Long> passedOver = new ArrayList<>();
  private final StringJoiner notices = new StringJoiner("; ");
  private Chain loaded = Chain.START;
  private int cuts;
  private long lostEpochs;

  Recovery(Environment environment, Storage storage, FileJournalOptions options) {
    this.environment = environment;
    this.storage = storage;
    this.options = options;
  }

  /** Adds every usable segment to {@code index}. {@code newId} is the id of a new journal. */
  Ending run(Journal.Replay replay, SegmentIndex index, long newId) throws IOException {
    List<String> names = storage.list();
    FileNames.requireComplete(names, storage.describe());
    List<Long> snapshots = FileNames.numbers(names, FileNames.SNAPSHOT);
    List<Long> segments = FileNames.numbers(names, FileNames.SEGMENT);
    long first = segments.isEmpty() ? Long.MAX_VALUE : segments.getFirst();
    loaded = new SnapshotLoad(environment, storage, replay, notices::add).newest(snapshots, first);
    long base = loaded.sequence();
    for (long snapshot : snapshots) {
      if (snapshot > base) {
        passedOver.add(snapshot);
      }
    }
    if (segments.isEmpty()) {
      removeTemporary(names);
      return begin(SegmentHeader.following(newId, loaded), index);
    }
    List<Segment> usable = headers(segments, base);
    long newestSnapshot = snapshots.isEmpty() ? 0 : snapshots.getLast();
    Ending ending = replayAll(usable, newestSnapshot, replay, index);
    removeTemporary(names);
    return ending;
  }

  /** See {@link Journal.Tail}. */
  int cuts() {
    return cuts;
  }

  /** See {@link Journal.Tail}. */
  long lostEpochs() {
    return lostEpochs;
  }

  /**
   * Records durably that an epoch begins, before its first frame is written. So the next recovery
   * knows how many epochs have begun, even if it cannot read their frames.
   *
   * @param last the epoch of the last frame
   * @return the new epoch
   */
  long beginEpoch(long last) throws IOException {
    List<Long> known = FileNames.numbers(storage.list(), FileNames.EPOCH);
    long newest = known.isEmpty() ? 0 : known.getLast();
    // Without this file of earlier versions, assume that one epoch began in the unreadable part.
    lostEpochs = cuts == 0 ? 0 : known.isEmpty() || newest < last ? 1 : newest - last;
    long epoch = Math.max(newest, last) + 1;
    if (known.isEmpty()) {
      storage.open(FileNames.epoch(epoch)).close();
      storage.sync();
    } else {
      // A rename needs no room on a full disk.
      storage.publish(FileNames.epoch(newest), FileNames.epoch(epoch));
    }
    return epoch;
  }

  /** The damaged snapshots that are newer than the one that was loaded. */
  List<Long> passedOver() {
    return passedOver;
  }

  /** Reads the headers of all segments. Damaged ones are allowed if they are not needed. */
  private List<Segment> headers(List<Long> sequences, long base) throws IOException {
    List<Segment> usable = new ArrayList<>();
    for (int i = sequences.size() - 1; i >= 0; i--) {
      long sequence = sequences.get(i);
      boolean needed = i == sequences.size() - 1 || sequences.get(i + 1) > base + 1;
      try (DiskFile file = storage.read(FileNames.segment(sequence))) {
        Segment segment = new Segment(SegmentHeader.read(file, sequence), file.size());
        if (!usable.isEmpty()
            && usable.getFirst().header().journalId() != segment.header().journalId()) {
          throw new DamagedJournalException(
              segment.name(), 8, "this segment belongs to another journal");
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
      List<Segment> segments, long newestSnapshot, Journal.Replay replay, SegmentIndex index)
      throws IOException {
    long base = loaded.sequence();
    int start = 0;
    for (int i = 0; i < segments.size(); i++) {
      if (segments.get(i).firstSequence() <= base + 1) {
        start = i;
      }
    }
    segments.subList(0, start).forEach(index::add);
    for (int i = start; i < segments.size(); i++) {
      Segment segment = segments.get(i);
      @Nullable SegmentHeader next = i == segments.size() - 1 ? null : segments.get(i + 1).header();
      DiskFile file = storage.open(segment.name());
      boolean keepOpen = false;
      try {
        SegmentReplay reading = new SegmentReplay(file, segment, replay);
        reading.run(next == null ? Long.MAX_VALUE : next.before().sequence());
        index.add(reading.readable());
        if (reading.from > segment.from()) {
          index.readableFrom(reading.before.position());
        }
        if (next != null) {
          refuseGap(reading.scan, segment, next);
          continue;
        }
        Ending ending = end(file, reading, newestSnapshot, index);
        keepOpen = true;
        return ending;
      } finally {
        if (!keepOpen) {
          file.close();
        }
      }
    }
    throw new IllegalStateException("a journal without segments");
  }

  /** Reads the frames of one segment, and delivers those after the snapshot. */
  private final class SegmentReplay {
    final DiskFile file;
    final Segment segment;
    final FrameScan scan;
    private final Journal.Replay replay;

    /** Frames that no later frame proves to be durable: sequence and offset. */
    private final ArrayDeque<long[]> uncertain = new ArrayDeque<>();

    /** The offset from which all frames are readable. */
    private long from;

    private Chain before;

    SegmentReplay(DiskFile file, Segment segment, Journal.Replay replay) {
      this.file = file;
      this.segment = segment;
      this.replay = replay;
      this.scan = new FrameScan(file, segment, PIECE_BYTES);
      this.from = segment.from();
      this.before = segment.before();
    }

    /**
     * Reads up to frame {@code most}, or to the first unreadable one. Unreadable frames that the
     * snapshot contains are skipped.
     */
    void run(long most) throws IOException {
      readOn(most);
      while (scan.chain().sequence() < Math.min(loaded.sequence(), most)) {
        long damagedAt = scan.offset();
        String problem = scan.problem();
        if (!scan.skip(loaded, Math.min(loaded.sequence() + 1, most))) {
          return;
        }
        uncertain.clear();
        from = scan.offset();
        before = scan.chain();
        notices.add(
            "%s is damaged from byte %d to %d (%s), but the snapshot of frame %d contains that part"
                .formatted(
                    segment.name(),
                    damagedAt,
                    from,
                    problem == null ? "zeros" : problem,
                    loaded.sequence()));
        readOn(most);
      }
    }

    private void readOn(long most) throws IOException {
      long at = scan.offset();
      while (scan.chain().sequence() < most) {
        @Nullable Frame frame = scan.next();
        if (frame == null) {
          return;
        }
        uncertain.add(new long[] {frame.sequence(), at});
        while (!uncertain.isEmpty() && uncertain.getFirst()[0] <= frame.durableSequence()) {
          uncertain.remove();
        }
        at = scan.offset();
        if (frame.sequence() > loaded.sequence()) {
          deliver(frame, segment, at, replay);
        }
      }
    }

    /** The part of the segment that is readable without a gap. */
    Segment readable() {
      return new Segment(segment.header(), segment.sizeBytes(), from, before);
    }

    /**
     * Writes the uncertain frames again, and syncs. If a sync has failed before, the file system
     * may have their pages in memory and treat them as written, so that a sync alone has no effect.
     */
    void makeDurable() throws IOException {
      long to = scan.offset();
      long first = uncertain.isEmpty() ? to : uncertain.getFirst()[1];
      ByteBuffer piece = ByteBuffer.allocateDirect((int) Math.min(PIECE_BYTES, to - first));
      for (long at = first; at < to; at += piece.limit()) {
        piece.clear().limit((int) Math.min(piece.capacity(), to - at));
        file.read(at, piece);
        file.write(at, piece.flip());
      }
      file.sync();
    }
  }

  /**
   * Delivers a frame. If the replay cannot read it, that is damage, even if its checksum is right.
   */
  private static void deliver(Frame frame, Segment segment, long end, Journal.Replay replay) {
    try {
      replay.frame(frame);
    } catch (StoreException e) {
      long at = end - FrameCodec.sizeBytes(frame.payload().remaining());
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

  private Ending end(DiskFile file, SegmentReplay reading, long newestSnapshot, SegmentIndex index)
      throws IOException {
    Segment segment = reading.segment;
    FrameScan scan = reading.scan;
    boolean covered = scan.chain().sequence() < loaded.sequence();
    Chain chain = covered ? loaded : scan.chain();
    TornTail torn = scan.tornTail(chain.sequence() + 1);
    if ((torn.isEmpty() ? scan.chain() : chain).sequence() < newestSnapshot) {
      throw new DamagedJournalException(
          segment.name(),
          scan.offset(),
          "the frames end after frame "
              + scan.chain().sequence()
              + ", but there is a snapshot of frame "
              + newestSnapshot);
    }
    reading.makeDurable();
    storage.sync();
    cuts = chain.sequence() < segment.firstSequence() ? segment.header().cuts() : 0;
    long missingBytes = Math.max(0, segment.header().allocatedBytes() - segment.sizeBytes());
    if (missingBytes > 0) {
      notices.add(segment.name() + " is " + missingBytes + " bytes shorter than it was created");
    }
    if (!torn.isEmpty() || (missingBytes > 0 && scan.offset() == segment.sizeBytes())) {
      cuts++;
      notices.add(lost(segment, torn, chain, covered));
      if (covered) {
        index.readableFrom(chain.position());
      }
      file.close();
      return begin(SegmentHeader.afterCut(segment.header().journalId(), chain, cuts), index);
    }
    index.durableUpTo(scan.offset());
    return new Ending(
        file,
        segment.header().isNewest() ? segment.sizeBytes() : scan.offset(),
        scan.offset(),
        segment.header().journalId(),
        chain,
        notices.toString());
  }

  private static String lost(Segment segment, TornTail torn, Chain chain, boolean covered) {
    return torn.end()
        - torn.offset()
        + " bytes of "
        + segment.name()
        + " from byte "
        + torn.offset()
        + " are not complete frames and were left out: the journal continues after frame "
        + chain.sequence()
        + (covered ? ", which is in the snapshot" : "");
  }

  /** Starts a new segment. The one before it is not changed. */
  private Ending begin(SegmentHeader header, SegmentIndex index) throws IOException {
    SpareSegment.Published first;
    try {
      first = new SpareSegment(storage, options.segmentBytes(), 0).publish(header, 0);
    } catch (SpareSegment.NoRoomException e) {
      throw new JournalException(String.valueOf(e.getMessage()), e);
    }
    index.add(first.segment());
    return new Ending(
        first.file(),
        first.segment().sizeBytes(),
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
