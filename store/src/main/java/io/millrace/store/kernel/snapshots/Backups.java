package io.millrace.store.kernel.snapshots;

import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.SnapshotOutput;
import io.millrace.store.kernel.records.History;
import io.millrace.store.kernel.records.JournalRecord;
import io.millrace.store.kernel.records.RecordReader;
import io.millrace.store.kernel.records.RecordWriter;
import io.millrace.store.kernel.records.Records;
import io.millrace.store.kernel.state.FrozenState;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Iterator;

/** Backups: a snapshot that stands alone, written to any stream, and stores made of them. */
public final class Backups {
  /** Where {@link #leastId} begins to count: 2020-01-01T00:00:00Z, in milliseconds. */
  private static final long COUNTED_FROM = 1_577_836_800_000L;

  /** How many ids a second of it stands for, as a power of two: the last ones come in 2088. */
  private static final int IDS_PER_SECOND_BITS = 22;

  /** What a backup is made of. */
  public record Frozen(FrozenState state, History history, Frame frame) {}

  private Backups() {}

  /**
   * Makes a store of a backup, in a folder that is empty or not there yet.
   *
   * <p>The store that was backed up has lived on, and other copies may have, so the copy must not
   * give the ids that they gave. Nothing in the backup tells which: it leaves out all up to a
   * number that grows with the wall clock, faster than any store gives ids.
   *
   * @return how many commits the store holds
   * @throws StoreException when the backup is damaged, or the folder is in use, not empty, or
   *     cannot be written
   */
  public static long restore(Environment environment, Path folder, InputStream backup) {
    long leastId = leastId(environment.wallMillis());
    return FileJournal.restore(environment, folder, backup, part -> leavingOutIds(part, leastId))
        .position();
  }

  /** No store has given an id beyond this one, unless the clock is wrong. */
  static long leastId(long wallMillis) {
    long seconds = Math.max(0, wallMillis - COUNTED_FROM) / 1_000;
    // A clock that is far ahead must not use up the ids.
    return Math.min(seconds << IDS_PER_SECOND_BITS, Limits.LARGEST_NUMBER / 2);
  }

  /** The part with its counters, if it has any, moved on. */
  private static ByteBuffer leavingOutIds(ByteBuffer part, long leastId) {
    RecordReader in = new RecordReader(part.duplicate());
    if (!(Records.read(in) instanceof JournalRecord.Counters counters)) {
      return part;
    }
    RecordWriter out = new RecordWriter();
    Records.write(
        out,
        new JournalRecord.Counters(
            Math.max(counters.lastId(), leastId),
            counters.commits(),
            counters.timeMillis(),
            counters.forks(),
            counters.history()));
    while (!in.atEnd()) {
      Records.write(out, Records.read(in));
    }
    return out.view();
  }

  /** Writes a backup. */
  public static void write(Frozen frozen, OutputStream target) {
    try {
      SnapshotOutput output = new SnapshotOutput(target, frozen.frame(), true);
      Iterator<JournalRecord> records = SnapshotRecords.of(frozen.state(), frozen.history(), true);
      RecordWriter part = new RecordWriter();
      while (SnapshotRecords.fill(part, records)) {
        output.part(part.view());
        part.clear();
      }
      output.finish();
    } catch (IOException e) {
      throw new StoreException("the backup could not be written: " + e.getMessage(), e);
    }
  }
}
