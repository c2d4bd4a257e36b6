package io.millrace.cluster.documents.files;

import io.millrace.store.environment.Environment;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/**
 * What lies where below the folder of the documents.
 *
 * @param root the folder
 * @param discarded where goes what nobody can find any more
 * @param names draws what makes names unique, and says how many versions a segment gets
 */
record Layout(Path root, Disk disk, Discarded discarded, Names names) {
  /**
   * How new names come about.
   *
   * @param random 64 bits that were never drawn before
   * @param segmentLength how many versions a segment gets, from 2 to 99; folders written with
   *     another number stay readable
   */
  record Names(LongSupplier random, int segmentLength) {}

  /** After this long nobody goes on with an unfinished file; who does begins again. */
  private static final Duration LEFT_OVER = Duration.ofHours(1);

  /** Makes the folders that are missing, and removes what the dead have left unfinished. */
  static Layout make(Path root, Disk disk, InstantSource clock, Names names) throws IOException {
    Environment.system().disk().makeFolders(root);
    for (String name : new String[] {"documents", "unfinished", "discarded"}) {
      try {
        disk.makeFolder(root.resolve(name));
      } catch (FileAlreadyExistsException _) {
        // Made before, or by another process just now.
      }
    }
    disk.sync(root);
    Discarded discarded = new Discarded(disk, root.resolve("discarded"), clock, names.random());
    Layout layout = new Layout(root, disk, discarded, names);
    layout.tryLinks();
    layout.removeLeftovers(clock.instant().minus(LEFT_OVER));
    discarded.removeOld();
    return layout;
  }

  private void tryLinks() throws IOException {
    Path file = unfinished();
    Path second = unfinished();
    disk.write(file, new byte[0]);
    try {
      disk.link(second, file);
      disk.remove(second);
    } finally {
      disk.remove(file);
    }
  }

  private void removeLeftovers(Instant before) throws IOException {
    Path folder = root.resolve("unfinished");
    for (String name : disk.names(folder)) {
      Path path = folder.resolve(name);
      try {
        if (Files.getLastModifiedTime(path).toInstant().isBefore(before)) {
          Discarded.removeWhole(disk, path);
        }
      } catch (NoSuchFileException _) {
        // It has just been finished.
      }
    }
  }

  /** Where the folders of all keys are. */
  Path documents() {
    return root.resolve("documents");
  }

  /** The folder of a key, which is there only where a document is. */
  KeyFolder folderOf(String key) {
    return folder(FolderNames.of(key));
  }

  /** The folder of a key, by its own name. */
  KeyFolder folder(String name) {
    return new KeyFolder(disk, discarded, documents().resolve(name));
  }

  /** A segment of a name that has never been. */
  Segment newSegment(long ordinal) {
    return Segment.of(ordinal, names.random().getAsLong());
  }

  /** A name for something that nobody sees until it is finished. */
  Path unfinished() {
    return root.resolve("unfinished").resolve("%016x".formatted(names.random().getAsLong()));
  }

  /**
   * Looks whether the folder is there at all.
   *
   * @throws NoSuchFileException when it has gone, so that no document is missing but all are
   */
  void check() throws IOException {
    if (!disk.exists(documents())) {
      throw new NoSuchFileException(documents().toString());
    }
  }
}
