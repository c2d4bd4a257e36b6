package io.millrace.cluster.documents.files;

import io.millrace.cluster.documents.Keys;
import io.millrace.store.environment.Environment;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.function.LongSupplier;

/**
 * The layout of the folder of the documents.
 *
 * @param root the folder
 * @param discarded receives folders that are no longer part of a document
 * @param names the source of unique names, and the length of segments
 */
record Layout(Path root, Disk disk, Trash discarded, Names names) {
  /**
   * The source of new names.
   *
   * @param random supplies 64 random bits
   * @param segmentLength the number of versions in a segment, 2 to 99; folders written with another
   *     number stay readable
   */
  record Names(LongSupplier random, int segmentLength) {}

  /** The age at which an unfinished file is removed. If its writer still runs, it starts again. */
  private static final Duration LEFT_OVER = Duration.ofHours(1);

  /** Creates missing folders, and removes unfinished files of killed processes. */
  static Layout make(Path root, Disk disk, InstantSource clock, Names names) throws IOException {
    Environment.system().disk().makeFolders(root);
    for (String name : new String[] {"documents", "unfinished", "discarded"}) {
      try {
        disk.makeFolder(root.resolve(name));
      } catch (FileAlreadyExistsException _) {
        // It exists already, or another process has just created it.
      }
    }
    disk.sync(root);
    Trash discarded = new Trash(disk, root.resolve("discarded"), clock, names.random());
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
          Trash.removeWhole(disk, path);
        }
      } catch (NoSuchFileException _) {
        // It has just been finished.
      }
    }
  }

  /** The folder that contains the folders of all keys. */
  Path documents() {
    return root.resolve("documents");
  }

  /** The folder of a key, which exists only if the document does. */
  KeyFolder folderOf(String key) {
    return folder(FolderNames.of(key));
  }

  /** The folder of a key, by its own name. */
  KeyFolder folder(String name) {
    return new KeyFolder(disk, discarded, documents().resolve(name));
  }

  /** A segment with a name that was never used. */
  Location.Segment newSegment(long ordinal) {
    return Location.Segment.of(ordinal, names.random().getAsLong());
  }

  /** A path for a file or folder that is not visible until it is finished. */
  Path unfinished() {
    return root.resolve("unfinished").resolve("%016x".formatted(names.random().getAsLong()));
  }

  /**
   * Checks that the folder exists.
   *
   * @throws NoSuchFileException if it is gone, which means that all documents are missing
   */
  void check() throws IOException {
    if (!disk.exists(documents())) {
      throw new NoSuchFileException(documents().toString());
    }
  }

  /**
   * The names of the folders of keys: ASCII in lower case, so that no file system confuses two of
   * them, and up to {@value #LONGEST} characters. Lower-case letters, digits, dashes and
   * underscores stand for themselves; each other byte of the key's UTF-8 is written as {@code %xx}.
   * Of a longer name, the first {@value #KEPT} characters are kept, followed by {@code ~} and the
   * key's SHA-256. Each file in the folder contains the key.
   */
  static final class FolderNames {
    private static final int LONGEST = 225;
    private static final int KEPT = 160;

    private FolderNames() {}

    /** The name of a key's folder. */
    static String of(String key) {
      String name = encoded(key);
      return name.length() <= LONGEST ? name : name.substring(0, KEPT) + "~" + Keys.hash(key);
    }

    /** Whether the folder's key may begin with {@code prefix}. */
    static boolean mayBegin(String folder, String prefix) {
      String begin = encoded(prefix);
      int tilde = folder.indexOf('~');
      return tilde < 0
          ? folder.startsWith(begin)
          : folder.startsWith(begin.substring(0, Math.min(begin.length(), tilde)));
    }

    private static String encoded(String text) {
      StringBuilder name = new StringBuilder();
      for (byte one : text.getBytes(StandardCharsets.UTF_8)) {
        if ((one >= 'a' && one <= 'z') || (one >= '0' && one <= '9') || one == '-' || one == '_') {
          name.append((char) one);
        } else {
          name.append('%').append(HexFormat.of().toHexDigits(one));
        }
      }
      return name.toString();
    }
  }
}
