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
import io.millrace.store.kernel.state.State;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * Checks the records of a folder: reads all of them, and replays what a restart would replay, which
 * is the newest complete snapshot and the frames after it.
 */
public final class StoreCheck implements JournalCheck.Contents {
  private static final Frame NONE = new Frame(0, 0, 0, 0, 0, 0, ByteBuffer.allocate(0));

  private Replayer replayer = new Replayer();

  /** Whether a complete snapshot has been found; those that follow are older. */
  private boolean loaded;

  /** The last frame that has been applied; its payload is not used. */
  private Frame last = NONE;

  /** Whether a frame could not be applied, so that no later one can. */
  private boolean broken;

  private long records;
  private Frame snapshot = NONE;

  private StoreCheck() {}

  /** Checks a folder of this machine; see {@link io.millrace.store.TaskStore#verify}. */
  public static StoreReport verify(Path folder) {
    StoreCheck check = new StoreCheck();
    return check.report(JournalCheck.verify(folder, check));
  }

  /** Checks a folder of an environment's disk. */
  public static StoreReport verify(Environment environment, Path folder) {
    StoreCheck check = new StoreCheck();
    return check.report(JournalCheck.verify(environment, folder, check));
  }

  /**
   * Writes a backup of the readable part of a folder; see {@link
   * io.millrace.store.TaskStore#salvage}.
   */
  public static StoreReport salvage(Path folder, OutputStream target) {
    StoreCheck check = new StoreCheck();
    StoreReport report = check.report(JournalCheck.verify(folder, check));
    History history = check.replayer.history();
    if (history == null) {
      throw new StoreException("nothing of a store can be read in " + folder);
    }
    State state = check.replayer.state();
    Frame end =
        new Frame(
            check.last.sequence(),
            check.last.epoch(),
            check.last.writer(),
            check.last.timeMillis(),
            check.last.sequence(),
            state.commits(),
            ByteBuffer.allocate(0));
    Backups.write(new Backups.Frozen(state.freeze(), history, end), target);
    return report;
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
        state.lastId());
  }

  @Override
  public void snapshot(Frame frame) {
    snapshot = frame;
  }

  @Override
  public void part(ByteBuffer payload) {
    if (loaded) {
      decode(payload);
      return;
    }
    records += replayer.snapshotRecords(payload);
    long commits = replayer.state().commits();
    if (commits != snapshot.position()) {
      throw new RecordException(
          "the snapshot of commit " + snapshot.position() + " contains commit " + commits);
    }
  }

  @Override
  public void snapshotEnd(boolean whole) {
    if (loaded) {
      return;
    }
    if (whole) {
      loaded = true;
      last = snapshot;
    } else {
      replayer = new Replayer();
    }
  }

  @Override
  public void frame(Frame frame) {
    if (frame.sequence() <= last.sequence()) {
      decode(frame.payload());
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

  private void decode(ByteBuffer payload) {
    RecordReader in = new RecordReader(payload);
    while (!in.atEnd()) {
      Records.read(in);
      records++;
    }
  }
}
