package io.millrace.store.journal.files;

import io.millrace.store.StoreException;
import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Environment;
import io.millrace.store.environment.FileProblem;
import io.millrace.store.environment.Folder;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.OccupiedException;
import io.millrace.store.journal.files.FrameScan.TornTail;
import io.millrace.store.journal.files.JournalReport.Damage;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Checks a journal's folder: reads every frame and snapshot, and reports what it found. Changes
 * nothing and takes no lock. If the journal is in use, the last frames may be reported as an
 * unfinished tail, and a file that is removed meanwhile as missing.
 */
public final class JournalCheck {
  /** Does not check payloads. */
  private static final Contents UNREAD = new Contents() {};

  private static final Frame NONE = new Frame(0, 0, 0, 0, 0, 0, ByteBuffer.allocate(0));
  private static final int PIECE_BYTES = 4 << 20;

  private final Storage storage;
  private final Contents contents;
  private final List<String> notices = new ArrayList<>();
  private final List<Damage> damages = new ArrayList<>();

  /** The end of the previous segment; null if unknown. */
  private @Nullable Chain last;

  /** The last readable frame of all segments. */
  private Chain end = Chain.START;

  private Chain newestSnapshot = Chain.START;
  private long firstSequence;
  private long frames;
  private int snapshots;
  private long bytes;

  private JournalCheck(Storage storage, Contents contents) {
    this.storage = storage;
    this.contents = contents;
  }

  /** Whether a folder has files of a journal. False if it cannot be listed. */
  public static boolean isIn(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      return files.anyMatch(file -> FileNames.isKnown(String.valueOf(file.getFileName())));
    } catch (IOException _) {
      return false;
    }
  }

  /** A journal, or a backup, that is read as a whole; {@code toString} tells people where. */
  @FunctionalInterface
  public interface Source {
    /**
     * Reads everything that is kept, and passes it to {@code contents}. Changes nothing and takes
     * no lock. If the journal is in use, a part that is removed or written meanwhile may be
     * reported as damaged; another reading does not report it again.
     *
     * @throws JournalException if there is no journal, or it cannot be read
     */
    JournalReport read(Contents contents);
  }

  /** A place where a store is kept. */
  public interface Place extends Source {
    /**
     * Begins a journal with a snapshot. If this process ends meanwhile, the journal is incomplete:
     * it is refused when it is read or led, until another restore replaces it.
     *
     * @param snapshot the output of {@link SnapshotOutput}; read to its end, not closed
     * @param replace whether a store that is there, complete or not, is replaced
     * @throws DamagedJournalException if the snapshot is damaged
     * @throws OccupiedException if the place holds something that is not to be replaced
     * @throws JournalException if another process leads the store, or the place cannot be written
     */
    void restore(InputStream snapshot, boolean replace);
  }

  /**
   * The journal in a folder of this machine. A replacing restore is also possible in a folder that
   * holds other files, which are kept.
   */
  public static Place folder(Path folder) {
    return new FolderPlace(folder);
  }

  private record FolderPlace(Path folder) implements Place {
    @Override
    public JournalReport read(Contents contents) {
      return verify(folder, contents);
    }

    @Override
    public void restore(InputStream snapshot, boolean replace) {
      FileJournal.restore(
          Environment.system(), folder, snapshot, UnaryOperator.identity(), replace);
    }

    @Override
    public String toString() {
      return folder.toString();
    }
  }

  /** A backup in a file. Its report has one snapshot. */
  public static Source backup(Path file) {
    return new BackupFile(file);
  }

  private record BackupFile(Path file) implements Source {
    @Override
    public JournalReport read(Contents contents) {
      List<Damage> damages = new ArrayList<>();
      Frame end = NONE;
      int snapshots = 0;
      long size = 0;
      try (InputStream in = new BufferedInputStream(Files.newInputStream(file), PIECE_BYTES)) {
        size = Files.size(file);
        SnapshotInput input = new SnapshotInput(in, file.toString());
        end = input.frame();
        Damage refused = JournalCheck.read(input, file.toString(), contents);
        if (refused == null) {
          snapshots = 1;
        } else {
          damages.add(refused);
        }
      } catch (DamagedJournalException e) {
        damages.add(Damage.of(e));
      } catch (IOException e) {
        throw new JournalException(
            "cannot read the backup " + file + ": " + FileProblem.reason(e), e);
      }
      return new JournalReport(
          0,
          0,
          snapshots,
          0,
          end.sequence(),
          end.position(),
          end.epoch(),
          end.timeMillis(),
          size,
          List.of(),
          damages);
    }

    @Override
    public String toString() {
      return file.toString();
    }
  }

  /**
   * Checks a folder of this machine.
   *
   * @throws JournalException if it is not a folder or cannot be read
   */
  public static JournalReport verify(Path folder) {
    return verify(folder, UNREAD);
  }

  private static JournalReport verify(Path folder, Contents contents) {
    if (!Files.isDirectory(folder)) {
      throw new JournalException(folder + " is not a folder");
    }
    return verify(Environment.system(), folder, contents);
  }

  /**
   * Checks a folder of an environment's disk.
   *
   * @throws JournalException if it does not exist or cannot be read
   */
  public static JournalReport verify(Environment environment, Path folder) {
    return verify(environment, folder, UNREAD);
  }

  /**
   * The same, with a check of all payloads by {@code contents}.
   *
   * @throws JournalException if it does not exist or cannot be read
   */
  public static JournalReport verify(Environment environment, Path folder, Contents contents) {
    try (Folder opened = environment.disk().open(folder)) {
      return new JournalCheck(new Storage(opened), contents).run();
    } catch (IOException e) {
      throw new JournalException("cannot read the journal in " + folder, e);
    }
  }

  private JournalReport run() throws IOException {
    List<String> names = storage.list();
    FileNames.requireComplete(names, storage.describe());
    for (String name : names) {
      if (name.endsWith(FileNames.TORN)) {
        notices.add(name + " contains what recovery by an earlier version cut off");
      } else if (name.endsWith(FileNames.TEMPORARY) && !name.equals(FileNames.SPARE)) {
        notices.add(name + " is unfinished and is not used");
      } else if (!FileNames.isKnown(name) && !name.equals(FileNames.SPARE)) {
        notices.add(name + " is not a file of a journal and is ignored");
      }
    }
    List<Long> snapshotNumbers = FileNames.numbers(names, FileNames.SNAPSHOT);
    List<Long> segments = FileNames.numbers(names, FileNames.SEGMENT);
    boolean standsAlone = false;
    for (long sequence : snapshotNumbers.reversed()) {
      standsAlone = snapshot(sequence);
    }
    for (int i = 0; i < segments.size(); i++) {
      boolean isLast = i == segments.size() - 1;
      segment(segments.get(i), isLast ? Long.MAX_VALUE : segments.get(i + 1) - 1);
    }
    checkReach(segments, snapshotNumbers, standsAlone);
    if (end.sequence() < newestSnapshot.sequence()) {
      end = newestSnapshot;
    }
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

  /** Checks that the segments begin right after the oldest snapshot, or with the first frame. */
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
  }

  private boolean snapshot(long sequence) throws IOException {
    String name = FileNames.snapshot(sequence);
    try (DiskFile file = storage.read(name)) {
      bytes += file.size();
      SnapshotInput input = SnapshotInput.of(file, sequence);
      @Nullable Damage unreadable = read(input, name, contents);
      if (unreadable != null) {
        damages.add(unreadable);
      }
      snapshots++;
      Chain chain = Chain.START.after(input.frame(), 0);
      newestSnapshot = newestSnapshot.sequence() < chain.sequence() ? chain : newestSnapshot;
      return input.standsAlone();
    } catch (DamagedJournalException e) {
      damages.add(Damage.of(e));
      return false;
    } catch (NoSuchFileException e) {
      noteRemoved(name);
      return false;
    }
  }

  /**
   * Reads the rest of a snapshot and passes it to {@code contents}.
   *
   * @param name the name of the snapshot, for messages
   * @return the first part that {@code contents} refuses; null for none
   * @throws DamagedJournalException if the snapshot is damaged or cut short
   * @throws IOException if its stream fails
   */
  public static @Nullable Damage read(SnapshotInput input, String name, Contents contents)
      throws IOException {
    boolean whole = false;
    try {
      @Nullable Damage refused = show(input, name, contents);
      input.readToEnd();
      whole = refused == null;
      return refused;
    } finally {
      contents.snapshotEnd(whole);
    }
  }

  private static @Nullable Damage show(SnapshotInput input, String name, Contents contents)
      throws IOException {
    contents.snapshot(input.frame());
    long at = input.bytes();
    for (ByteBuffer part = input.next(); part != null; part = input.next()) {
      try {
        contents.part(part);
      } catch (StoreException e) {
        return new Damage(name, at, "part " + (input.parts() - 1) + ": " + e.getMessage());
      }
      at = input.bytes();
    }
    return null;
  }

  /**
   * Reads the frames of a segment.
   *
   * @param most the last frame of the segment, according to the name of the next segment; {@link
   *     Long#MAX_VALUE} for the last segment
   */
  private void segment(long sequence, long most) throws IOException {
    String name = FileNames.segment(sequence);
    try (DiskFile file = storage.read(name)) {
      bytes += file.size();
      Segment segment = new Segment(SegmentHeader.read(file, sequence), file.size());
      if (last != null && !last.equals(segment.header().before())) {
        damages.add(
            new Damage(name, 16, "it does not follow frame " + last.sequence() + " before it"));
      }
      FrameScan scan = new FrameScan(file, segment, PIECE_BYTES);
      boolean whole = true;
      show(scan, name, most);
      for (@Nullable Damage damage = stop(segment, scan, most);
          damage != null;
          damage = stop(segment, scan, most)) {
        long stopped = scan.offset();
        scan.readAgain();
        show(scan, name, most);
        if (scan.offset() > stopped) {
          // A leader has written it meanwhile.
          continue;
        }
        damages.add(damage);
        whole = scan.skip(newestSnapshot, most);
        if (!whole) {
          break;
        }
        show(scan, name, most);
      }
      last = whole ? scan.chain() : null;
      end = scan.chain();
    } catch (DamagedJournalException e) {
      damages.add(Damage.of(e));
      last = null;
    } catch (NoSuchFileException e) {
      noteRemoved(name);
      last = null;
    }
  }

  private void noteRemoved(String name) {
    notices.add(name + " was removed while the folder was read: the store is in use");
  }

  private void show(FrameScan scan, String name, long most) throws IOException {
    long at = scan.offset();
    while (scan.chain().sequence() < most) {
      @Nullable Frame frame = scan.next();
      if (frame == null) {
        return;
      }
      firstSequence = firstSequence == 0 ? frame.sequence() : firstSequence;
      frames++;
      try {
        contents.frame(frame);
      } catch (StoreException e) {
        damages.add(new Damage(name, at, "frame " + frame.sequence() + ": " + e.getMessage()));
      }
      at = scan.offset();
    }
  }

  /** The damage because of which the frames end; null if this is the regular end. */
  private @Nullable Damage stop(Segment segment, FrameScan scan, long most) throws IOException {
    String name = segment.name();
    long frame = scan.chain().sequence();
    if (frame == most) {
      return null;
    }
    boolean covered = frame < newestSnapshot.sequence();
    if (covered || most < Long.MAX_VALUE) {
      return new Damage(
          name,
          scan.offset(),
          (scan.problem() == null ? "the frames end" : scan.problem())
              + " after frame "
              + frame
              + (most < Long.MAX_VALUE ? ", but the next segment begins with " + (most + 1) : "")
              + (covered ? "; there is a snapshot of frame " + newestSnapshot.sequence() : ""));
    }
    TornTail torn;
    try {
      torn = scan.tornTail(frame + 1);
    } catch (DamagedJournalException e) {
      return Damage.of(e);
    }
    long missing = segment.header().allocatedBytes() - segment.sizeBytes();
    if (missing > 0 && (!torn.isEmpty() || scan.offset() == segment.sizeBytes())) {
      damages.add(
          new Damage(
              name,
              segment.sizeBytes(),
              "the last " + missing + " bytes are missing, possibly with frames after " + frame));
    } else if (missing > 0) {
      notices.add(
          name + " is " + missing + " bytes shorter than it was created; no frame is missing");
    }
    if (!torn.isEmpty()) {
      notices.add(
          "%d bytes of unfinished frames in %s at byte %d; a start leaves them out and begins a new history"
              .formatted(torn.end() - torn.offset(), name, torn.offset()));
    }
    return null;
  }

  /**
   * Checks the payloads: first those of the snapshots, the newest first, then those of the frames
   * in order. Payloads are valid only during the call.
   */
  public interface Contents {
    /** A snapshot begins. The payload of {@code frame} is not set. */
    default void snapshot(Frame frame) {}

    /**
     * A part of it, in the order written.
     *
     * @throws io.millrace.store.StoreException if the part is wrong; no other part of this snapshot
     *     follows
     */
    default void part(ByteBuffer payload) {}

    /**
     * The snapshot ends.
     *
     * @param whole whether its file is complete and all parts are right
     */
    default void snapshotEnd(boolean whole) {}

    /**
     * A frame that continues the chain of its segment.
     *
     * @throws io.millrace.store.StoreException if the frame is wrong
     */
    default void frame(Frame frame) {}
  }
}
