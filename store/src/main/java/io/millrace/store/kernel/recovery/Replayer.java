package io.millrace.store.kernel.recovery;

import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.GroupParts;
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

/** Rebuilds the state from the snapshot and the frames of a journal. */
public final class Replayer implements Journal.Replay {
  /**
   * The number of ids that a new history skips. Each id takes at least 8 bytes of journal, so a
   * crash loses fewer ids than this as long as less than 32 GiB are not on disk. 2^21 new histories
   * fit below 2^53.
   */
  static final long LEFT_OUT = 1L << 32;

  private final int nodeCapacity;
  private State state;
  private @Nullable History history;

  /** Whether commits after those read so far may have been lost, or differ in another copy. */
  private boolean forks;

  private long snapshotAt;
  private long bytes;
  private final GroupParts parts = new GroupParts();

  /** A replayer with an empty state. */
  public Replayer() {
    this(State.NODE_CAPACITY);
  }

  /** A replayer with an empty state whose tree nodes have this many elements at most. */
  public Replayer(int nodeCapacity) {
    this.nodeCapacity = nodeCapacity;
    this.state = new State(nodeCapacity);
  }

  /**
   * The result, once everything up to {@code tail} has been delivered. Begins a new history if
   * commits may have been lost, because an opportunistic store has crashed or a part of the journal
   * is unreadable. Called once.
   */
  public Recovered recovered(Environment environment, Journal.Tail tail) {
    History latest = history;
    if (latest == null) {
      latest = History.begin(environment.newRandom().nextLong());
    }
    // One new history for each cut, and one for each epoch whose record may be in the part that was
    // cut, because each of them may have begun a history and given ids in it.
    long more = tail.cuts() > 0 ? tail.cuts() + tail.lostEpochs() : forks ? 1 : 0;
    for (long i = more; i > 0; i--) {
      latest = latest.fork(environment.newRandom().nextLong(), state.commits());
      skipIds();
    }
    state.clearGroupsWithWork();
    return new Recovered(
        state,
        latest,
        Math.max(tail.timeMillis(), state.timeMillis()),
        tail,
        new Recovered.Replayed(snapshotAt, bytes));
  }

  /** The state so far. */
  public State state() {
    return state;
  }

  /** The history so far; null before the first record with one. */
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
    bytes = 0;
    parts.clear();
  }

  /** Restores a part of a snapshot; returns the number of its records. */
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
        case JournalRecord.KeptStarts starts -> state.restore(starts);
        case JournalRecord.KeptRequest(Event event) -> {
          if (event.request() == null) {
            throw new RecordException("commit " + event.number() + " is kept without a request id");
          }
          state.restore(event);
        }
        case JournalRecord.Committed _,
            JournalRecord.Opened _,
            JournalRecord.Closed _,
            JournalRecord.Part _ ->
            throw new RecordException("a record of the journal in a snapshot");
      }
    }
    state.clearGroupsWithWork();
  }

  /**
   * Skips the ids of commits that this journal may not contain: those that an opportunistic store
   * had not written before a crash, those that are unreadable, and those after a backup. A new
   * history begins with a durable record, so that every later replay skips the same ids.
   */
  private void skipIds() {
    state.restore(state.lastId() + LEFT_OUT, state.commits(), state.timeMillis());
  }

  private void put(Task task) {
    if (task.id() <= 0 || task.origin() <= 0) {
      throw new RecordException(
          "a task has the id " + task.id() + " and the origin " + task.origin());
    }
    if (state.find(TaskRef.id(task.id())) != null) {
      throw new RecordException("task " + task.id() + " occurs twice");
    }
    state.put(task);
  }

  @Override
  public void frame(Frame frame) {
    frameRecords(frame);
  }

  /** Applies a frame; returns the number of its records, 0 for a part of a divided group. */
  public long frameRecords(Frame frame) {
    bytes += frame.payload().remaining();
    ByteBuffer group = parts.add(frame.payload());
    if (group == null) {
      return 0;
    }
    RecordReader in = new RecordReader(group);
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
        case JournalRecord.Part _ -> throw new RecordException("a part within a group");
        case JournalRecord.Counters _,
            JournalRecord.KeptTask _,
            JournalRecord.KeptDocument _,
            JournalRecord.KeptStarts _,
            JournalRecord.KeptRequest _ ->
            throw new RecordException("a record of a snapshot in the journal");
      }
    }
    if (state.commits() != frame.position()) {
      throw new RecordException(
          "its last commit is " + state.commits() + ", but its header says " + frame.position());
    }
    state.clearGroupsWithWork();
    while (state.advance(frame.timeMillis())) {
      // Moves all tasks whose time has come, slice by slice.
    }
    return records;
  }

  /**
   * The result of recovery.
   *
   * @param state the state after the last commit
   * @param history the history with which to continue
   * @param timeMillis the last journaled store time
   * @param tail the end of the journal
   * @param replayed the amount of journal that was read after the snapshot
   */
  public record Recovered(
      State state, History history, long timeMillis, Journal.Tail tail, Replayed replayed) {
    /**
     * The amount of journal that was read after the snapshot.
     *
     * @param snapshotAt the number of commits in the snapshot, 0 for no snapshot
     * @param bytes the size of the payloads of the frames after it
     */
    public record Replayed(long snapshotAt, long bytes) {}
  }
}
