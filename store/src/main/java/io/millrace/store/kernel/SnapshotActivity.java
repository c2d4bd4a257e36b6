package io.millrace.store.kernel;

import io.millrace.store.environment.Activity;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.kernel.records.JournalRecord;
import io.millrace.store.kernel.records.RecordWriter;
import java.util.Iterator;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Writes one snapshot beside the working store, a part at each step, and publishes it. */
final class SnapshotActivity implements Activity {
  /** What stands for a frame where no other will become durable, or no time is left. */
  static final long STOPPED = -1;

  private final Iterator<JournalRecord> records;
  private final Journal.SnapshotWriter writer;
  private final long sequence;
  private final LongSupplier durableSequence;
  private final Consumer<@Nullable Throwable> done;
  private final RecordWriter part = new RecordWriter();
  private boolean told;

  /**
   * A snapshot of what the journal adds up to after frame {@code sequence}.
   *
   * @param durableSequence the last frame that is durable, or {@link #STOPPED}
   * @param done called once on this activity's thread: with null when the snapshot is published,
   *     with what went wrong when it was abandoned
   */
  SnapshotActivity(
      Iterator<JournalRecord> records,
      Journal.SnapshotWriter writer,
      long sequence,
      LongSupplier durableSequence,
      Consumer<@Nullable Throwable> done) {
    this.records = records;
    this.writer = writer;
    this.sequence = sequence;
    this.durableSequence = durableSequence;
    this.done = done;
  }

  @Override
  public long step() {
    try {
      long durable = durableSequence.getAsLong();
      if (durable == STOPPED) {
        throw new JournalException("the store has stopped");
      }
      if (SnapshotRecords.fill(part, records)) {
        writer.part(part.view());
        part.clear();
        return 0;
      }
      if (durable < sequence) {
        return UNTIL_SIGNALLED;
      }
      writer.publish();
    } catch (Throwable e) {
      // Errors too: as long as nobody hears of its end, no other snapshot begins.
      failed(e);
      return FINISHED;
    }
    tell(null);
    return FINISHED;
  }

  @Override
  public void failed(Throwable thrown) {
    try {
      abandon(thrown);
    } finally {
      tell(thrown);
    }
  }

  private void tell(@Nullable Throwable failure) {
    if (!told) {
      told = true;
      done.accept(failure);
    }
  }

  /** What fails once may fail again when it is thrown away; recovery removes what stays. */
  private void abandon(Throwable why) {
    try {
      writer.abandon();
    } catch (RuntimeException e) {
      why.addSuppressed(e);
    }
  }
}
