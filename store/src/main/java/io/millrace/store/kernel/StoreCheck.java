package io.millrace.store.kernel;

import io.millrace.store.StoreReport;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.JournalCheck;
import io.millrace.store.journal.JournalContents;
import io.millrace.store.journal.JournalReport;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * Reads all records of a folder, and replays what a restart would: the newest whole snapshot and
 * the frames after it.
 */
public final class StoreCheck implements JournalContents {
  private Replayer replayer = new Replayer();

  /** Whether a whole snapshot was found; those that follow are older. */
  private boolean loaded;

  /** The last frame that the state holds. */
  private long sequence;

  /** Whether a frame could not be applied, so that none after it can. */
  private boolean broken;

  private long records;
  private Frame snapshot = new Frame(0, 0, 0, 0, 0, 0, ByteBuffer.allocate(0));

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
          "the snapshot of commit " + snapshot.position() + " holds commit " + commits);
    }
  }

  @Override
  public void snapshotEnd(boolean whole) {
    if (loaded) {
      return;
    }
    if (whole) {
      loaded = true;
      sequence = snapshot.sequence();
    } else {
      replayer = new Replayer();
    }
  }

  @Override
  public void frame(Frame frame) {
    if (frame.sequence() <= sequence) {
      decode(frame.payload());
      return;
    }
    // The journal itself tells of a gap.
    broken |= frame.sequence() != sequence + 1;
    if (broken) {
      decode(frame.payload());
      return;
    }
    broken = true;
    records += replayer.frameRecords(frame);
    sequence = frame.sequence();
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
