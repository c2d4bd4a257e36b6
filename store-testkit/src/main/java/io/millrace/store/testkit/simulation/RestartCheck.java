package io.millrace.store.testkit.simulation;

import io.millrace.store.Commit;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.StoreException;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore.Read;
import io.millrace.store.testkit.environment.SimulatedDisk;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Opens a store after crashes and restarts, and checks its content each time.
 *
 * <p>A strict store keeps what it has acknowledged through every crash and fault. If the disk has
 * damaged its files, the store may refuse to open without changing anything, or lose the newest
 * commits; then it goes on under a new history, refuses the lost positions, and uses no id twice.
 */
final class RestartCheck {
  private final SimulatedEnvironment environment;
  private final RandomGenerator random;
  private final HistoryChecker historyChecker;
  private final StoreOpener opener;
  private final BackupCheck backups;
  private final List<Commit> streamed = new ArrayList<>();

  /** Positions of lost commits, whose numbers a new history may use again. */
  private final List<Position> gone = new ArrayList<>();

  private @Nullable EmbeddedTaskStore store;
  private @Nullable CheckedSubscriber stream;
  private long history;

  /** The current history and those before it. */
  private Set<Long> histories = new HashSet<>();

  private long durable;

  /** The number of attempts to open the store since the last restored backup. */
  private int epochs;

  /** The maximum number of new histories since then. */
  private long forks;

  RestartCheck(
      SimulatedEnvironment environment,
      RandomGenerator random,
      HistoryChecker historyChecker,
      StoreOpener opener) {
    this.environment = environment;
    this.random = random;
    this.historyChecker = historyChecker;
    this.opener = opener;
    backups = new BackupCheck(environment, random, opener);
  }

  EmbeddedTaskStore store() {
    if (store == null) {
      throw new IllegalStateException("the store was never opened");
    }
    return store;
  }

  /** Opens the store for the first time. */
  void open() {
    EmbeddedTaskStore opened = opener.open();
    Position start = opened.tasks(List.of()).position();
    history = start.history();
    histories.add(history);
    use(opened, start);
  }

  private void use(EmbeddedTaskStore opened, Position after) {
    stream = follow(opened, after);
    streamed.clear();
    store = opened;
  }

  private static CheckedSubscriber follow(EmbeddedTaskStore opened, Position after) {
    Interest interest = Interest.everything().after(after);
    return new CheckedSubscriber(interest, opened.subscribe(interest));
  }

  /** The commits streamed since the last settled one. */
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

  /** Replaces a failed stream by a new one that starts after the last received commit. */
  void streamAgain() {
    if (stream != null) {
      stream.close();
    }
    long last =
        streamed.isEmpty()
            ? historyChecker.model().number()
            : streamed.getLast().position().number();
    stream = follow(store(), new Position(history, last));
  }

  /** Opens the store after a crash or a fault. More faults may happen meanwhile. */
  void comeBack() {
    takeStreamed();
    SimulatedDisk disk = environment.disk();
    // A recovery that found damage and was interrupted may have removed what was damaged.
    boolean cutShort = false;
    for (int attempt = 0; ; attempt++) {
      if (attempt < 3) {
        disturb(disk);
      }
      long faults = disk.faults();
      boolean damaged = disk.damaged() || cutShort;
      @Nullable EmbeddedTaskStore opened = null;
      try {
        opened = opener.open();
        recovered(opened, damaged, attempt + 1);
        disk.mend();
        if (disk.faults() > faults) {
          environment.advance(Duration.ofSeconds(2)); // a store without room looks every second
        }
        return;
      } catch (StoreException e) {
        if (disk.powerOff()) {
          cutShort = damaged;
          environment.cutPower();
          continue;
        }
        if (opened != null) {
          closeBroken(opened);
        }
        if (disk.faults() > faults) {
          cutShort = damaged;
        } else {
          if (!disk.damaged()) {
            throw new SimulationFailure("the store does not open again: " + e, e);
          }
          // It may refuse to open because of damage, but then all data must still exist.
          disk.heal();
        }
        disk.mend();
      }
    }
  }

  private void takeStreamed() {
    try {
      if (stream != null) {
        stream.poll(streamed);
      }
    } catch (StoreException e) {
      // The stream ends with its store. Earlier commits have been received.
    }
    if (!streamed.isEmpty()) {
      durable = streamed.getLast().position().number();
    }
  }

  private void disturb(SimulatedDisk disk) {
    int when = random.nextInt(1, 30);
    switch (random.nextInt(12)) {
      case 0, 1, 2, 3 -> disk.cutPowerAfter(when);
      case 4 -> disk.failReadAfter(when);
      case 5 -> disk.failFolderAfter(random.nextInt(1, 8));
      case 6 -> disk.failSyncAfter(when);
      case 7 -> disk.failWriteAfter(when);
      default -> {}
    }
  }

  private static void closeBroken(EmbeddedTaskStore opened) {
    try {
      opened.close();
    } catch (StoreException e) {
      // It had stopped before, so close may report that again.
    }
  }

  private void recovered(EmbeddedTaskStore opened, boolean damaged, int attempts) {
    Position end = opened.tasks(List.of()).position();
    List<Commit> commits =
        new ArrayList<>(
            streamed.stream().filter(each -> each.position().number() <= end.number()).toList());
    Position known =
        commits.isEmpty()
            ? new Position(history, historyChecker.model().number())
            : commits.getLast().position();
    if (end.number() > known.number()) {
      Interest interest = Interest.everything().after(known);
      try (CheckedSubscriber past = new CheckedSubscriber(interest, opened.subscribe(interest))) {
        past.poll(commits);
      }
    }
    boolean lostDurable = end.number() < durable;
    if (lostDurable && !damaged) {
      throw new SimulationFailure(
          "commit " + durable + " was durable, but the store ends at " + end);
    }
    @Nullable String lost =
        lostDurable ? "commit " + durable : historyChecker.toldBeyond(end.number());
    checkHistory(opened, end, lost, damaged);
    backups.forgetBeyond(end.number());
    if (end.number() < historyChecker.model().number()) {
      historyChecker.rollBack(end.number());
    }
    historyChecker.forgetBeyond(end.number());
    historyChecker.settle(commits, false);
    streamed.clear();
    historyChecker.retireToldIds();
    if (historyChecker.model().number() != end.number()) {
      throw new SimulationFailure(
          "the store ends at " + end + " but streams up to " + historyChecker.model().number());
    }
    historyChecker.pending().clear();
    durable = end.number();
    // A recovery that leaves something out begins one for itself, for each before it that was cut
    // short, and for each epoch that it may have left out.
    epochs += attempts;
    forks += end.history() == history ? 0 : attempts + epochs;
    history = end.history();
    histories.add(history);
    use(opened, end);
  }

  /** Checks the history: after a crash a store may start a new one; after a loss it must. */
  private void checkHistory(
      EmbeddedTaskStore opened, Position end, @Nullable String lost, boolean damaged) {
    boolean same = end.history() == history;
    if (opener.isStrict() && lost != null && !damaged) {
      throw new SimulationFailure("the store ends at " + end + " but had told: " + lost);
    }
    if (same && lost != null) {
      throw new SimulationFailure(
          "a store that ends at " + end + " goes on under the same history without " + lost);
    }
    if (!same) {
      gone.add(new Position(history, end.number() + 1));
      requireRefused(opened, gone.getLast());
    }
  }

  /** Checks that lost positions are still refused. */
  void requireGoneIsRefused() {
    if (!gone.isEmpty()) {
      requireRefused(store(), gone.get(random.nextInt(gone.size())));
    }
  }

  private static void requireRefused(EmbeddedTaskStore opened, Position lost) {
    try {
      opened.subscribe(Interest.everything().after(lost)).close();
      throw new SimulationFailure("the lost position " + lost + " is served");
    } catch (PositionLostException e) {
      if (e.why() != PositionLostException.Why.OTHER_HISTORY) {
        throw new SimulationFailure("a lost position is refused as " + e.why(), e);
      }
    }
  }

  /**
   * Checks that a position that was refused to a slow subscriber as gone is refused to others too.
   */
  void requireGone(Position position) {
    try {
      store().subscribe(Interest.everything().after(position)).close();
      throw new SimulationFailure("a subscriber was cut off, though " + position + " is kept");
    } catch (PositionLostException e) {
      if (e.why() != PositionLostException.Why.GONE) {
        throw new SimulationFailure("a position that was gone is refused as " + e.why(), e);
      }
    }
  }

  /** Closes the store normally and opens it again. */
  void restart(boolean digests) {
    @Nullable Read<String> digest = digests ? store().digest() : null;
    Position before = store().tasks(List.of()).position();
    store().close();
    EmbeddedTaskStore opened = opener.open();
    epochs++;
    Position after = opened.tasks(List.of()).position();
    if (!after.equals(before)) {
      throw new SimulationFailure("closed at " + before + " but opened at " + after);
    }
    if (digest != null) {
      compare(digest, opened.digest());
    }
    use(opened, after);
  }

  /** As time passes, remembered answers may be dropped; nothing else may change. */
  private static void compare(Read<String> closed, Read<String> opened) {
    if (closed.timeMillis() == opened.timeMillis() && !closed.value().equals(opened.value())) {
      throw new SimulationFailure("closed with " + closed + " but opened with " + opened);
    }
  }

  /** Simulates another process that tries to open the folder. */
  void intrude() {
    opener.intrude();
  }

  /** Makes a backup; {@code reads} checks a copy of it. */
  void backUp(StateCheck reads) {
    backups.backUp(store(), histories, reads);
  }

  /** Whether there is a backup of a state that the model knows. */
  boolean canGoBack() {
    backups.forgetBeyond(historyChecker.model().number());
    return !backups.isEmpty();
  }

  /** Closes the store and continues in another folder with a restored backup. */
  void goBack() {
    BackupCheck.Backup backup = backups.any();
    Position last = store().tasks(List.of()).position();
    store().close();
    // Each new history, also one that began with a backup, leaves out the ids of 1,024 seconds.
    environment.advance(Duration.ofSeconds(1_024L * (forks + 1)));
    forks = 0;
    epochs = 0;
    EmbeddedTaskStore opened = backups.goBack(backup);
    Position end = opened.tasks(List.of()).position();
    if (last.number() > end.number()) {
      gone.add(last);
      requireRefused(opened, last);
    }
    backups.forgetBeyond(end.number());
    historyChecker.rollBack(end.number());
    // The copy cannot know a history that began after the backup, though it holds its past.
    historyChecker.rename(backup.histories(), backup.position().history());
    historyChecker.pending().clear();
    durable = end.number();
    history = end.history();
    histories = new HashSet<>(backup.histories());
    histories.add(history);
    use(opened, end);
  }
}
