package io.millrace.store.journal.files;

import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import io.millrace.store.environment.FileProblem;
import io.millrace.store.environment.Folder;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.OccupiedException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A journal in the files of one folder, which is locked while the journal is led.
 * docs/journal-format.md describes the files. It is its own leader.
 *
 * <p>An activity named {@code journal-sync} writes and syncs frames; all frames that are queued
 * when it starts share one sync. After a failed write or sync, all frames that are not durable
 * fail, and nothing is tried again. A lack of room for the next segment is only a {@linkplain
 * #shortage shortage}, which may end.
 */
public final class FileJournal implements Journal, Journal.Leader {
  private final Environment environment;
  private final Folder folder;
  private final Storage storage;
  private final FileJournalOptions options;
  private final SegmentIndex segments = new SegmentIndex();
  private final Set<Long> damagedSnapshots = ConcurrentHashMap.newKeySet();
  private @Nullable GroupCommitter loop;
  private @Nullable Driver driver;
  private boolean locked;
  private boolean closed;

  private @Nullable Tail tail;

  /** The last frame appended, without its checksum; for the appending thread. */
  private Chain last = Chain.START;

  /** The store time of that frame; for the trimming thread. */
  private volatile long lastTimeMillis;

  private FileJournal(Environment environment, Folder folder, FileJournalOptions options) {
    this.environment = environment;
    this.folder = folder;
    this.storage = new Storage(folder);
    this.options = options;
  }

  /**
   * Opens and locks a folder, which is created if it does not exist, in order to lead the journal.
   *
   * @throws JournalException if the folder is in use, or cannot be read and written
   */
  public static FileJournal open(Environment environment, Path folder, FileJournalOptions options) {
    FileJournal journal = at(environment, folder, options);
    try {
      journal.lock();
      return journal;
    } catch (RuntimeException | Error e) {
      journal.close();
      throw e;
    }
  }

  /**
   * The same without the lock, which is taken when the journal is led, so that it can be followed
   * before.
   *
   * @throws JournalException if the folder cannot be created or read
   */
  public static FileJournal at(Environment environment, Path folder, FileJournalOptions options) {
    try {
      return new FileJournal(environment, environment.disk().folder(folder), options);
    } catch (IOException e) {
      throw cannotOpen(folder.toString(), e);
    }
  }

  private static JournalException cannotOpen(String folder, IOException e) {
    return new JournalException(
        "cannot open the journal in " + folder + ": " + FileProblem.text(e), e);
  }

  private void lock() {
    try {
      if (!locked && !folder.lock()) {
        throw new JournalException(folder.describe() + " is in use by another process");
      }
      locked = true;
    } catch (IOException e) {
      throw cannotOpen(folder.describe(), e);
    }
  }

  /**
   * Creates a journal that begins with a snapshot, for example a backup, in an empty folder.
   *
   * @param snapshot the output of {@link SnapshotOutput}; read to its end, not closed
   * @return the frame after which the snapshot was taken, without its payload
   * @throws io.millrace.store.journal.DamagedJournalException if the snapshot is damaged; the
   *     folder is left empty
   * @throws JournalException if the folder is in use, contains a journal or cannot be written
   */
  public static Frame restore(Environment environment, Path folder, InputStream snapshot) {
    return restore(environment, folder, snapshot, UnaryOperator.identity());
  }

  /**
   * The same, with a function that may replace each part of the snapshot before it is written.
   *
   * @param change returns the part to write; must not change its argument
   */
  public static Frame restore(
      Environment environment,
      Path folder,
      InputStream snapshot,
      UnaryOperator<ByteBuffer> change) {
    return restore(environment, folder, snapshot, change, false);
  }

  /**
   * The same for a folder that may hold a journal, which is replaced, and other files, which are
   * kept. While it is not complete, the folder has a file because of which it is not opened.
   */
  static Frame restore(
      Environment environment,
      Path folder,
      InputStream snapshot,
      UnaryOperator<ByteBuffer> change,
      boolean replace) {
    try (FileJournal journal = open(environment, folder, FileJournalOptions.DEFAULTS)) {
      Storage storage = journal.storage;
      List<String> names =
          storage.list().stream().filter(name -> !name.endsWith(FileNames.TEMPORARY)).toList();
      if (!names.isEmpty() && !replace) {
        throw new OccupiedException(
            storage.describe()
                + (names.contains(FileNames.INCOMPLETE)
                    ? " holds a store that is not complete"
                    : " is not empty: it holds " + names));
      }
      SnapshotInput input = new SnapshotInput(snapshot, "the snapshot");
      storage.open(FileNames.INCOMPLETE).close();
      storage.sync();
      for (String name : names) {
        if (FileNames.isKnown(name) || name.endsWith(FileNames.TORN)) {
          storage.discard(name);
        }
      }
      SnapshotWriter writer = new SnapshotFileWriter(storage, input.frame(), true);
      boolean whole = false;
      try {
        for (ByteBuffer part = input.next(); part != null; part = input.next()) {
          writer.part(change.apply(part));
        }
        whole = true;
      } finally {
        if (!whole) {
          writer.abandon();
          if (names.isEmpty()) {
            storage.delete(FileNames.INCOMPLETE);
          }
        }
      }
      writer.publish();
      storage.delete(FileNames.INCOMPLETE);
      return input.frame();
    } catch (IOException e) {
      throw new JournalException("cannot restore to " + folder, e);
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>Frames whose sync is under way are delivered too: a leader of the same folder begins anew.
   */
  @Override
  public long follow(Replay replay, long after) {
    try {
      return new FileFollower(environment, storage, replay).follow(after);
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  private JournalException unreadable(IOException e) {
    return new JournalException(
        "cannot read the journal in " + storage.describe() + ": " + e.getMessage(), e);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Recovers the folder, and begins anew with the newest snapshot if frames were delivered
   * before.
   */
  @Override
  public Leader lead(Replay replay, long after) {
    if (after > 0) {
      replay.reset();
    }
    recover(replay);
    return this;
  }

  @Override
  public Tail tail() {
    if (tail == null) {
      throw new IllegalStateException("not led yet");
    }
    return tail;
  }

  /** Leads a journal of which nothing has been delivered; returns its end. */
  public Tail recover(Replay replay) {
    if (loop != null) {
      throw new IllegalStateException("recovered already");
    }
    lock();
    try {
      long newId = environment.newRandom().nextLong();
      Recovery recovery = new Recovery(environment, storage, options);
      Recovery.Ending ending = recovery.run(replay, segments, newId);
      damagedSnapshots.addAll(recovery.passedOver());
      GroupCommitter started =
          new GroupCommitter(
              new ActiveSegment(
                  segments,
                  new SpareSegment(storage, options.segmentBytes(), options.reserveBytes()),
                  options.segmentBytes(),
                  ending),
              storage.describe(),
              environment::nanos);
      Chain chain = ending.chain();
      long epoch = recovery.beginEpoch(chain.epoch());
      last = chain;
      lastTimeMillis = chain.timeMillis();
      loop = started;
      driver = environment.drive("journal-sync", started);
      Tail found =
          new Tail(
              chain.sequence(),
              epoch - 1,
              chain.position(),
              chain.timeMillis(),
              ending.notice().isEmpty() ? null : ending.notice(),
              recovery.cuts(),
              recovery.lostEpochs());
      tail = found;
      return found;
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalArgumentException if the frame does not follow the last one, or its payload is
   *     larger than {@link FileJournalOptions#maxPayloadBytes}; nothing has changed then
   */
  @Override
  public CompletableFuture<Void> append(Frame frame) {
    CompletableFuture<Void> done = add(frame);
    driver().signal();
    return done;
  }

  @Override
  public CompletableFuture<Void> appendAndSync(Frame frame) {
    boolean quick = loop != null && loop.isQuickFor(frame);
    CompletableFuture<Void> done = add(frame);
    if (quick) {
      driver().runOrSignal();
    } else {
      driver().signal();
    }
    return done;
  }

  private Driver driver() {
    if (driver == null) {
      throw new IllegalStateException("append before recover");
    }
    return driver;
  }

  private CompletableFuture<Void> add(Frame frame) {
    if (loop == null) {
      throw new IllegalStateException("append before recover");
    }
    last.require(frame);
    if (frame.payload().remaining() > options.maxPayloadBytes()) {
      throw new IllegalArgumentException(
          frame.payload().remaining() + " bytes of payload, at most " + options.maxPayloadBytes());
    }
    CompletableFuture<Void> done = loop.add(frame);
    last = last.after(frame, 0);
    lastTimeMillis = frame.timeMillis();
    return done;
  }

  @Override
  public SnapshotWriter snapshot(Frame frame) {
    damagedSnapshots.remove(frame.sequence());
    return new SnapshotFileWriter(storage, frame, false);
  }

  @Override
  public @Nullable Reader read(long position) {
    return FrameReader.open(storage, segments, position);
  }

  /**
   * {@inheritDoc}
   *
   * <p>If there are fewer than two snapshots, without those that recovery found damaged, nothing is
   * removed. Segments that an open reader still needs, and those within {@link
   * FileJournalOptions#retention}, are kept too.
   */
  @Override
  public void trim(long keepAfterPosition) {
    try {
      List<Long> snapshots = FileNames.numbers(storage.list(), FileNames.SNAPSHOT);
      List<Long> whole =
          snapshots.stream().filter(each -> !damagedSnapshots.contains(each)).toList();
      if (whole.size() < 2) {
        return;
      }
      List<Long> kept = whole.subList(whole.size() - 2, whole.size());
      for (long sequence : snapshots) {
        if (!kept.contains(sequence)) {
          storage.deleteLarge(FileNames.snapshot(sequence));
        }
      }
      long keepFrom = kept.getFirst() + 1;
      for (String name :
          segments.trim(keepFrom, keepAfterPosition, options.retention(), lastTimeMillis)) {
        storage.delete(name);
      }
    } catch (IOException e) {
      throw new JournalException("cannot trim the journal in " + storage.describe(), e);
    }
  }

  @Override
  public @Nullable Shortage shortage() {
    return loop == null ? null : loop.shortage();
  }

  @Override
  public long freeBytes() {
    return storage.usableBytes();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (loop != null && driver != null) {
      loop.finish();
      driver.signal();
      driver.join();
    }
    try {
      storage.close();
    } catch (IOException e) {
      throw new JournalException("cannot close the journal in " + storage.describe(), e);
    }
  }
}
