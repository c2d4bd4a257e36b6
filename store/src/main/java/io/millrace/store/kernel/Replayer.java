package io.millrace.store.kernel;

import io.millrace.store.Journaling;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Builds the state anew from what a journal delivers. */
final class Replayer implements Journal.Replay {
  private final State state = new State();
  private @Nullable History history;

  /** Whether commits may have been lost, or taken another way, after what was read so far. */
  private boolean forks;

  private long snapshotAt;

  /**
   * Recovers from {@code journal}; draws a new history's id where the old one may have lost
   * commits.
   */
  static Recovered recover(Environment environment, Journal journal) {
    Replayer replayer = new Replayer();
    Journal.Tail tail = journal.recover(replayer);
    StoreClock clock =
        new StoreClock(environment, Math.max(tail.timeMillis(), replayer.state.timeMillis()));
    History history = replayer.history;
    long drawn = environment.newRandom().nextLong();
    if (history == null) {
      history = History.begin(drawn);
    } else if (replayer.forks) {
      history = history.fork(drawn, replayer.state.commits());
    }
    replayer.state.clearStirred();
    return new Recovered(replayer.state, history, clock, tail, replayer.snapshotAt);
  }

  @Override
  public void snapshotPart(ByteBuffer payload) {
    RecordReader in = new RecordReader(payload);
    while (!in.atEnd()) {
      switch (Records.read(in)) {
        case JournalRecord.Counters counters -> {
          state.restore(counters.lastId(), counters.commits(), counters.timeMillis());
          history = counters.history();
          snapshotAt = counters.commits();
          forks = counters.forks();
        }
        case JournalRecord.KeptTask kept -> state.put(kept.task());
        case JournalRecord.KeptDocument kept -> state.put(kept.document());
        case JournalRecord.KeptRequest kept -> state.restore(kept.event());
        case JournalRecord.Committed _, JournalRecord.Opened _, JournalRecord.Closed _ ->
            throw new RecordException("a record of the journal in a snapshot");
      }
    }
    state.clearStirred();
  }

  @Override
  public void frame(Frame frame) {
    RecordReader in = new RecordReader(frame.payload());
    while (!in.atEnd()) {
      switch (Records.read(in)) {
        case JournalRecord.Committed(Event event) -> {
          if (event.number() != state.commits() + 1) {
            throw new RecordException(
                "commit " + event.number() + " follows commit " + state.commits());
          }
          state.apply(state.complete(event));
        }
        case JournalRecord.Opened opened -> {
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
          "frame "
              + frame.sequence()
              + " ends with commit "
              + state.commits()
              + " but says "
              + frame.position());
    }
    state.clearStirred();
    while (state.advance(frame.timeMillis())) {
      // Every delayed task and lease that is over moves now, slice by slice.
    }
  }
}
