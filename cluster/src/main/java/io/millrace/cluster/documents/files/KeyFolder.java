package io.millrace.cluster.documents.files;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The folder of one key. Finds the newest version, and clears away what is not needed any more. */
final class KeyFolder {
  /**
   * The maximum number of attempts to read. An attempt fails only if another writer makes progress,
   * so this many failures mean that the disk is broken.
   */
  private static final int MAX_ATTEMPTS = 10_000;

  /**
   * The names of versions in a segment. Other names are ignored; some systems leave files in any
   * folder.
   */
  private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]?");

  private final Disk disk;
  private final Trash discarded;
  private final Path folder;

  KeyFolder(Disk disk, Trash discarded, Path folder) {
    this.disk = disk;
    this.discarded = discarded;
    this.folder = folder;
  }

  /**
   * A version that was the newest at some moment during the call.
   *
   * @param location its location
   * @param file its content
   */
  record Newest(Location location, VersionFile file) {}

  Path path() {
    return folder;
  }

  /** Reads the newest version, which may mark the document as deleted; empty if there is none. */
  Optional<Newest> newest() throws IOException {
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      List<Location.Segment> segments;
      try {
        segments = segments();
      } catch (NoSuchFileException _) {
        return Optional.empty();
      }
      try {
        return newest(segments);
      } catch (NoSuchFileException _) {
        // It was cleared away meanwhile: there is a newer version, or the document is gone.
      }
    }
    throw new IOException(folder + " changes during every attempt to read it");
  }

  private Optional<Newest> newest(List<Location.Segment> segments) throws IOException {
    for (Location.Segment segment : segments) {
      int number = lastNumber(segment);
      if (number > 0) {
        Location location = new Location(segment, number);
        return Optional.of(new Newest(location, VersionFile.read(disk.read(location.in(folder)))));
      }
    }
    return Optional.empty();
  }

  private int lastNumber(Location.Segment segment) throws IOException {
    int last = 0;
    for (String name : disk.names(at(segment))) {
      if (NUMBER.matcher(name).matches()) {
        last = Math.max(last, Integer.parseInt(name));
      }
    }
    return last;
  }

  /** The segments, newest first. */
  private List<Location.Segment> segments() throws IOException {
    List<Location.Segment> segments = new ArrayList<>();
    for (String name : disk.names(folder)) {
      Location.Segment.parse(name).ifPresent(segments::add);
    }
    segments.sort(Comparator.comparingLong(Location.Segment::ordinal).reversed());
    return segments;
  }

  private Path at(Location.Segment segment) {
    return folder.resolve(segment.toString());
  }

  /** Clears away the segments before one that has versions. */
  void keepFrom(Location.Segment head) throws IOException {
    List<Location.Segment> segments;
    try {
      segments = segments();
    } catch (NoSuchFileException _) {
      return; // The document has been deleted since.
    }
    if (segments.contains(head)) {
      for (Location.Segment segment : segments) {
        if (!segment.equals(head) && segment.ordinal() <= head.ordinal()) {
          clear(segment);
        }
      }
    }
  }

  /**
   * Clears away the remains of a deleted document.
   *
   * @param last the version that marks it as deleted; null if there is no version at all
   */
  void forget(@Nullable Location last) throws IOException {
    try {
      List<Location.Segment> segments = segments();
      if (last != null && segments.contains(last.segment())) {
        segments.remove(last.segment());
        boolean older = false;
        for (Location.Segment segment : segments) {
          older |= clear(segment);
        }
        if (older) {
          // Otherwise an older segment alone could be left after a power failure.
          disk.sync(folder);
        }
        discarded.discard(at(last.segment()));
      } else if (last == null && newest(segments).isEmpty()) {
        for (Location.Segment segment : segments) {
          disk.remove(at(segment));
        }
      }
      disk.remove(folder);
    } catch (NoSuchFileException | DirectoryNotEmptyException _) {
      // Another process has cleared it away, or created the document again.
    }
  }

  /** Removes a segment; returns whether it had versions. */
  private boolean clear(Location.Segment segment) throws IOException {
    try {
      disk.remove(at(segment));
      return false;
    } catch (DirectoryNotEmptyException _) {
      discarded.discard(at(segment));
      return true;
    } catch (NoSuchFileException _) {
      return false;
    }
  }

  /**
   * The content of a version's file: a line with the key, followed in the last version of a segment
   * by a tab and the next segment; then the document. If the document was deleted, nothing follows
   * the line.
   *
   * @param key the document's key
   * @param next the segment of the next version; null except in the last version of a segment
   * @param json the document; null if this version marks it as deleted
   */
  record VersionFile(String key, Location.@Nullable Segment next, @Nullable String json) {
    byte[] bytes() {
      String line = next == null ? key : key + "\t" + next;
      return (line + "\n" + (json == null ? "" : json)).getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Reads what {@link #bytes} wrote.
     *
     * @throws IOException if the file is damaged
     */
    static VersionFile read(byte[] bytes) throws IOException {
      String text = new String(bytes, StandardCharsets.UTF_8);
      int end = text.indexOf('\n');
      if (end < 1) {
        throw new IOException("the file of a version is damaged");
      }
      String json = end + 1 == text.length() ? null : text.substring(end + 1);
      int tab = text.lastIndexOf('\t', end);
      if (tab < 0) {
        return new VersionFile(text.substring(0, end), null, json);
      }
      Location.Segment next =
          Location.Segment.parse(text.substring(tab + 1, end))
              .orElseThrow(() -> new IOException("the file of a version is damaged"));
      return new VersionFile(text.substring(0, tab), next, json);
    }
  }
}
