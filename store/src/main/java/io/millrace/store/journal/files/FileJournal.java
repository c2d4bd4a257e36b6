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
 * A journal in the files of one folder, which is locked while the journal is open.
 * docs/journal-format.md describes the files.
 *
 * <p>An activity named {@code journal-sync} writes and syncs frames; all frames that are queued
 * when it starts share one sync. After a failed write or sync, all frames that are not durable
 * fail, and nothing is tried again. A lack of room for the next segment is only a {@linkplain
 * #shortage shortage}, which may end.
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

  // The last frame appended; for the appending thread.
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
   * Opens and locks a folder, which is created if it does not exist. Call {@link #recover} next.
   *
   * @throws JournalException if the folder is in use, or cannot be read and written
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
   * Creates a journal that begins with a snapshot, for example a backup, in an empty folder.
   *
   * @param snapshot the output of {@link SnapshotOutput}; read to its end, not closed
   * @return the frame after which the snapshot was taken, without its payload
   * @throws DamagedJournalException if the snapshot is damaged; the folder is left empty
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
    if (frame.sequence() != lastSequence + 1
        || frame.epoch() < lastEpoch
        || frame.position() < lastPosition
        || frame.durableSequence() > lastSequence) {
      throw new IllegalArgumentException(
          frame + " does not follow frame " + lastSequence + " of epoch " + lastEpoch);
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
