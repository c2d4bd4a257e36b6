package io.millrace.cluster.documents.files;

import io.millrace.store.environment.Environment;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.function.LongSupplier;

/**
 * The layout of the folder of the documents.
 *
 * @param root the folder
 * @param discarded takes what cannot be found any more
 * @param names draws what makes names unique, and says how many versions a segment gets
 */
record Layout(Path root, Disk disk, Trash discarded, Names names) {
  /**
   * How new names come about.
   *
   * @param random 64 bits that were never drawn before
   * @param segmentLength how many versions a segment gets, from 2 to 99; folders written with
   *     another number stay readable
   */
  record Names(LongSupplier random, int segmentLength) {}

  /** An unfinished file of this age is removed; a writer that still needs it begins again. */
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

  /** Where the folders of all keys are. */
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

  /** A segment of a name that has never been. */
  Location.Segment newSegment(long ordinal) {
    return Location.Segment.of(ordinal, names.random().getAsLong());
  }

  /** A name for something that is not visible until it is finished. */
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

  /**
   * How the folder of a key is called: ASCII in lower case, so that no file system takes two for
   * one, and at most {@value #LONGEST} letters. Lower-case letters, digits, dashes and underscores
   * stand for themselves, each other byte of the key's UTF-8 is {@code %xx}. Of what would be
   * longer the first {@value #KEPT} letters are kept, and {@code ~} and the key's SHA-256 follow.
   * Which key it is stands in each of its files.
   */
  static final class FolderNames {
    private static final int LONGEST = 225;
    private static final int KEPT = 160;

    private FolderNames() {}

    /** The name of a key's folder. */
    static String of(String key) {
      String name = encoded(key);
      return name.length() <= LONGEST ? name : name.substring(0, KEPT) + "~" + digest(key);
    }

    /** Whether the folder may be that of a key which begins with {@code prefix}. */
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

    private static String digest(String key) {
      try {
        byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
      } catch (NoSuchAlgorithmException e) {
        throw new AssertionError("every Java platform has SHA-256", e);
      }
    }
  }
}
