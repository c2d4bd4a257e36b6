package io.millrace.blobs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Instant;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Blobs as files of a folder. Several stores, in this process or another, may share it.
 *
 * <p>A blob is the file {@code data/XYZ/NAME}, where XYZ are the first three hexadecimal digits of
 * the SHA-256 of the name: 4,096 folders, so that ten million blobs mean some 2,400 files in each.
 * A put writes {@code incoming/UUID}, syncs it, renames it to its place and syncs that folder.
 *
 * <p>What a crash leaves in {@code incoming} is removed when a store is next opened, and by {@link
 * #removeLeftovers}, once it has not been written for 24 hours; a put that stalls for longer may
 * fail then.
 *
 * <p>On a file system that ignores case (the usual one of macOS), two names that differ in nothing
 * but case and happen to share a folder, as 1 pair in 4,096 does, would be one blob: do not tell
 * blobs apart by case alone there. Files that were not put by a store are ignored when their names
 * are no names of blobs.
 */
public final class FileBlobStore implements BlobStore {
  private static final Logger LOG = LoggerFactory.getLogger(FileBlobStore.class);

  private static final int BUFFER_SIZE = 64 * 1024;

  /** Blobs are readable for their owner alone, whatever the umask allows. */
  private static final FileAttribute<?> PRIVATE_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private final BlobFolders folders;
  private final FileOpener newFiles;
  private final Clock clock;

  /** Creates the file of a put; a test can simulate a full disk here. */
  @FunctionalInterface
  interface FileOpener {
    FileChannel create(Path path) throws IOException;
  }

  FileBlobStore(BlobFolders folders, FileOpener newFiles) {
    this(folders, newFiles, Clock.systemUTC());
  }

  private FileBlobStore(BlobFolders folders, FileOpener newFiles, Clock clock) {
    this.folders = folders;
    this.newFiles = newFiles;
    this.clock = clock;
  }

  /**
   * Opens the store in {@code folder}, which is created if it is absent.
   *
   * @throws BlobException if it cannot be created or read
   */
  public static FileBlobStore open(Path folder) {
    return open(folder, Clock.systemUTC());
  }

  /** As {@link #open(Path)}, with the clock for the age of leftovers and the time of links. */
  public static FileBlobStore open(Path folder, Clock clock) {
    try {
      BlobFolders folders = BlobFolders.open(folder);
      folders.removeLeftovers(clock.instant());
      return new FileBlobStore(
          folders,
          path ->
              FileChannel.open(
                  path,
                  Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                  PRIVATE_FILE),
          clock);
    } catch (IOException e) {
      throw new BlobException("the blob folder " + folder + " cannot be opened: " + e, e);
    }
  }

  @Override
  public BlobReceipt put(String name, InputStream content) {
    BlobName.check(name);
    BlobContent source = new BlobContent(content);
    Path incoming = folders.incoming().resolve(UUID.randomUUID().toString());
    try {
      write(source, incoming);
      Path place = folders.placeFor(name);
      Files.move(incoming, place, StandardCopyOption.ATOMIC_MOVE);
      BlobFolders.sync(folders.folderOf(name));
      return source.receipt(name);
    } catch (IOException e) {
      String what = source.failure() == null ? "cannot be written: " : "could not be read: ";
      throw new BlobException("blob " + name + ", its content " + what + e, e);
    } finally {
      discard(incoming);
    }
  }

  private void write(InputStream source, Path target) throws IOException {
    try (FileChannel channel = newFiles.create(target)) {
      ByteBuffer buffer = ByteBuffer.allocate(BUFFER_SIZE);
      int count;
      while ((count = source.read(buffer.array(), 0, BUFFER_SIZE)) >= 0) {
        buffer.clear().limit(count);
        while (buffer.hasRemaining()) {
          channel.write(buffer);
        }
      }
      channel.force(true);
    }
  }

  /**
   * After a successful put the file is gone already; otherwise, the earlier failure is more
   * important.
   */
  private static void discard(Path incoming) {
    try {
      Files.deleteIfExists(incoming);
    } catch (IOException e) {
      LOG.warn("{} stays until a later opening removes it: {}", incoming, e.toString());
    }
  }

  @Override
  public boolean link(String from, String to) {
    BlobName.check(from);
    BlobName.check(to);
    Path source = folders.pathOf(from);
    Path incoming = folders.incoming().resolve(UUID.randomUUID().toString());
    try {
      // Both names share one time of change; a new name must not look like a leftover.
      Files.setLastModifiedTime(source, FileTime.from(clock.instant()));
      if (!link(source, incoming)) {
        return false;
      }
      Files.move(incoming, folders.placeFor(to), StandardCopyOption.ATOMIC_MOVE);
      BlobFolders.sync(folders.folderOf(to));
      return true;
    } catch (NoSuchFileException e) {
      if (Files.exists(source)) {
        throw new BlobException("blob " + from + " cannot be linked as " + to + ": " + e, e);
      }
      throw new NoSuchBlobException(from);
    } catch (IOException e) {
      throw new BlobException("blob " + from + " cannot be linked as " + to + ": " + e, e);
    } finally {
      discard(incoming);
    }
  }

  /** False if the file system has no links, or does not allow another one for this file. */
  private static boolean link(Path source, Path link) throws NoSuchFileException {
    try {
      Files.createLink(link, source);
      return true;
    } catch (NoSuchFileException e) {
      throw e;
    } catch (IOException | UnsupportedOperationException e) {
      LOG.debug("{} cannot be linked", source, e);
      return false;
    }
  }

  @Override
  public BlobStream open(String name, long offset) {
    BlobName.check(name);
    if (offset < 0) {
      throw new IllegalArgumentException("the offset is negative: " + offset);
    }
    try {
      FileChannel channel = FileChannel.open(folders.pathOf(name), StandardOpenOption.READ);
      try {
        long size = channel.size();
        channel.position(Math.min(offset, size));
        return new BlobStream(Channels.newInputStream(channel), size);
      } catch (IOException e) {
        channel.close();
        throw e;
      }
    } catch (NoSuchFileException e) {
      throw new NoSuchBlobException(name);
    } catch (IOException e) {
      throw new BlobException("blob " + name + " cannot be opened: " + e, e);
    }
  }

  @Override
  public OptionalLong size(String name) {
    BlobName.check(name);
    try {
      return OptionalLong.of(Files.size(folders.pathOf(name)));
    } catch (NoSuchFileException e) {
      return OptionalLong.empty();
    } catch (IOException e) {
      throw new BlobException("the size of blob " + name + " cannot be read: " + e, e);
    }
  }

  @Override
  public boolean delete(String name) {
    BlobName.check(name);
    try {
      boolean deleted = Files.deleteIfExists(folders.pathOf(name));
      if (deleted) {
        BlobFolders.sync(folders.folderOf(name));
      }
      return deleted;
    } catch (IOException e) {
      throw new BlobException("blob " + name + " cannot be deleted: " + e, e);
    }
  }

  @Override
  public Stream<Blob> list(String prefix) {
    BlobName.checkPrefix(prefix);
    return folders.list(prefix);
  }

  @Override
  public void removeLeftovers(Instant now) {
    try {
      folders.removeLeftovers(now);
    } catch (IOException e) {
      throw new BlobException("the leftovers of puts cannot be removed: " + e, e);
    }
  }
}
