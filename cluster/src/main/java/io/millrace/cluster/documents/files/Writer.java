package io.millrace.cluster.documents.files;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The two steps by which anything changes: a first version comes into being, or a next one. */
final class Writer {
  private static final Logger LOG = LoggerFactory.getLogger(Writer.class);

  /** Each time another writer has made and deleted the document meanwhile. */
  private static final int MOST_TRIES = 500;

  private final Disk disk;
  private final Layout layout;

  Writer(Disk disk, Layout layout) {
    this.disk = disk;
    this.layout = layout;
  }

  /** Something failed when the change may have been made, or is made and may not be on the disk. */
  static final class UnclearIOException extends IOException {
    private static final long serialVersionUID = 1;

    UnclearIOException(IOException cause) {
      super(cause);
    }
  }

  /** Makes a document; empty if there is one. */
  Optional<Location> make(KeyFolder folder, String key, String json) throws IOException {
    for (int attempt = 0; attempt < MOST_TRIES; attempt++) {
      Optional<KeyFolder.Newest> newest = folder.newest();
      if (newest.isPresent() && newest.get().file().json() != null) {
        return Optional.empty();
      }
      folder.forget(newest.map(KeyFolder.Newest::spot).orElse(null));
      Location first = new Location(layout.newSegment(1), 1);
      Path unfinished = layout.unfinished();
      try {
        prepare(unfinished, first, new KeyFolder.VersionFile(key, null, json));
        if (moved(unfinished, folder.path())) {
          synced(layout.documents());
          return Optional.of(first);
        }
      } finally {
        discard(unfinished);
      }
    }
    throw new IOException(folder.path() + " is neither there nor can it be made");
  }

  private void prepare(Path unfinished, Location first, KeyFolder.VersionFile file)
      throws IOException {
    Path segment = unfinished.resolve(first.segment().toString());
    disk.makeFolder(unfinished);
    disk.makeFolder(segment);
    disk.write(first.in(unfinished), file.bytes());
    disk.sync(segment);
    disk.sync(unfinished);
  }

  private boolean moved(Path unfinished, Path place) throws IOException {
    try {
      disk.move(unfinished, place);
      return true;
    } catch (FileSystemException e) {
      if (e instanceof AccessDeniedException || e instanceof NoSuchFileException) {
        layout.check();
        if (disk.exists(unfinished)) {
          throw e;
        }
      }
      // A folder that is not empty was in that place, which systems say in different ways, or
      // another process took what was prepared for a leftover while this one stood still.
      return false;
    }
  }

  /**
   * Writes the version that comes after another.
   *
   * @param json the content; null for a version that says that the document was deleted
   * @return where it lies; empty if another comes after {@code before}, or it is not there
   */
  Optional<Location> append(KeyFolder folder, Location before, String key, @Nullable String json)
      throws IOException {
    Optional<Location> place = placeAfter(folder, before);
    if (place.isEmpty() || disk.exists(place.get().in(folder.path()))) {
      layout.check();
      return Optional.empty();
    }
    Location spot = place.get();
    if (spot.number() < layout.names().segmentLength() || json == null) {
      return linked(folder, spot, new KeyFolder.VersionFile(key, null, json));
    }
    Location.Segment next = layout.newSegment(spot.segment().ordinal() + 1);
    Path segment = folder.path().resolve(next.toString());
    Optional<Location> written = Optional.empty();
    try {
      disk.makeFolder(segment);
      disk.sync(folder.path());
      written = linked(folder, spot, new KeyFolder.VersionFile(key, next, json));
    } catch (NoSuchFileException _) {
      layout.check();
    }
    if (written.isEmpty()) {
      discard(segment);
    }
    return written;
  }

  /** Where the version after another belongs; empty if that is not there. */
  private Optional<Location> placeAfter(KeyFolder folder, Location before) throws IOException {
    try {
      KeyFolder.VersionFile file = KeyFolder.VersionFile.read(disk.read(before.in(folder.path())));
      if (file.json() == null) {
        return Optional.empty();
      }
      Location.Segment next = file.next();
      return Optional.of(
          next == null
              ? new Location(before.segment(), before.number() + 1)
              : new Location(next, 1));
    } catch (NoSuchFileException _) {
      return Optional.empty();
    }
  }

  private Optional<Location> linked(KeyFolder folder, Location spot, KeyFolder.VersionFile file)
      throws IOException {
    Path unfinished = layout.unfinished();
    Path place = spot.in(folder.path());
    try {
      for (int attempt = 0; attempt < MOST_TRIES; attempt++) {
        disk.write(unfinished, file.bytes());
        try {
          disk.link(place, unfinished);
          synced(folder.path().resolve(spot.segment().toString()));
          if (spot.number() == 1) {
            keepFrom(folder, spot.segment());
          }
          return Optional.of(spot);
        } catch (NoSuchFileException e) {
          if (disk.exists(unfinished)) {
            layout.check();
            return Optional.empty();
          }
          // Another process took it for a leftover while this one stood still: nothing has
          // happened.
        }
      }
      throw new IOException(unfinished + " is always gone");
    } catch (FileAlreadyExistsException _) {
      return Optional.empty();
    } finally {
      discard(unfinished);
    }
  }

  /** Brings a change to the disk that others see already. */
  private void synced(Path folder) throws IOException {
    try {
      disk.sync(folder);
    } catch (NoSuchFileException _) {
      // It has been cleared away, so others have built on it, and synced what they did.
    } catch (IOException e) {
      throw new UnclearIOException(e);
    }
  }

  private static void keepFrom(KeyFolder folder, Location.Segment head) {
    try {
      folder.keepFrom(head);
    } catch (IOException e) {
      LOG.debug("in {} something stays: {}", folder.path(), e.toString());
    }
  }

  private void discard(Path unfinished) {
    try {
      Trash.removeWhole(disk, unfinished);
    } catch (IOException e) {
      LOG.debug("{} stays: {}", unfinished, e.toString());
    }
  }
}
