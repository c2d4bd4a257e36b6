package io.millrace.cluster.documents.files;

import io.millrace.cluster.documents.DocumentsUnavailableException;
import io.millrace.cluster.documents.Keys;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.files.KeyFolder.Newest;
import java.io.IOException;
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
 * package's description says how, and why a process that stops or dies does not block others.
 *
 * <p>Nothing waits for another process: a request takes as long as its few file operations do. A
 * change is on the disk when it is answered; others may read it a moment before. {@link #list} is
 * as new as {@link #get}, for each document by itself.
 *
 * <p>The folder must be on a local file system with hard links and with folders that can be synced,
 * as they are usual on Linux and macOS. Users who share it need to be able to write each other's
 * folders: a common group, its bit on the folder, and a umask such as 002.
 */
public final class FileDocuments implements VersionedDocuments {
  private static final Logger LOG = LoggerFactory.getLogger(FileDocuments.class);

  /** What is read again at every look, and cleared away at once when it is full. */
  private static final int SEGMENT_LENGTH = 64;

  private final Disk disk;
  private final Layout layout;
  private final Writer writing;
  private volatile boolean closed;

  FileDocuments(Disk disk, Layout layout) {
    this.disk = disk;
    this.layout = layout;
    this.writing = new Writer(disk, layout);
  }

  /**
   * Opens the documents in a folder, which is created if it is absent.
   *
   * @throws DocumentsUnavailableException when it cannot be created or written, or has no hard
   *     links
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
    return asked(
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
    Location spot = expected.equals(Version.NONE) ? null : Location.of(expected);
    return asked(
        "cannot be written",
        () -> {
          KeyFolder folder = layout.folderOf(key);
          Optional<Location> written =
              spot == null
                  ? writing.make(folder, key, json)
                  : writing.append(folder, spot, key, json);
          return written.map(Location::version);
        });
  }

  @Override
  public boolean delete(String key, Version expected) {
    Keys.check(key);
    if (expected.equals(Version.NONE)) {
      throw new IllegalArgumentException("a document that is not there cannot be deleted");
    }
    Location spot = Location.of(expected);
    return asked(
        "cannot be deleted",
        () -> {
          KeyFolder folder = layout.folderOf(key);
          Optional<Location> last = writing.append(folder, spot, key, null);
          last.ifPresent(end -> forget(folder, end));
          return last.isPresent();
        });
  }

  @Override
  public List<VersionedDocument> list(String prefix) {
    Keys.checkPrefix(prefix);
    return asked(
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

  /** The document in a folder; what is left of a deleted one is cleared away. */
  private static Optional<VersionedDocument> look(KeyFolder folder) throws IOException {
    Optional<Newest> newest = folder.newest();
    Optional<VersionedDocument> document = newest.flatMap(FileDocuments::alive);
    if (document.isEmpty()) {
      forget(folder, newest.map(Newest::spot).orElse(null));
    }
    return document;
  }

  private static Optional<VersionedDocument> alive(Newest newest) {
    String json = newest.file().json();
    return json == null
        ? Optional.empty()
        : Optional.of(new VersionedDocument(newest.file().key(), newest.spot().version(), json));
  }

  /** If this fails, the next caller clears it away. */
  private static void forget(KeyFolder folder, @Nullable Location last) {
    try {
      folder.forget(last);
    } catch (IOException e) {
      LOG.debug("{} stays: {}", folder.path(), e.toString());
    }
  }

  private interface Question<T> {
    T ask() throws IOException;
  }

  private <T> T asked(String failed, Question<T> question) {
    if (closed) {
      throw new DocumentsUnavailableException("the documents are closed");
    }
    try {
      return question.ask();
    } catch (Writer.UnclearIOException e) {
      throw new UnclearOutcomeException(
          "a document in " + layout.root() + " may have changed: " + e.getCause(), e);
    } catch (IOException e) {
      throw new DocumentsUnavailableException(
          "documents in " + layout.root() + " " + failed + ": " + e, e);
    }
  }

  /** Later calls are refused; files are open only while a call lasts. */
  @Override
  public void close() {
    closed = true;
  }
}
