package io.millrace.cluster.documents.files;

import io.millrace.cluster.documents.DocumentsUnavailableException;
import io.millrace.cluster.documents.Keys;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.files.KeyFolder.Newest;
import io.millrace.cluster.documents.files.KeyFolder.VersionFile;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Documents in files of a folder on one machine, for any number of threads and processes. The
 * package's description explains how it works, and why a process that stops or dies does not block
 * others.
 *
 * <p>No request waits for another process; it takes as long as its few file operations. A change is
 * on disk when the call returns; other processes may read it a moment earlier. {@link #list} is as
 * new as {@link #get}, for each document by itself.
 *
 * <p>The folder must be on a local file system with hard links and with folders that can be synced,
 * as on Linux and macOS. Users who share it must be able to write to each other's folders: give
 * them a common group, set the setgid bit on the folder, and use a umask such as 002.
 */
public final class FileDocuments implements VersionedDocuments {
  private static final Logger LOG = LoggerFactory.getLogger(FileDocuments.class);

  /**
   * The number of versions in a segment. Each read lists a segment, and segments are cleared as a
   * whole.
   */
  private static final int SEGMENT_LENGTH = 64;

  /**
   * The maximum number of attempts. Each failed attempt means that another writer created and
   * deleted the document meanwhile.
   */
  private static final int MAX_TRIES = 500;

  private final Disk disk;
  private final Layout layout;
  private volatile boolean closed;

  FileDocuments(Disk disk, Layout layout) {
    this.disk = disk;
    this.layout = layout;
  }

  /**
   * Opens the documents in a folder, which is created if it does not exist.
   *
   * @throws DocumentsUnavailableException if it cannot be created or written, or has no hard links
   */
  public static FileDocuments open(Path folder) {
    Layout.Names names = new Layout.Names(new SecureRandom()::nextLong, SEGMENT_LENGTH);
    return open(folder, new Disk(), InstantSource.system(), names);
  }

  static FileDocuments open(Path folder, Disk disk, InstantSource clock, Layout.Names names) {
    try {
      Layout layout = Layout.make(folder, disk, clock, names);
      return new FileDocuments(disk, layout);
    } catch (IOException | UnsupportedOperationException e) {
      throw new DocumentsUnavailableException(
          "the folder of documents " + folder + " cannot be used: " + e, e);
    }
  }

  @Override
  public Optional<VersionedDocument> get(String key) {
    Keys.check(key);
    return access(
        "cannot be read",
        () -> {
          Optional<Newest> newest = layout.folderOf(key).newest();
          if (newest.isEmpty()) {
            layout.check();
          }
          return newest.flatMap(FileDocuments::alive);
        });
  }

  @Override
  public Optional<Version> put(String key, Version expected, String json) {
    Keys.check(key, json);
    Location location = expected.equals(Version.NONE) ? null : Location.of(expected);
    return access(
        "cannot be written",
        () -> {
          KeyFolder folder = layout.folderOf(key);
          Optional<Location> written =
              location == null ? make(folder, key, json) : append(folder, location, key, json);
          return written.map(Location::version);
        });
  }

  @Override
  public boolean delete(String key, Version expected) {
    Keys.checkDelete(key, expected);
    Location location = Location.of(expected);
    return access(
        "cannot be deleted",
        () -> {
          KeyFolder folder = layout.folderOf(key);
          Optional<Location> last = append(folder, location, key, null);
          last.ifPresent(end -> forget(folder, end));
          return last.isPresent();
        });
  }

  @Override
  public List<VersionedDocument> list(String prefix) {
    Keys.checkPrefix(prefix);
    return access(
        "cannot be listed",
        () -> {
          List<VersionedDocument> documents = new ArrayList<>();
          for (String name : disk.names(layout.documents())) {
            if (Layout.FolderNames.mayBegin(name, prefix)) {
              look(layout.folder(name))
                  .filter(document -> document.key().startsWith(prefix))
                  .ifPresent(documents::add);
            }
          }
          documents.sort(Comparator.comparing(VersionedDocument::key));
          return documents;
        });
  }

  /** Reads the document in a folder, and clears away the remains of a deleted one. */
  private static Optional<VersionedDocument> look(KeyFolder folder) throws IOException {
    Optional<Newest> newest = folder.newest();
    Optional<VersionedDocument> document = newest.flatMap(FileDocuments::alive);
    if (document.isEmpty()) {
      forget(folder, newest.map(Newest::location).orElse(null));
    }
    return document;
  }

  private static Optional<VersionedDocument> alive(Newest newest) {
    String json = newest.file().json();
    return json == null
        ? Optional.empty()
        : Optional.of(
            new VersionedDocument(newest.file().key(), newest.location().version(), json));
  }

  /** Clears away a deleted document; if that fails, the next caller tries again. */
  private static void forget(KeyFolder folder, @Nullable Location last) {
    try {
      folder.forget(last);
    } catch (IOException e) {
      LOG.debug("{} was not cleared: {}", folder.path(), e.toString());
    }
  }

  /** A failure after which a change may have been made, or may not be on disk. */
  private static final class UnclearIOException extends IOException {
    private static final long serialVersionUID = 1;

    UnclearIOException(IOException cause) {
      super(cause);
    }
  }

  /** Creates a document; empty if it exists. */
  private Optional<Location> make(KeyFolder folder, String key, String json) throws IOException {
    for (int attempt = 0; attempt < MAX_TRIES; attempt++) {
      Optional<Newest> newest = folder.newest();
      if (newest.isPresent() && newest.get().file().json() != null) {
        return Optional.empty();
      }
      folder.forget(newest.map(Newest::location).orElse(null));
      Location first = new Location(layout.newSegment(1), 1);
      Path unfinished = layout.unfinished();
      try {
        prepare(unfinished, first, new VersionFile(key, null, json));
        if (moved(unfinished, folder.path())) {
          synced(layout.documents());
          return Optional.of(first);
        }
      } finally {
        discard(unfinished);
      }
    }
    throw new IOException(folder.path() + " does not exist and cannot be created");
  }

  private void prepare(Path unfinished, Location first, VersionFile file) throws IOException {
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
      // The target is a folder that is not empty, which systems report in different ways; or
      // another process removed the unfinished folder as a leftover while this process was stopped.
      return false;
    }
  }

  /**
   * Writes the version after another one.
   *
   * @param json the content; null for a version that marks the document as deleted
   * @return its location; empty if {@code before} was replaced already or does not exist
   */
  private Optional<Location> append(
      KeyFolder folder, Location before, String key, @Nullable String json) throws IOException {
    Optional<Location> place = placeAfter(folder, before);
    if (place.isEmpty() || disk.exists(place.get().in(folder.path()))) {
      layout.check();
      return Optional.empty();
    }
    Location location = place.get();
    if (location.number() < layout.names().segmentLength() || json == null) {
      return linked(folder, location, new VersionFile(key, null, json));
    }
    Location.Segment next = layout.newSegment(location.segment().ordinal() + 1);
    Path segment = folder.path().resolve(next.toString());
    Optional<Location> written = Optional.empty();
    try {
      disk.makeFolder(segment);
      disk.sync(folder.path());
      written = linked(folder, location, new VersionFile(key, next, json));
    } catch (NoSuchFileException _) {
      layout.check();
    }
    if (written.isEmpty()) {
      discard(segment);
    }
    return written;
  }

  /** The location of the version after another one; empty if that one does not exist. */
  private Optional<Location> placeAfter(KeyFolder folder, Location before) throws IOException {
    try {
      VersionFile file = VersionFile.read(disk.read(before.in(folder.path())));
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

  private Optional<Location> linked(KeyFolder folder, Location location, VersionFile file)
      throws IOException {
    Path unfinished = layout.unfinished();
    Path place = location.in(folder.path());
    try {
      for (int attempt = 0; attempt < MAX_TRIES; attempt++) {
        disk.write(unfinished, file.bytes());
        try {
          disk.link(place, unfinished);
          synced(folder.path().resolve(location.segment().toString()));
          if (location.number() == 1) {
            keepFrom(folder, location.segment());
          }
          return Optional.of(location);
        } catch (NoSuchFileException e) {
          if (disk.exists(unfinished)) {
            layout.check();
            return Optional.empty();
          }
          // Another process removed it as a leftover while this process was stopped; nothing has
          // changed.
        }
      }
      throw new IOException(unfinished + " was removed during every attempt");
    } catch (FileAlreadyExistsException _) {
      return Optional.empty();
    } finally {
      discard(unfinished);
    }
  }

  /** Syncs a change that other processes can already see. */
  private void synced(Path folder) throws IOException {
    try {
      disk.sync(folder);
    } catch (NoSuchFileException _) {
      // It has been cleared away, so another process has replaced it and synced the replacement.
    } catch (IOException e) {
      throw new UnclearIOException(e);
    }
  }

  private static void keepFrom(KeyFolder folder, Location.Segment head) {
    try {
      folder.keepFrom(head);
    } catch (IOException e) {
      LOG.debug("old segments in {} were not cleared: {}", folder.path(), e.toString());
    }
  }

  private void discard(Path unfinished) {
    try {
      Trash.removeWhole(disk, unfinished);
    } catch (IOException e) {
      LOG.debug("{} was not removed: {}", unfinished, e.toString());
    }
  }

  private interface FileAccess<T> {
    T run() throws IOException;
  }

  private <T> T access(String failed, FileAccess<T> access) {
    if (closed) {
      throw new DocumentsUnavailableException("the documents are closed");
    }
    try {
      return access.run();
    } catch (UnclearIOException e) {
      throw new UnclearOutcomeException(
          "a document in " + layout.root() + " may have changed: " + e.getCause(), e);
    } catch (IOException e) {
      throw new DocumentsUnavailableException(
          "documents in " + layout.root() + " " + failed + ": " + e, e);
    }
  }

  /** Refuses later calls; files are open only during calls. */
  @Override
  public void close() {
    closed = true;
  }
}
