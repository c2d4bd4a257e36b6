package io.millrace.cli.doctor;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Checks a data folder: its permissions and files, the disk below it, and how fast that syncs. */
final class FolderCheck {
  private static final Duration CLOCK_MARGIN = Duration.ofMinutes(1);
  private static final Instant EARLIEST = Instant.parse("2026-01-01T00:00:00Z");
  private static final int SYNCS = 20;
  private static final int SLOW_SYNC_MILLIS = 10;
  private static final long LITTLE_SPACE = 1L << 30;
  private static final long NO_SPACE = 100L << 20;
  private static final Set<String> NETWORK =
      Set.of("nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "fuse.sshfs", "9p", "afs", "ceph");

  private final Findings findings;

  FolderCheck(Findings findings) {
    this.findings = findings;
  }

  /**
   * Checks a folder, which need not exist.
   *
   * @return whether a server uses it now
   */
  boolean check(Path folder) {
    Path there = folder;
    while (!Files.exists(there) && there.getParent() != null) {
      there = there.getParent();
    }
    if (!Files.isDirectory(there)) {
      findings.fail("data folder", there + " is not a folder", "choose another one with --data");
      return false;
    }
    if (!Files.isWritable(there)) {
      findings.fail(
          "data folder",
          "%s is not writable for user %s".formatted(there, System.getProperty("user.name")),
          "change its owner, or choose another one with --data");
      return false;
    }
    boolean exists = there.equals(folder);
    findings.ok("data folder", exists ? folder + " is there" : folder + " will be created");
    boolean inUse = false;
    if (exists) {
      findings.checkOthers(folder);
      inUse = isInUse(folder);
      checkClock(folder);
    }
    checkFileSystem(there);
    checkSyncs(there);
    return inUse;
  }

  /** Whether another process has the lock of the folder. */
  private boolean isInUse(Path folder) {
    Path lock = folder.resolve("lock");
    if (!Files.exists(lock)) {
      return false;
    }
    try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE);
        FileLock taken = channel.tryLock()) {
      boolean inUse = taken == null;
      findings.ok("data folder", inUse ? "a server uses it now" : "no server uses it now");
      return inUse;
    } catch (IOException e) {
      findings.fail(
          "data folder", lock + " cannot be locked: " + e.getMessage(), "check its owner");
      return false;
    }
  }

  private void checkClock(Path folder) {
    Instant now = Instant.now();
    if (now.isBefore(EARLIEST)) {
      findings.fail("clock", "it is " + now + " by the clock of this machine", "set the clock");
      return;
    }
    try (Stream<Path> files = Files.list(folder)) {
      Instant newest = Instant.EPOCH;
      for (Path file : files.toList()) {
        Instant changed = Files.getLastModifiedTime(file).toInstant();
        newest = changed.isAfter(newest) ? changed : newest;
      }
      if (newest.isAfter(now.plus(CLOCK_MARGIN))) {
        findings.warn(
            "clock",
            "files of the store are from %s, and it is %s".formatted(newest, now),
            "set the clock; until then the time of the store advances from where it was");
      } else {
        findings.ok("clock", "it is " + now);
      }
    } catch (IOException e) {
      findings.warn("clock", "the files of the store cannot be listed: " + e.getMessage(), "");
    }
  }

  private void checkFileSystem(Path folder) {
    try {
      FileStore disk = Files.getFileStore(folder);
      long free = disk.getUsableSpace();
      String space = "%d MiB are free on %s (%s)".formatted(free >> 20, disk.name(), disk.type());
      if (free < NO_SPACE) {
        findings.fail("disk", space, "make room: a server without room refuses new work");
      } else if (free < LITTLE_SPACE) {
        findings.warn(
            "disk", space, "make room, or set limits of what is kept; see docs/configuration.md");
      } else {
        findings.ok("disk", space);
      }
      String type = disk.type().toLowerCase(Locale.ROOT);
      if (NETWORK.contains(type)) {
        findings.warn(
            "disk",
            "the folder is on a network file system (" + type + ")",
            "use a local disk: locks and syncs over a network may not keep their promises");
      } else if (type.equals("tmpfs") || type.equals("ramfs")) {
        findings.warn(
            "disk", "the folder is in memory (" + type + ")", "a restart of the machine loses it");
      }
    } catch (IOException e) {
      findings.warn("disk", "the file system cannot be read: " + e.getMessage(), "");
    }
  }

  /** How long a sync takes: it bounds how soon a strict store answers. */
  private void checkSyncs(Path folder) {
    Path file = null;
    try {
      file = Files.createTempFile(folder, ".doctor", ".tmp");
      long[] nanos = new long[SYNCS];
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        for (int i = 0; i < SYNCS; i++) {
          long begun = System.nanoTime();
          channel.write(ByteBuffer.allocate(4096), 0);
          channel.force(false);
          nanos[i] = System.nanoTime() - begun;
        }
      }
      Arrays.sort(nanos);
      double millis = nanos[SYNCS / 2] / 1e6;
      String speed =
          String.format(Locale.ROOT, "a sync takes %.2f ms (median of %d)", millis, SYNCS);
      if (millis > SLOW_SYNC_MILLIS) {
        findings.warn(
            "disk", speed, "a strict store waits for one before each answer: use a faster disk");
      } else {
        findings.ok("disk", speed);
      }
    } catch (IOException e) {
      findings.fail("disk", "a file cannot be written in " + folder + ": " + e.getMessage(), "");
    } finally {
      delete(file);
    }
  }

  private void delete(@Nullable Path file) {
    if (file != null) {
      try {
        Files.deleteIfExists(file);
      } catch (IOException e) {
        findings.warn("disk", file + " cannot be deleted: " + e.getMessage(), "delete it");
      }
    }
  }
}
