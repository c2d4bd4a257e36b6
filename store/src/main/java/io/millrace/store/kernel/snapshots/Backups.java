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
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Iterator;

/** Writes backups, which are snapshots on any stream, and restores stores from them. */
public final class Backups {
  /** The time for which {@link #minId} is 0: 2020-01-01T00:00:00Z, in milliseconds. */
  private static final long ID_EPOCH_MILLIS = 1_577_836_800_000L;

  /** The number of ids per second, as a power of two; they last until 2088. */
  private static final int IDS_PER_SECOND_BITS = 22;

  /** The content of a backup. */
  public record Frozen(FrozenState state, History history, Frame frame) {}

  private Backups() {}

  /**
   * Creates a store from a backup, in a folder that is empty or does not exist yet.
   *
   * <p>The original store, and other copies of it, may have given ids after the backup, which the
   * new store must not give again. The backup does not say which. So the new store skips all ids up
   * to a number that increases with the wall clock, faster than any store gives ids.
   *
   * @return the number of commits of the store
   * @throws StoreException if the backup is damaged, or the folder is in use, not empty, or cannot
   *     be written
   */
  public static long restore(Environment environment, Path folder, InputStream backup) {
    long minId = minId(environment.wallMillis());
    return FileJournal.restore(environment, folder, backup, part -> skipIds(part, minId))
        .position();
  }

  /** The last id to skip: no store has given a larger one, unless the clock is wrong. */
  public static long minId(long wallMillis) {
    long seconds = Math.max(0, wallMillis - ID_EPOCH_MILLIS) / 1_000;
    // A clock that is far ahead must not use up the ids.
    return Math.min(seconds << IDS_PER_SECOND_BITS, Limits.LARGEST_NUMBER / 2);
  }

  /** The part; if it has the counters, with a last id of at least {@code minId}. */
  private static ByteBuffer skipIds(ByteBuffer part, long minId) {
    RecordReader in = new RecordReader(part.duplicate());
    if (!(Records.read(in) instanceof JournalRecord.Counters counters)) {
      return part;
    }
    RecordWriter out = new RecordWriter();
    Records.write(
        out,
        new JournalRecord.Counters(
            Math.max(counters.lastId(), minId),
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
      stream(frozen).transferTo(target);
    } catch (IOException e) {
      throw new StoreException("the backup could not be written: " + e.getMessage(), e);
    }
  }

  /** A backup that is made as it is read. */
  public static InputStream stream(Frozen frozen) {
    return new Stream(SnapshotRecords.of(frozen.state(), frozen.history(), true), frozen.frame());
  }

  private static final class Stream extends InputStream {
    private final Iterator<JournalRecord> records;
    private final RecordWriter part = new RecordWriter();
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();
    private final SnapshotOutput output;
    private ByteArrayInputStream ready = new ByteArrayInputStream(new byte[0]);
    private boolean ended;

    Stream(Iterator<JournalRecord> records, Frame frame) {
      this.records = records;
      try {
        output = new SnapshotOutput(written, frame, true);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int from, int length) throws IOException {
      while (length > 0 && ready.available() == 0) {
        if (ended) {
          return -1;
        }
        part.clear();
        if (SnapshotRecords.fill(part, records)) {
          output.part(part.view());
        } else {
          output.finish();
          ended = true;
        }
        ready = new ByteArrayInputStream(written.toByteArray());
        written.reset();
      }
      return length == 0 ? 0 : ready.read(target, from, length);
    }
  }
}
