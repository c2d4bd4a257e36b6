package io.millrace.store.kernel;

import io.millrace.store.StoreException;
import io.millrace.store.StoreReport;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.files.JournalCheck;
import io.millrace.store.journal.files.JournalReport;
import io.millrace.store.kernel.records.History;
import io.millrace.store.kernel.records.RecordException;
import io.millrace.store.kernel.records.RecordReader;
import io.millrace.store.kernel.records.Records;
import io.millrace.store.kernel.recovery.Replayer;
import io.millrace.store.kernel.snapshots.Backups;
import io.millrace.store.kernel.state.FrozenState;
import io.millrace.store.kernel.state.State;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads a store that is not opened: all of its records, replaying what a restart would replay,
 * which is the newest complete snapshot and the frames after it. A verification also replays what
 * is older, and compares the digest that this gives with that of the newest snapshot.
 */
public final class StoreCheck implements JournalCheck.Contents {
  private static final Frame NONE = new Frame(0, 0, 0, 0, 0, 0, ByteBuffer.allocate(0));

  /** How often a journal is read again because another process changes it. */
  private static final int ATTEMPTS = 10;

  private Replayer replayer = new Replayer();

  /** The last frame that has been applied; its payload is not used. */
  private Frame last = NONE;

  /** Whether a frame could not be applied, so that no later one can. */
  private boolean broken;

  /** The newest complete snapshot; those that follow are older. */
  private @Nullable Frame loaded;

  /** What the frames before the newest snapshot give; null if that is not compared. */
  private @Nullable Replayer older;

  private long olderLast;
  private long records;
  private Frame snapshot = NONE;

  /** A check that compares the newest snapshot with what is older only if that is wanted. */
  private StoreCheck(boolean compares) {
    older = compares ? new Replayer() : null;
  }

  /** What was found in one reading. */
  private record Reading(StoreCheck check, StoreReport report) {}

  /** Checks a store; see {@link io.millrace.store.TaskStore#verify}. */
  public static StoreReport verify(JournalCheck.Source source) {
    return read(source, true).report();
  }

  /** Checks a folder of an environment's disk. */
  public static StoreReport verify(Environment environment, Path folder) {
    return verify(contents -> JournalCheck.verify(environment, folder, contents));
  }

  /**
   * Reads until nothing is damaged, or the same damage is found twice: a leader may remove what is
   * read, or write while it is read.
   */
  private static Reading read(JournalCheck.Source source, boolean compares) {
    List<JournalReport.Damage> before = List.of();
    for (int attempt = 1; ; attempt++) {
      StoreCheck check = new StoreCheck(compares);
      StoreReport report = check.report(source.read(check));
      List<JournalReport.Damage> damages = report.journal().damages();
      if (damages.isEmpty() || damages.stream().anyMatch(before::contains) || attempt == ATTEMPTS) {
        return new Reading(check, report);
      }
      before = damages;
    }
  }

  /**
   * Writes a backup of the readable part of a store; see {@link
   * io.millrace.store.TaskStore#salvage}.
   */
  public static StoreReport salvage(JournalCheck.Source source, OutputStream target) {
    Reading reading = read(source, false);
    Backups.write(reading.check().frozen(source), target);
    return reading.report();
  }

  /** Writes a backup; see {@link io.millrace.store.TaskStore#backup}. */
  public static StoreReport backup(JournalCheck.Source source, OutputStream target) {
    Reading reading = sound(source);
    Backups.write(reading.check().frozen(source), target);
    return reading.report();
  }

  /** Copies a store; see {@link io.millrace.store.TaskStore#copy}. */
  public static StoreReport copy(
      JournalCheck.Source source, JournalCheck.Place target, boolean replace, long wallMillis) {
    String digest = write(source, target, replace, Backups.minId(wallMillis));
    // The state that was copied is not in memory any more.
    StoreReport copy = sound(target).report();
    if (!copy.digest().equals(digest)) {
      throw new StoreException("the copy in " + target + " is not what was written; do not use it");
    }
    return copy;
  }

  private static String write(
      JournalCheck.Source source, JournalCheck.Place target, boolean replace, long minId) {
    StoreCheck check = sound(source).check();
    State state = check.replayer.state();
    state.restore(Math.max(state.lastId(), minId), state.commits(), state.timeMillis());
    Backups.Frozen frozen = check.frozen(source);
    target.restore(Backups.stream(frozen), replace);
    return frozen.state().digest();
  }

  private static Reading sound(JournalCheck.Source source) {
    Reading reading = read(source, false);
    if (!reading.report().isSound()) {
      JournalReport.Damage first = reading.report().journal().damages().getFirst();
      throw new StoreException(
          "the store in %s is damaged: %s at byte %d: %s; docs/journal-damage.md says what to do"
              .formatted(source, first.file(), first.offset(), first.what()));
    }
    return reading;
  }

  private Backups.Frozen frozen(JournalCheck.Source source) {
    History history = replayer.history();
    if (history == null) {
      throw new StoreException("nothing of a store can be read in " + source);
    }
    FrozenState state = replayer.state().freeze();
    Frame end =
        new Frame(
            last.sequence(),
            last.epoch(),
            last.writer(),
            last.timeMillis(),
            last.sequence(),
            state.commits(),
            ByteBuffer.allocate(0));
    return new Backups.Frozen(state, history, end);
  }

  private StoreReport report(JournalReport journal) {
    State state = replayer.state();
    return new StoreReport(
        journal,
        records,
        state.taskCount(),
        state.freezeSummaries().size(),
        state.documentCount(),
        state.requests().size(),
        state.commits(),
        state.lastId(),
        state.freeze().digest());
  }

  @Override
  public void snapshot(Frame frame) {
    snapshot = frame;
    if (loaded != null && older != null) {
      older = new Replayer();
    }
  }

  @Override
  public void part(ByteBuffer payload) {
    Replayer target = loaded == null ? replayer : older;
    if (target == null) {
      decode(payload);
      return;
    }
    records += target.snapshotRecords(payload);
    long commits = target.state().commits();
    if (commits != snapshot.position()) {
      throw new RecordException(
          "the snapshot of commit " + snapshot.position() + " contains commit " + commits);
    }
  }

  @Override
  public void snapshotEnd(boolean whole) {
    if (loaded != null) {
      olderLast = snapshot.sequence();
      older = whole ? older : null;
    } else if (whole) {
      loaded = snapshot;
      last = snapshot;
    } else {
      replayer = new Replayer();
    }
  }

  @Override
  public void frame(Frame frame) {
    if (frame.sequence() <= last.sequence()) {
      compare(frame);
      return;
    }
    // JournalCheck reports the gap.
    broken |= frame.sequence() != last.sequence() + 1;
    if (broken) {
      decode(frame.payload());
      return;
    }
    broken = true;
    records += replayer.frameRecords(frame);
    last = frame;
    broken = false;
  }

  /** A frame up to the newest snapshot: applies it to the older state. */
  private void compare(Frame frame) {
    Replayer trail = older;
    if (trail == null || frame.sequence() != olderLast + 1) {
      older = frame.sequence() <= olderLast ? older : null;
      decode(frame.payload());
      return;
    }
    older = null;
    records += trail.frameRecords(frame);
    olderLast = frame.sequence();
    if (olderLast < last.sequence()) {
      older = trail;
    } else if (!digest(trail).equals(digest(replayer))) {
      throw new RecordException(
          "the snapshot of frame " + olderLast + " has another content than the frames up to it");
    }
  }

  private static String digest(Replayer replayed) {
    return replayed.state().freeze().digest();
  }

  private void decode(ByteBuffer payload) {
    RecordReader in = new RecordReader(payload);
    while (!in.atEnd()) {
      Records.read(in);
      records++;
    }
  }
}
