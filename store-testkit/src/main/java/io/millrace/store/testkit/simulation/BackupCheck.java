package io.millrace.store.testkit.simulation;

import io.millrace.store.Bytes;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Position;
import io.millrace.store.journal.JournalException;
import io.millrace.store.kernel.StoreStarter;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/** Makes backups of a store, and checks the stores that are restored from them. */
final class BackupCheck {
  /** A backup of the store at a position, with the histories up to it. */
  record Backup(Bytes bytes, Position position, Set<Long> histories) {}

  private static final int MOST = 3;

  private final SimulatedEnvironment environment;
  private final RandomGenerator random;
  private final StoreOpener opener;
  private final List<Backup> backups = new ArrayList<>();
  private int folders;

  BackupCheck(SimulatedEnvironment environment, RandomGenerator random, StoreOpener opener) {
    this.environment = environment;
    this.random = random;
    this.opener = opener;
  }

  /**
   * Makes a backup, and opens a copy of it for {@code reads}; the copy may have been damaged.
   *
   * @param histories the store's present history and those before it
   */
  void backUp(EmbeddedTaskStore store, Set<Long> histories, StateCheck reads) {
    ByteArrayOutputStream target = new ByteArrayOutputStream();
    Position position = store.backup(target);
    byte[] bytes = target.toByteArray();
    backups.add(new Backup(Bytes.copyOf(bytes), position, Set.copyOf(histories)));
    if (backups.size() > MOST) {
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
    EmbeddedTaskStore copy = opener.open(folder);
    requireForked(copy, position);
    reads.readEverything(copy);
    copy.close();
  }

  /** The backup, truncated or with one bit flipped. */
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
    StoreStarter.restore(environment, folder, new ByteArrayInputStream(backup));
  }

  /** A restored store is at the position of the backup, but in another history. */
  private static void requireForked(EmbeddedTaskStore copy, Position backup) {
    Position restored = copy.tasks(List.of()).position();
    if (restored.number() != backup.number() || restored.history() == backup.history()) {
      throw new SimulationFailure("the backup of " + backup + " was restored as " + restored);
    }
  }

  /** Drops the backups with commits after {@code number}, which are lost. */
  void forgetBeyond(long number) {
    backups.removeIf(backup -> backup.position().number() > number);
  }

  boolean isEmpty() {
    return backups.isEmpty();
  }

  Backup any() {
    return backups.get(random.nextInt(backups.size()));
  }

  /** Restores a backup to a new folder, which replaces that of the store, and opens it. */
  EmbeddedTaskStore goBack(Backup backup) {
    Path folder = newFolder();
    restore(folder, backup.bytes().toArray());
    opener.moveTo(folder);
    EmbeddedTaskStore opened = opener.open();
    requireForked(opened, backup.position());
    return opened;
  }
}
