package io.millrace.store.kernel.recovery;

import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.History;
import io.millrace.store.kernel.records.JournalRecord;
import io.millrace.store.kernel.records.RecordException;
import io.millrace.store.kernel.records.RecordReader;
import io.millrace.store.kernel.records.Records;
import io.millrace.store.kernel.state.State;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Builds the state anew from what a journal delivers. */
public final class Replayer implements Journal.Replay {
  /**
   * How many ids a new history leaves out. An id takes at least 8 bytes of journal, so a crash
   * loses fewer as long as less than 32 GiB are not on disk; and 2^21 new histories fit below 2^53.
   */
  static final long LEFT_OUT = 1L << 32;

  private final int nodeCapacity;
  private State state;
  private @Nullable History history;

  /** Whether commits may have been lost, or taken another way, after what was read so far. */
  private boolean forks;

  private long snapshotAt;
  private long bytes;

  /** A replay into an empty state. */
  public Replayer() {
    this(State.NODE_CAPACITY);
  }

  private Replayer(int nodeCapacity) {
    this.nodeCapacity = nodeCapacity;
    this.state = new State(nodeCapacity);
  }

  /**
   * Recovers from {@code journal}; begins a new history if the old one may have lost commits: those
   * of an opportunistic store that crashed, or those that the journal cannot read.
   */
  public static Recovered recover(Environment environment, Journal journal, int nodeCapacity) {
    Replayer replayer = new Replayer(nodeCapacity);
    Journal.Tail tail = journal.recover(replayer);
    History history = replayer.history;
    if (history == null) {
      history = History.begin(environment.newRandom().nextLong());
    }
    // One new history for each cut, and one for each epoch whose record may be in what was cut,
    // since each of them may have begun a history and given ids in it.
    long forks = tail.cuts() > 0 ? tail.cuts() + tail.lostEpochs() : replayer.forks ? 1 : 0;
    for (long i = forks; i > 0; i--) {
      history = history.fork(environment.newRandom().nextLong(), replayer.state.commits());
      replayer.skipIds();
    }
    replayer.state.clearGroupsWithWork();
    return new Recovered(
        replayer.state,
        history,
        Math.max(tail.timeMillis(), replayer.state.timeMillis()),
        tail,
        new Recovered.Replayed(replayer.snapshotAt, replayer.bytes));
  }

  /** The state so far. */
  public State state() {
    return state;
  }

  /** The histories so far; null before the first record that tells of one. */
  public @Nullable History history() {
    return history;
  }

  @Override
  public Runnable snapshotPart(ByteBuffer payload) {
    List<JournalRecord> records = decode(payload);
    return () -> putBack(records);
  }

  @Override
  public void reset() {
    state = new State(nodeCapacity);
    history = null;
    forks = false;
    snapshotAt = 0;
  }

  /** Puts back a part of a snapshot; gives the number of its records. */
  public long snapshotRecords(ByteBuffer payload) {
    List<JournalRecord> records = decode(payload);
    putBack(records);
    return records.size();
  }

  private static List<JournalRecord> decode(ByteBuffer payload) {
    RecordReader in = new RecordReader(payload);
    List<JournalRecord> records = new ArrayList<>();
    while (!in.atEnd()) {
      records.add(Records.read(in));
    }
    return records;
  }

  private void putBack(List<JournalRecord> records) {
    for (JournalRecord each : records) {
      switch (each) {
        case JournalRecord.Counters counters -> {
          state.restore(counters.lastId(), counters.commits(), counters.timeMillis());
          history = counters.history();
          snapshotAt = counters.commits();
          forks = counters.forks();
        }
        case JournalRecord.KeptTask(Task task) -> put(task);
        case JournalRecord.KeptDocument kept -> state.put(kept.document());
        case JournalRecord.KeptRequest(Event event) -> {
          if (event.request() == null) {
            throw new RecordException("commit " + event.number() + " is kept without a request id");
          }
          state.restore(event);
        }
        case JournalRecord.Committed _, JournalRecord.Opened _, JournalRecord.Closed _ ->
            throw new RecordException("a record of the journal in a snapshot");
      }
    }
    state.clearGroupsWithWork();
  }

  /**
   * Leaves out the ids that commits may have got which this journal does not hold: those that an
   * opportunistic store had not written before a crash, those that cannot be read any more, and
   * those after a backup. A new history begins in the journal with a durable record, so that every
   * later replay leaves out the same.
   */
  private void skipIds() {
    state.restore(state.lastId() + LEFT_OUT, state.commits(), state.timeMillis());
  }

  private void put(Task task) {
    if (task.id() <= 0 || task.origin() <= 0) {
      throw new RecordException("no task has the id " + task.id() + " or origin " + task.origin());
    }
    if (state.find(TaskRef.id(task.id())) != null) {
      throw new RecordException("task " + task.id() + " is there twice");
    }
    state.put(task);
  }

  @Override
  public void frame(Frame frame) {
    frameRecords(frame);
  }

  /** Applies a frame; gives the number of its records. */
  public long frameRecords(Frame frame) {
    RecordReader in = new RecordReader(frame.payload());
    bytes += frame.payload().remaining();
    long records = 0;
    for (; !in.atEnd(); records++) {
      switch (Records.read(in)) {
        case JournalRecord.Committed(Event event) -> {
          EventValidator.require(state, event);
          state.apply(state.complete(event));
        }
        case JournalRecord.Opened opened -> {
          History before =
              history != null
                  ? history
                  : History.begin(opened.history().branches().getFirst().id());
          if (!before.equals(opened.history())) {
            int more = opened.history().branches().size() - before.branches().size();
            for (int i = 0; i < Math.max(1, more); i++) {
              skipIds();
            }
          }
          history = opened.history();
          forks = opened.journaling() == Journaling.OPPORTUNISTIC;
        }
        case JournalRecord.Closed() -> forks = false;
        case JournalRecord.Counters _,
            JournalRecord.KeptTask _,
            JournalRecord.KeptDocument _,
            JournalRecord.KeptRequest _ ->
            throw new RecordException("a record of a snapshot in the journal");
      }
    }
    if (state.commits() != frame.position()) {
      throw new RecordException(
          "it ends with commit " + state.commits() + " but says " + frame.position());
    }
    state.clearGroupsWithWork();
    while (state.advance(frame.timeMillis())) {
      // Every delayed task and lease that is over moves now, slice by slice.
    }
    return records;
  }

  /**
   * What a store begins with.
   *
   * @param state the state after the last commit
   * @param history the histories up to the one to go on with
   * @param timeMillis the last journaled store time
   * @param tail where the journal ended
   * @param replayed what lies between the snapshot that it began with and the end
   */
  public record Recovered(
      State state, History history, long timeMillis, Journal.Tail tail, Replayed replayed) {
    /**
     * What was read after the snapshot.
     *
     * @param snapshotAt how many commits the snapshot holds, 0 for none
     * @param bytes the size of the frames' payloads after it
     */
    public record Replayed(long snapshotAt, long bytes) {}
  }
}
