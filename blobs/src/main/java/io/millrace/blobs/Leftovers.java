package io.millrace.blobs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What puts that never ended have left behind. */
final class Leftovers {
  private static final Logger LOG = LoggerFactory.getLogger(Leftovers.class);

  /** A file that has not been written for so long belongs to no put that still runs. */
  static final Duration ABANDONED_AFTER = Duration.ofHours(24);

  private Leftovers() {}

  static void remove(Path incoming, Instant now) throws IOException {
    Instant limit = now.minus(ABANDONED_AFTER);
    List<Path> files;
    try (Stream<Path> listed = Files.list(incoming)) {
      files = listed.toList();
    }
    for (Path file : files) {
      try {
        if (Files.getLastModifiedTime(file).toInstant().isBefore(limit)) {
          Files.delete(file);
          LOG.info("removed {}, left by a put that did not end", file);
        }
      } catch (NoSuchFileException e) {
        LOG.debug("{} is gone already: its put has ended, or another store removed it", file);
      }
    }
  }
}
