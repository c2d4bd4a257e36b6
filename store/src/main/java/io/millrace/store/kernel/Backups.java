package io.millrace.store.kernel;

import io.millrace.store.Position;
import io.millrace.store.Read;
import io.millrace.store.StoreException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.SnapshotOutput;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Iterator;

/** Backups: a snapshot that stands alone, written to any stream. */
final class Backups {
  /** What a backup is made of. */
  record Frozen(FrozenState state, History history, Frame frame) {}

  private Backups() {}

  /** Takes what there is now. For the loop's thread. */
  static Frozen freeze(StoreLoop loop) {
    return new Frozen(
        loop.state().freeze(),
        loop.engine().history(),
        loop.outlets().snapshots().latestFrame(loop.state().commits()));
  }

  static Position write(Read<Frozen> read, OutputStream target) {
    write(read.value(), target);
    return read.position();
  }

  static void write(Frozen frozen, OutputStream target) {
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
