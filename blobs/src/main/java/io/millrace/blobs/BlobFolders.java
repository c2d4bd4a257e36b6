package io.millrace.blobs;

import io.millrace.store.Sha256;
import io.millrace.store.environment.Disk;
import io.millrace.store.environment.Environment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The folders of a {@link FileBlobStore}. */
final class BlobFolders {
  private static final Logger LOG = LoggerFactory.getLogger(BlobFolders.class);

  /** A file that has not been written for this long does not belong to a running put. */
  private static final Duration ABANDONED_AFTER = Duration.ofHours(24);

  private static final int FOLDER_DIGITS = 3;
  private static final Disk DISK = Environment.system().disk();

  private final Path data;
  private final Path incoming;

  /** Folders that are known to be durable; another one may be lost in a crash. */
  private final Set<Path> durable = ConcurrentHashMap.newKeySet();

  private BlobFolders(Path data, Path incoming) {
    this.data = data;
    this.incoming = incoming;
  }

  static BlobFolders open(Path root) throws IOException {
    Path data = root.resolve("data");
    Path incoming = root.resolve("incoming");
    DISK.makeFolders(data);
    DISK.makeFolders(incoming);
    return new BlobFolders(data, incoming);
  }

  /** Makes creations, renames and deletes in {@code folder} durable. */
  static void sync(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  Path incoming() {
    return incoming;
  }

  /** Removes the files of puts that never ended. */
  void removeLeftovers(Instant now) throws IOException {
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

  Path folderOf(String name) {
    return data.resolve(Sha256.hex(name).substring(0, FOLDER_DIGITS));
  }

  Path pathOf(String name) {
    return folderOf(name).resolve(name);
  }

  /** As {@link #pathOf}, after its folder was durably created. Folders are never removed again. */
  Path placeFor(String name) throws IOException {
    Path folder = folderOf(name);
    if (!durable.contains(folder)) {
      DISK.makeFolders(folder);
      durable.add(folder);
    }
    return folder.resolve(name);
  }

  /** Reads the names of one folder after the other; no folder is open between two elements. */
  Stream<Blob> list(String prefix) {
    return entries(data)
        .flatMap(BlobFolders::entries)
        .filter(file -> isBlob(file.getFileName().toString(), prefix))
        .flatMap(BlobFolders::describe);
  }

  private static boolean isBlob(String name, String prefix) {
    return name.startsWith(prefix) && BlobName.isValid(name);
  }

  private static Stream<Path> entries(Path folder) {
    return reading(
        folder,
        path -> {
          if (!Files.isDirectory(path)) {
            return Stream.empty();
          }
          try (Stream<Path> entries = Files.list(path)) {
            return entries.toList().stream();
          } catch (UncheckedIOException e) {
            throw new IOException(e.getCause());
          }
        });
  }

  private static Stream<Blob> describe(Path file) {
    return reading(
        file,
        path -> {
          try {
            var attributes = Files.readAttributes(path, BasicFileAttributes.class);
            return attributes.isRegularFile()
                ? Stream.of(
                    new Blob(
                        path.getFileName().toString(),
                        attributes.size(),
                        attributes.lastModifiedTime().toInstant()))
                : Stream.empty();
          } catch (NoSuchFileException e) {
            // Deleted since its name was read.
            return Stream.empty();
          }
        });
  }

  private interface Reading<T> {
    Stream<T> read(Path path) throws IOException;
  }

  private static <T> Stream<T> reading(Path path, Reading<T> reading) {
    try {
      return reading.read(path);
    } catch (IOException e) {
      throw new BlobException("blobs cannot be listed at " + path + ": " + e, e);
    }
  }
}
