package io.millrace.store.testkit.simulation;

import io.millrace.store.Bytes;
import io.millrace.store.Commit;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Interest;
import io.millrace.store.Journaling;
import io.millrace.store.Limits;
import io.millrace.store.Position;
import io.millrace.store.PositionLostException;
import io.millrace.store.Read;
import io.millrace.store.StoreException;
import io.millrace.store.StoreOptions;
import io.millrace.store.journal.FileJournal;
import io.millrace.store.journal.FileJournalOptions;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.Retention;
import io.millrace.store.kernel.EmbeddedStore;
import io.millrace.store.testkit.environment.SimulatedDisk;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Opens a store again and again, and checks each time that it holds what it must.
 *
 * <p>What a strict store has told is there after every crash and fault. When the disk has damaged
 * what it held, the store may refuse to open, having changed nothing, or lose the newest commits;
 * then it goes on as another history, refuses the positions that are lost, and gives no id twice.
 */
final class Openings {
  private static final int SMALL_SEGMENTS = 1 << 16;
  private static final int MOST_PAYLOAD = 1 << 24;

  /** A backup of what the store held at a position, and the histories that had led to it. */
  private record Backup(Bytes bytes, Position position, Set<Long> histories) {}

  private final SimulatedEnvironment environment;
  private final RandomGenerator random;
  private final Ledger ledger;
  private final FileJournalOptions journalOptions;
  private final int nodeCapacity;
  private final List<Commit> streamed = new ArrayList<>();
  private final List<Backup> backups = new ArrayList<>();

  /** Positions whose commits are lost, which another history may reach again by number. */
  private final List<Position> gone = new ArrayList<>();

  private StoreOptions options;
  private @Nullable EmbeddedTaskStore store;
  private @Nullable Listener stream;
  private long history;

  /** The present history and those before it, by whose names positions were told. */
  private Set<Long> histories = new HashSet<>();

  private long durable;
  private int folders;

  /** The most new histories that may have begun since the last restored backup. */
  private int forks;

  Openings(SimulatedEnvironment environment, RandomGenerator random, Ledger ledger, Limits limits) {
    this.environment = environment;
    this.random = random;
    this.ledger = ledger;
    options =
        StoreOptions.in(Path.of("data/store"))
            .withEnvironment(environment)
            .withJournaling(random.nextInt(4) == 0 ? Journaling.OPPORTUNISTIC : Journaling.STRICT)
            .withSnapshotEvery(random.nextInt(5, 300))
            .withLimits(limits);
    Retention retention =
        random.nextBoolean()
            ? Retention.NONE
            : new Retention(
                random.nextInt(20) * (long) SMALL_SEGMENTS,
                Duration.ofSeconds(random.nextInt(10_000)));
    journalOptions = new FileJournalOptions(SMALL_SEGMENTS, MOST_PAYLOAD, retention);
    nodeCapacity = random.nextInt(4, 13);
  }

  /** The usual limits, or small ones. */
  static Limits limits(RandomGenerator random) {
    Limits usual = Limits.defaults();
    if (random.nextBoolean()) {
      return usual;
    }
    return new Limits(
        random.nextInt(6, 20),
        random.nextInt(1_000, 40_000),
        usual.dataBytes(),
        usual.nameBytes(),
        usual.requestIdBytes(),
        random.nextInt(1, 6),
        random.nextInt(1, 4),
        random.nextInt(1, 5),
        random.nextInt(3, 8),
        random.nextBoolean() ? usual.subscriberLag() : random.nextInt(1, 50),
        random.nextBoolean() ? usual.subscriberLagBytes() : random.nextInt(500, 20_000),
        usual.queuedCommands(),
        usual.queuedBytes(),
        random.nextInt(500, 20_000),
        random.nextBoolean() ? usual.memoryBytes() : random.nextLong(8_000, 60_000));
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
    histories.add(history);
    use(opened, start);
  }

  private EmbeddedTaskStore openJournal() {
    return open(options);
  }

  private EmbeddedTaskStore open(StoreOptions options) {
    Journal journal =
        new UnsettledKept(FileJournal.open(environment, options.folder(), journalOptions));
    try {
      return EmbeddedStore.open(options, journal, nodeCapacity);
    } catch (RuntimeException | Error e) {
      journal.close();
      throw e;
    }
  }

  /**
   * A journal that keeps the commits that the ledger has yet to get, however slow its stream is.
   */
  private final class UnsettledKept implements Journal {
    private final Journal journal;

    UnsettledKept(Journal journal) {
      this.journal = journal;
    }

    @Override
    public void trim(long keepAfterPosition) {
      journal.trim(Math.min(keepAfterPosition, ledger.model().number()));
    }

    @Override
    public Tail recover(Replay replay) {
      return journal.recover(replay);
    }

    @Override
    public CompletableFuture<Void> append(Frame frame) {
      return journal.append(frame);
    }

    @Override
    public SnapshotWriter snapshot(Frame frame) {
      return journal.snapshot(frame);
    }

    @Override
    public @Nullable Reader read(long position) {
      return journal.read(position);
    }

    @Override
    public long unsyncedBytes() {
      return journal.unsyncedBytes();
    }

    @Override
    public @Nullable Shortage shortage() {
      return journal.shortage();
    }

    @Override
    public long freeBytes() {
      return journal.freeBytes();
    }

    @Override
    public void close() {
      journal.close();
    }
  }

  private void use(EmbeddedTaskStore opened, Position after) {
    stream = follow(opened, after);
    streamed.clear();
    store = opened;
  }

  private static Listener follow(EmbeddedTaskStore opened, Position after) {
    Interest interest = Interest.everything().after(after);
    return new Listener(interest, opened.subscribe(interest));
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

  /** Goes on with another stream after the last commit that has come, when this one has failed. */
  void streamAgain() {
    if (stream != null) {
      stream.close();
    }
    long last =
        streamed.isEmpty() ? ledger.model().number() : streamed.getLast().position().number();
    stream = follow(store(), new Position(history, last));
  }

  /** Opens the store after a crash or a fault, perhaps through further ones. */
  void comeBack() {
    takeStreamed();
    SimulatedDisk disk = environment.disk();
    // A recovery that met damage, and was cut short itself, may have cut off what was damaged.
    boolean cutShort = false;
    for (int attempt = 0; ; attempt++) {
      if (attempt < 3) {
        disturb(disk);
      }
      long faults = disk.faults();
      boolean damaged = disk.damaged() || cutShort;
      @Nullable EmbeddedTaskStore opened = null;
      try {
        opened = openJournal();
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
          // It may say no to damage, but then everything must still be there.
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
      // The stream ends with its store; what came before has been taken.
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
      // It had stopped before; a close that says so again is all right.
    }
  }

  private void recovered(EmbeddedTaskStore opened, boolean damaged, int attempts) {
    Position end = opened.tasks(List.of()).position();
    List<Commit> commits =
        new ArrayList<>(
            streamed.stream().filter(each -> each.position().number() <= end.number()).toList());
    Position known =
        commits.isEmpty()
            ? new Position(history, ledger.model().number())
            : commits.getLast().position();
    if (end.number() > known.number()) {
      Interest interest = Interest.everything().after(known);
      try (Listener past = new Listener(interest, opened.subscribe(interest))) {
        past.poll(commits);
      }
    }
    boolean lostDurable = end.number() < durable;
    if (lostDurable && !damaged) {
      throw new SimulationFailure(
          "commit " + durable + " was durable, but the store ends at " + end);
    }
    @Nullable String lost = lostDurable ? "commit " + durable : ledger.toldBeyond(end.number());
    checkHistory(opened, end, lost, damaged);
    backups.removeIf(backup -> backup.position().number() > end.number());
    if (end.number() < ledger.model().number()) {
      ledger.rollBack(end.number());
    }
    ledger.forgetBeyond(end.number());
    ledger.settle(commits, false);
    streamed.clear();
    ledger.retireToldIds();
    if (ledger.model().number() != end.number()) {
      throw new SimulationFailure(
          "the store ends at " + end + " but streams up to " + ledger.model().number());
    }
    ledger.queue().clear();
    durable = end.number();
    // A recovery that leaves something out begins two, also one that was itself cut short.
    forks += end.history() == history ? 0 : 2 * attempts;
    history = end.history();
    histories.add(history);
    use(opened, end);
  }

  /** Any store may go on as another history after a crash; one that lost anything must. */
  private void checkHistory(
      EmbeddedTaskStore opened, Position end, @Nullable String lost, boolean damaged) {
    boolean same = end.history() == history;
    if (options.journaling() == Journaling.STRICT && lost != null && !damaged) {
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

  /** Tries to subscribe after what is lost, which must be refused for ever. */
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

  /** What a slow subscriber was told to be gone must be so for others too. */
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

  /** Another process tries to open the folder, twice, and must not get in. */
  void intrude() {
    for (int i = 0; i < 2; i++) {
      FileJournal second;
      try {
        second = FileJournal.open(environment, options.folder(), journalOptions);
      } catch (JournalException e) {
        if (!String.valueOf(e.getMessage()).contains("is in use")) {
          throw e;
        }
        continue;
      }
      second.close();
      throw new SimulationFailure("two processes have the folder open at once");
    }
  }

  /** Makes a backup, and opens a copy of it for {@code reads}; the copy may have been damaged. */
  void backUp(StateCheck reads) {
    ByteArrayOutputStream target = new ByteArrayOutputStream();
    Position position = store().backup(target);
    byte[] bytes = target.toByteArray();
    backups.add(new Backup(Bytes.copyOf(bytes), position, Set.copyOf(histories)));
    if (backups.size() > 3) {
      backups.removeFirst();
    }
    boolean damaged = random.nextBoolean();
    if (damaged) {
      bytes = damaged(bytes);
    }
    Path folder = newFolder();
    try {
      restore(folder, bytes);
    } catch (JournalException e) {
      if (damaged) {
        return;
      }
      throw e;
    }
    EmbeddedTaskStore copy = open(options.withFolder(folder));
    requireForked(copy.tasks(List.of()).position(), position);
    reads.readEverything(copy);
    copy.close();
  }

  /** Cut short, or with a bit that is wrong. */
  private byte[] damaged(byte[] bytes) {
    int at = random.nextInt(bytes.length);
    if (random.nextBoolean()) {
      return Arrays.copyOf(bytes, at);
    }
    bytes[at] ^= (byte) (1 << random.nextInt(Byte.SIZE));
    return bytes;
  }

  private Path newFolder() {
    return Path.of("data", "restored-" + ++folders);
  }

  private void restore(Path folder, byte[] backup) {
    EmbeddedStore.restore(environment, folder, new ByteArrayInputStream(backup));
  }

  private void requireForked(Position restored, Position backup) {
    if (restored.number() != backup.number() || restored.history() == backup.history()) {
      throw new SimulationFailure("the backup of " + backup + " was restored as " + restored);
    }
  }

  /** Whether there is a backup of something that the model holds. */
  boolean canGoBack() {
    backups.removeIf(backup -> backup.position().number() > ledger.model().number());
    return !backups.isEmpty();
  }

  /** Closes the store and goes on, elsewhere, with what a backup holds. */
  void goBack() {
    Backup backup = backups.get(random.nextInt(backups.size()));
    Position last = store().tasks(List.of()).position();
    store().close();
    // Each new history, also one that began with a backup, leaves out the ids of 1,024 seconds.
    environment.advance(Duration.ofSeconds(1_024L * (forks + 1)));
    forks = 0;
    options = options.withFolder(newFolder());
    restore(options.folder(), backup.bytes().toArray());
    EmbeddedTaskStore opened = openJournal();
    Position end = opened.tasks(List.of()).position();
    requireForked(end, backup.position());
    if (last.number() > end.number()) {
      gone.add(last);
      requireRefused(opened, last);
    }
    backups.removeIf(each -> each.position().number() > end.number());
    ledger.rollBack(end.number());
    // The copy cannot know a history that began after the backup, though it holds its past.
    ledger.rename(backup.histories(), backup.position().history());
    ledger.queue().clear();
    durable = end.number();
    history = end.history();
    histories = new HashSet<>(backup.histories());
    histories.add(history);
    use(opened, end);
  }
}
