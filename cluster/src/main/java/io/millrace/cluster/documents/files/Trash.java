package io.millrace.cluster.documents.files;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds discarded folders until they are removed. They are kept for a while because the system may
 * be about to create a name in a folder that it found before the move, and must then find the
 * existing name. Safe for use by several threads and processes.
 */
final class Trash {
  private static final Logger LOG = LoggerFactory.getLogger(Trash.class);
  private static final Duration STAY = Duration.ofMinutes(1);
  private static final int REMOVED_AT_A_TIME = 2;
  private static final Pattern NAME = Pattern.compile("([0-9]{1,18})-[0-9a-f]{16}");

  private final Disk disk;
  private final Path folder;
  private final InstantSource clock;
  private final LongSupplier random;

  /** The folders that this object discarded, oldest first. Other processes remove their own. */
  private final ConcurrentLinkedQueue<Path> mine = new ConcurrentLinkedQueue<>();

  Trash(Disk disk, Path folder, InstantSource clock, LongSupplier random) {
    this.disk = disk;
    this.folder = folder;
    this.clock = clock;
    this.random = random;
  }

  /**
   * Moves a folder here, if it still exists, and removes some of the folders that were moved
   * earlier.
   */
  void discard(Path what) throws IOException {
    String name = "%d-%016x".formatted(clock.millis(), random.getAsLong());
    Path place = folder.resolve(name);
    try {
      disk.move(what, place);
      mine.add(place);
    } catch (NoSuchFileException _) {
      // Another process has moved it.
    }
    for (int i = 0; i < REMOVED_AT_A_TIME && removeOld(mine.peek()); i++) {
      mine.poll();
    }
  }

  /** Removes folders that other processes have left. */
  void removeOld() throws IOException {
    for (String name : disk.names(folder)) {
      removeOld(folder.resolve(name));
    }
  }

  /** Removes a folder with its contents, if it is old enough. */
  private boolean removeOld(@Nullable Path path) {
    if (path == null) {
      return false;
    }
    Matcher name = NAME.matcher(path.getFileName().toString());
    Instant now = clock.instant();
    if (!name.matches()
        || Instant.ofEpochMilli(Long.parseLong(name.group(1))).plus(STAY).isAfter(now)) {
      return false;
    }
    try {
      removeWhole(disk, path);
    } catch (IOException e) {
      LOG.debug("{} was not removed: {}", path, e.toString());
    }
    return true;
  }

  /** Removes a file, or a folder with its contents, as far as they still exist. */
  static void removeWhole(Disk disk, Path path) throws IOException {
    try {
      for (String name : disk.names(path)) {
        removeWhole(disk, path.resolve(name));
      }
    } catch (NotDirectoryException _) {
      // A file.
    } catch (NoSuchFileException _) {
      return;
    }
    try {
      disk.remove(path);
    } catch (NoSuchFileException _) {
      // Another process was faster.
    }
  }
}
