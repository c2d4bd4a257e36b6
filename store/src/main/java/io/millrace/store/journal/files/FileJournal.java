package io.millrace.store.journal.files;

import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import io.millrace.store.environment.Folder;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
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
 * A journal in the files of one folder, which it holds locked. docs/journal-format.md describes the
 * files byte by byte.
 *
 * <p>Frames are written and synced by an activity named {@code journal-sync}; all that are queued
 * when it begins share one sync, and more may be added meanwhile. After a failed write or sync
 * everything fails that was not durable before; nothing is tried again. A lack of room for the next
 * segment is a {@linkplain #shortage shortage} instead, which can pass.
 */
public final class FileJournal implements Journal {
  private final Environment environment;
  private final Storage storage;
  private final FileJournalOptions options;
  private final SegmentIndex segments = new SegmentIndex();
  private final Set<Long> damagedSnapshots = ConcurrentHashMap.newKeySet();
  private @Nullable GroupCommitter loop;
  private @Nullable Driver driver;
  private boolean closed;

  // The last frame handed over; for the appending thread.
  private long lastSequence;
  private long lastEpoch;
  private long lastPosition;

  /** The store time of that frame; for the trimming thread. */
  private volatile long lastTimeMillis;

  private FileJournal(Environment environment, Storage storage, FileJournalOptions options) {
    this.environment = environment;
    this.storage = storage;
    this.options = options;
  }

  /**
   * Locks a folder, which is created if it is absent. Call {@link #recover} next.
   *
   * @throws JournalException when the folder is in use or cannot be read and written
   */
  public static FileJournal open(Environment environment, Path folder, FileJournalOptions options) {
    try {
      Folder opened = environment.disk().folder(folder);
      if (!opened.lock()) {
        opened.close();
        throw new JournalException(opened.describe() + " is in use by another process");
      }
      return new FileJournal(environment, new Storage(opened), options);
    } catch (IOException e) {
      throw new JournalException("cannot open the journal in " + folder + ": " + e, e);
    }
  }

  /**
   * Makes a folder without a journal one that begins with a snapshot, such as a backup.
   *
   * @param snapshot what {@link SnapshotOutput} wrote; read to its end, not closed
   * @return the frame after which the snapshot was taken, without its payload
   * @throws DamagedJournalException when the snapshot is not whole; the folder is left empty
   * @throws JournalException when the folder is in use, holds a journal or cannot be written
   */
  public static Frame restore(Environment environment, Path folder, InputStream snapshot) {
    return restore(environment, folder, snapshot, UnaryOperator.identity());
  }

  /**
   * The same with each part of the snapshot changed before it is written.
   *
   * @param change gets a part, which it leaves as it is, and gives the one to write
   */
  public static Frame restore(
      Environment environment,
      Path folder,
      InputStream snapshot,
      UnaryOperator<ByteBuffer> change) {
    try (FileJournal journal = open(environment, folder, FileJournalOptions.DEFAULTS)) {
      Storage storage = journal.storage;
      List<String> names = storage.list();
      if (names.stream().anyMatch(name -> !name.endsWith(FileNames.TEMPORARY))) {
        throw new JournalException(storage.describe() + " is not empty: it holds " + names);
      }
      SnapshotInput input = new SnapshotInput(snapshot, "the snapshot");
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
        }
      }
      writer.publish();
      return input.frame();
    } catch (IOException e) {
      throw new JournalException("cannot restore to " + folder, e);
    }
  }

  @Override
  public Tail recover(Replay replay) {
    if (loop != null) {
      throw new IllegalStateException("recovered already");
    }
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
      lastSequence = chain.sequence();
      lastEpoch = chain.epoch();
      lastPosition = chain.position();
      lastTimeMillis = chain.timeMillis();
      loop = started;
      driver = environment.drive("journal-sync", started);
      return new Tail(
          chain.sequence(),
          epoch - 1,
          chain.position(),
          chain.timeMillis(),
          ending.notice().isEmpty() ? null : ending.notice(),
          recovery.cuts(),
          recovery.lostEpochs());
    } catch (IOException e) {
      throw new JournalException(
          "cannot read the journal in " + storage.describe() + ": " + e.getMessage(), e);
    }
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalArgumentException when the frame does not follow on the last one or its payload
   *     is larger than {@link FileJournalOptions#maxPayloadBytes}; nothing has happened then
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
    if (frame.sequence() != lastSequence + 1
        || frame.epoch() < lastEpoch
        || frame.position() < lastPosition
        || frame.durableSequence() > lastSequence) {
      throw new IllegalArgumentException(
          frame + " does not follow on frame " + lastSequence + " of epoch " + lastEpoch);
    }
    if (frame.payload().remaining() > options.maxPayloadBytes()) {
      throw new IllegalArgumentException(
          frame.payload().remaining() + " bytes of payload, at most " + options.maxPayloadBytes());
    }
    CompletableFuture<Void> done = loop.add(frame);
    lastSequence = frame.sequence();
    lastEpoch = frame.epoch();
    lastPosition = frame.position();
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
   * <p>With fewer than two snapshots, not counting one that recovery found damaged, nothing is
   * removed. Segments that an open reader has yet to read stay as well, and those that {@link
   * FileJournalOptions#retention} keeps.
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
