package io.millrace.store.testkit.simulation;

import io.millrace.store.Commit;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Interest;
import io.millrace.store.Journaling;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.Read;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions;
import io.millrace.store.journal.FileJournal;
import io.millrace.store.journal.FileJournalOptions;
import io.millrace.store.journal.Retention;
import io.millrace.store.kernel.EmbeddedStore;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Opens a store again and again, and checks each time that it holds what it must. */
final class Openings {
  private static final int SMALL_SEGMENTS = 1 << 16;
  private static final int MOST_PAYLOAD = 1 << 24;

  private final SimulatedEnvironment environment;
  private final RandomGenerator random;
  private final Ledger ledger;
  private final StoreOptions options;
  private final FileJournalOptions journalOptions;
  private final List<Commit> streamed = new ArrayList<>();
  private @Nullable EmbeddedTaskStore store;
  private @Nullable Listener stream;
  private long history;
  private long durable;

  Openings(SimulatedEnvironment environment, RandomGenerator random, Ledger ledger) {
    this.environment = environment;
    this.random = random;
    this.ledger = ledger;
    options =
        StoreOptions.in(Path.of("store"))
            .withEnvironment(environment)
            .withJournaling(random.nextInt(4) == 0 ? Journaling.OPPORTUNISTIC : Journaling.STRICT)
            .withSnapshotEvery(random.nextInt(20, 400));
    Retention retention =
        random.nextBoolean()
            ? Retention.NONE
            : new Retention(
                random.nextInt(20) * (long) SMALL_SEGMENTS,
                Duration.ofSeconds(random.nextInt(10_000)));
    journalOptions = new FileJournalOptions(SMALL_SEGMENTS, MOST_PAYLOAD, retention);
  }

  EmbeddedTaskStore store() {
    if (store == null) {
      throw new IllegalStateException("the store was never opened");
    }
    return store;
  }

  /** Opens the store for the first time. */
  void open() {
    EmbeddedTaskStore opened = openJournal();
    Position start = opened.tasks(List.of()).position();
    history = start.history();
    use(opened, start);
  }

  private EmbeddedTaskStore openJournal() {
    FileJournal journal = FileJournal.open(environment, options.folder(), journalOptions);
    try {
      return EmbeddedStore.open(options, journal);
    } catch (RuntimeException | Error e) {
      journal.close();
      throw e;
    }
  }

  private void use(EmbeddedTaskStore opened, Position after) {
    Interest interest = Interest.everything().after(after);
    stream = new Listener(interest, opened.subscribe(interest));
    streamed.clear();
    store = opened;
  }

  /** The commits that were streamed since the last one settled. */
  List<Commit> poll() {
    if (stream != null) {
      stream.poll(streamed);
    }
    List<Commit> commits = List.copyOf(streamed);
    streamed.clear();
    if (!commits.isEmpty()) {
      durable = commits.getLast().position().number();
    }
    return commits;
  }

  /** Opens the store after a crash or a fault, perhaps through further crashes. */
  void comeBack() {
    try {
      if (stream != null) {
        stream.poll(streamed);
      }
    } catch (StoreException e) {
      // The stream ends with its store; what came before has been taken.
    }
    if (!streamed.isEmpty()) {
      durable = streamed.getLast().position().number();
    }
    for (int attempt = 0; ; attempt++) {
      if (attempt < 3 && random.nextInt(3) == 0) {
        environment.disk().cutPowerAfter(random.nextInt(1, 30));
      }
      try {
        EmbeddedTaskStore opened = openJournal();
        recovered(opened);
        environment.disk().mend();
        return;
      } catch (StoreException e) {
        if (!environment.disk().powerOff()) {
          throw new SimulationFailure("the store does not open again: " + e, e);
        }
        environment.cutPower();
      }
    }
  }

  private void recovered(EmbeddedTaskStore opened) {
    Position end = opened.tasks(List.of()).position();
    List<Commit> commits = new ArrayList<>(streamed);
    Position known =
        commits.isEmpty()
            ? new Position(history, ledger.model().number())
            : commits.getLast().position();
    if (end.number() > known.number()) {
      Interest interest = Interest.everything().after(known);
      Listener past = new Listener(interest, opened.subscribe(interest));
      past.poll(commits);
      past.close();
    }
    if (end.number() < durable) {
      throw new SimulationFailure(
          "commit " + durable + " was durable, but the store ends at " + end);
    }
    @Nullable String lost = ledger.toldBeyond(end.number());
    checkHistory(opened, end, lost);
    ledger.forgetBeyond(end.number());
    ledger.settle(commits, false);
    ledger.retireToldIds();
    if (ledger.model().number() != end.number()) {
      throw new SimulationFailure(
          "the store ends at " + end + " but streams up to " + ledger.model().number());
    }
    ledger.queue().clear();
    durable = end.number();
    history = end.history();
    use(opened, end);
  }

  private void checkHistory(EmbeddedTaskStore opened, Position end, @Nullable String lost) {
    boolean same = end.history() == history;
    if (options.journaling() == Journaling.STRICT && lost != null) {
      throw new SimulationFailure("the store ends at " + end + " but had told: " + lost);
    }
    if (same && lost != null) {
      throw new SimulationFailure("a store that lost commits goes on under the same history");
    }
    if (!same) {
      // A strict store forks too if its journal ended with something that it could not read.
      Position gone = new Position(history, end.number() + 1);
      try {
        opened.subscribe(Interest.everything().after(gone)).close();
        throw new SimulationFailure("the lost position " + gone + " is served");
      } catch (PositionLostException e) {
        if (e.why() != PositionLostException.Why.OTHER_HISTORY) {
          throw new SimulationFailure("a lost position is refused as " + e.why(), e);
        }
      }
    }
  }

  /** Closes in order and opens again. */
  void restart(boolean digests) {
    @Nullable Read<String> digest = digests ? store().digest() : null;
    Position before = store().tasks(List.of()).position();
    store().close();
    EmbeddedTaskStore opened = openJournal();
    Position after = opened.tasks(List.of()).position();
    if (!after.equals(before)) {
      throw new SimulationFailure("closed at " + before + " but opened at " + after);
    }
    if (digest != null) {
      compare(digest, opened.digest());
    }
    use(opened, after);
  }

  /** Where time went on, answers may have been forgotten; nothing else may have changed. */
  private static void compare(Read<String> closed, Read<String> opened) {
    if (closed.timeMillis() == opened.timeMillis() && !closed.value().equals(opened.value())) {
      throw new SimulationFailure("closed with " + closed + " but opened with " + opened);
    }
  }
}
