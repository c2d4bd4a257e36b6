package io.millrace.store.journal;

import io.millrace.store.StoreException;
import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Environment;
import io.millrace.store.environment.Folder;
import io.millrace.store.journal.JournalReport.Damage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads every frame and snapshot of a journal's folder and says what it found. Changes nothing and
 * takes no lock: of a journal that is in use the last frames may show as an unfinished tail, and a
 * file that is removed meanwhile as missing.
 */
public final class JournalCheck {
  /** Takes every payload as it is. */
  private static final JournalContents UNREAD = new JournalContents() {};

  private static final int PIECE_BYTES = 4 << 20;

  private final Storage storage;
  private final JournalContents contents;
  private final List<String> notices = new ArrayList<>();
  private final List<Damage> damages = new ArrayList<>();
  private @Nullable Chain last;
  private Chain newestSnapshot = Chain.START;
  private long firstSequence;
  private long frames;
  private int snapshots;
  private long bytes;

  private JournalCheck(Storage storage, JournalContents contents) {
    this.storage = storage;
    this.contents = contents;
  }

  /**
   * Checks a folder of this machine.
   *
   * @throws JournalException when it is no folder or cannot be read
   */
  public static JournalReport verify(Path folder) {
    return verify(folder, UNREAD);
  }

  /**
   * The same, also showing what was found to {@code contents}.
   *
   * @throws JournalException when it is no folder or cannot be read
   */
  public static JournalReport verify(Path folder, JournalContents contents) {
    if (!Files.isDirectory(folder)) {
      throw new JournalException(folder + " is not a folder");
    }
    return verify(Environment.system(), folder, contents);
  }

  /**
   * Checks a folder of an environment's disk.
   *
   * @throws JournalException when it is absent or cannot be read
   */
  public static JournalReport verify(Environment environment, Path folder) {
    return verify(environment, folder, UNREAD);
  }

  /**
   * The same, also showing what was found to {@code contents}.
   *
   * @throws JournalException when it is absent or cannot be read
   */
  public static JournalReport verify(
      Environment environment, Path folder, JournalContents contents) {
    try (Folder opened = environment.disk().open(folder)) {
      return new JournalCheck(new Storage(opened), contents).run();
    } catch (IOException e) {
      throw new JournalException("cannot read the journal in " + folder, e);
    }
  }

  private JournalReport run() throws IOException {
    List<String> names = storage.list();
    for (String name : names) {
      if (name.endsWith(FileNames.TORN)) {
        notices.add(name + " keeps what an earlier recovery cut off");
      } else if (name.endsWith(FileNames.TEMPORARY)) {
        notices.add(name + " is unfinished and has no meaning");
      } else if (!FileNames.isKnown(name)) {
        notices.add(name + " is no file of a journal and is read by nothing");
      }
    }
    List<Long> snapshotNumbers = FileNames.numbers(names, FileNames.SNAPSHOT);
    List<Long> segments = FileNames.numbers(names, FileNames.SEGMENT);
    boolean standsAlone = false;
    for (long sequence : snapshotNumbers.reversed()) {
      standsAlone = snapshot(sequence);
    }
    for (int i = 0; i < segments.size(); i++) {
      segment(segments.get(i), i == segments.size() - 1);
    }
    checkReach(segments, snapshotNumbers, standsAlone);
    Chain end =
        last != null && last.sequence() >= newestSnapshot.sequence() ? last : newestSnapshot;
    return new JournalReport(
        segments.size(),
        frames,
        snapshots,
        firstSequence,
        end.sequence(),
        end.position(),
        end.epoch(),
        end.timeMillis(),
        bytes,
        notices,
        damages);
  }

  /** Whether the frames reach from the oldest snapshot, or the beginning, to the newest one. */
  private void checkReach(List<Long> segments, List<Long> snapshotNumbers, boolean standsAlone) {
    if (segments.isEmpty()) {
      if (!snapshotNumbers.isEmpty() && !standsAlone) {
        damages.add(
            new Damage(
                FileNames.segment(snapshotNumbers.getLast() + 1), 0, "all segments are missing"));
      }
      return;
    }
    long base = snapshotNumbers.isEmpty() ? 0 : snapshotNumbers.getFirst();
    if (segments.getFirst() > base + 1) {
      damages.add(new Damage(FileNames.segment(base + 1), 0, "this segment is missing"));
    }
    if (last != null && last.sequence() < newestSnapshot.sequence()) {
      damages.add(
          new Damage(
              FileNames.segment(segments.getLast()),
              0,
              "the frames end before that of the newest snapshot"));
    }
  }

  private boolean snapshot(long sequence) throws IOException {
    String name = FileNames.snapshot(sequence);
    try (DiskFile file = storage.read(name);
        InputStream stream = new DiskFileInput(file)) {
      bytes += file.size();
      SnapshotInput input = new SnapshotInput(stream, name);
      if (input.frame().sequence() != sequence) {
        throw new DamagedJournalException(
            name, 8, "this is the snapshot of frame " + input.frame().sequence());
      }
      boolean whole = false;
      try {
        @Nullable Damage unreadable = show(input, name);
        input.readToEnd();
        if (unreadable != null) {
          damages.add(unreadable);
        }
        whole = unreadable == null;
      } finally {
        contents.snapshotEnd(whole);
      }
      snapshots++;
      Chain chain = Chain.START.after(input.frame(), 0);
      newestSnapshot = newestSnapshot.sequence() < chain.sequence() ? chain : newestSnapshot;
      return input.standsAlone();
    } catch (DamagedJournalException e) {
      damages.add(Damage.of(e));
      return false;
    }
  }

  /** Shows the parts; gives the first that means nothing, or null. */
  private @Nullable Damage show(SnapshotInput input, String name) throws IOException {
    contents.snapshot(input.frame());
    long at = input.offset();
    for (ByteBuffer part = input.next(); part != null; part = input.next()) {
      try {
        contents.part(part);
      } catch (StoreException e) {
        return new Damage(name, at, "part " + (input.parts() - 1) + ": " + e.getMessage());
      }
      at = input.offset();
    }
    return null;
  }

  private void segment(long sequence, boolean isLast) throws IOException {
    String name = FileNames.segment(sequence);
    try (DiskFile file = storage.read(name)) {
      bytes += file.size();
      Segment segment = new Segment(SegmentHeader.read(file, sequence), file.size());
      if (last != null && !last.equals(segment.header().before())) {
        damages.add(
            new Damage(name, 16, "it does not follow on frame " + last.sequence() + " before it"));
      }
      FrameScan scan = new FrameScan(file, segment.header(), segment.sizeBytes(), PIECE_BYTES);
      long at = scan.offset();
      for (@Nullable Frame frame = scan.next(); frame != null; frame = scan.next()) {
        firstSequence = firstSequence == 0 ? frame.sequence() : firstSequence;
        frames++;
        show(frame, name, at);
        at = scan.offset();
      }
      last = scan.chain();
      examineEnd(file, segment, scan, isLast);
    } catch (DamagedJournalException e) {
      damages.add(Damage.of(e));
      last = null;
    }
  }

  private void show(Frame frame, String name, long at) {
    try {
      contents.frame(frame);
    } catch (StoreException e) {
      damages.add(new Damage(name, at, "frame " + frame.sequence() + ": " + e.getMessage()));
    }
  }

  private void examineEnd(DiskFile file, Segment segment, FrameScan scan, boolean isLast)
      throws IOException {
    String problem = scan.problem();
    if (isLast) {
      TornTail torn = TornTail.examine(file, segment, scan);
      if (!torn.isEmpty()) {
        notices.add(
            (torn.end() - torn.offset())
                + " bytes of unfinished frames in "
                + segment.name()
                + " at byte "
                + torn.offset());
      }
    } else if (problem != null) {
      throw new DamagedJournalException(segment.name(), scan.offset(), problem);
    }
  }
}
