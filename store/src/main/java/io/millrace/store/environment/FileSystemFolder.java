package io.millrace.store.environment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A folder of the file system, locked through a file named {@code lock}. */
final class FileSystemFolder implements Folder {
  /** The file system of this machine. */
  static final Disk DISK = new FileSystem();

  private static final String LOCK = "lock";

  /** Only the owner has access to files, regardless of the umask. */
  private static final FileAttribute<?> PRIVATE_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private static final FileAttribute<?> PRIVATE_FOLDER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final Path path;
  private @Nullable Lock lock;

  /** The folder itself; it is kept open so that a sync needs no new file descriptor. */
  private @Nullable FileChannel channel;

  private FileSystemFolder(Path path) {
    this.path = path;
  }

  /** The file system of this machine. */
  private static final class FileSystem implements Disk {
    @Override
    public Folder open(Path path) throws IOException {
      if (!Files.readAttributes(path, BasicFileAttributes.class).isDirectory()) {
        throw new NotDirectoryException(path.toString());
      }
      return new FileSystemFolder(path.toRealPath());
    }

    @Override
    public void makeFolder(Path path) throws IOException {
      Files.createDirectory(path, PRIVATE_FOLDER);
    }
  }

  /**
   * The lock of one folder. POSIX releases the locks that a process has on a file when the process
   * closes any descriptor of that file. So this process has at most one channel for a lock file,
   * and closes it only to release the lock.
   *
   * @param keys the keys of this folder in {@link #HELD}
   */
  private record Lock(FileChannel channel, List<Object> keys) {
    /** The locks of this process, by the path of the folder and by the key of the lock file. */
    private static final Map<Object, Lock> HELD = new HashMap<>();

    /**
     * Channels of files that are locked by a copy of this class in another class loader. Closing
     * one would release the lock of that copy.
     */
    private static final Map<Object, FileChannel> FOREIGN = new HashMap<>();

    /** Takes the lock of a folder; null if it is held. */
    static @Nullable Lock take(Path folder) throws IOException {
      synchronized (HELD) {
        if (HELD.containsKey(folder)) {
          return null;
        }
        Path file = folder.resolve(LOCK);
        try {
          // Does not open an existing file.
          Files.createFile(file, PRIVATE_FILE);
        } catch (FileAlreadyExistsException e) {
          // Created by an earlier process.
        }
        // The same folder may have another path, for example through a second mount.
        Object key = key(file);
        if (HELD.containsKey(key)) {
          return null;
        }
        @Nullable FileChannel known = FOREIGN.remove(key);
        FileChannel channel =
            known != null ? known : FileChannel.open(file, StandardOpenOption.WRITE);
        boolean kept = false;
        try {
          @Nullable FileLock taken = channel.tryLock();
          if (taken == null) {
            return null;
          }
          kept = true;
          Lock lock = new Lock(channel, List.of(folder, key));
          lock.keys.forEach(each -> HELD.put(each, lock));
          return lock;
        } catch (OverlappingFileLockException e) {
          kept = true;
          FOREIGN.put(key, channel);
          return null;
        } finally {
          if (!kept) {
            channel.close();
          }
        }
      }
    }

    private static Object key(Path file) throws IOException {
      @Nullable Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
      return key != null ? key : file.toRealPath();
    }

    void release() throws IOException {
      synchronized (HELD) {
        keys.forEach(HELD::remove);
        channel.close();
      }
    }
  }

  @Override
  public boolean lock() throws IOException {
    @Nullable Lock taken = Lock.take(path);
    if (taken == null) {
      return false;
    }
    lock = taken;
    return true;
  }

  @Override
  public List<String> list() throws IOException {
    try (Stream<Path> files = Files.list(path)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.equals(LOCK))
          .sorted()
          .toList();
    }
  }

  @Override
  public DiskFile open(String name) throws IOException {
    return new FileSystemFile(
        FileChannel.open(
            path.resolve(name),
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
            PRIVATE_FILE));
  }

  @Override
  public DiskFile read(String name) throws IOException {
    return new FileSystemFile(FileChannel.open(path.resolve(name), StandardOpenOption.READ));
  }

  @Override
  public void rename(String from, String to) throws IOException {
    Files.move(path.resolve(from), path.resolve(to), StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public void delete(String name) throws IOException {
    Files.deleteIfExists(path.resolve(name));
  }

  @Override
  public void sync() throws IOException {
    if (channel == null) {
      channel = FileChannel.open(path, StandardOpenOption.READ);
    }
    channel.force(true);
  }

  @Override
  public long usableBytes() {
    // Unlike Files.getFileStore, this needs no file descriptor.
    return path.toFile().getUsableSpace();
  }

  @Override
  public String describe() {
    return path.toString();
  }

  @Override
  public void close() throws IOException {
    if (channel != null) {
      channel.close();
      channel = null;
    }
    if (lock != null) {
      lock.release();
      lock = null;
    }
  }

  /** An open file of the file system. */
  private static final class FileSystemFile implements DiskFile {
    private static final int BLOCK = 1 << 20;

    private final FileChannel channel;

    FileSystemFile(FileChannel channel) {
      this.channel = channel;
    }

    @Override
    public long size() throws IOException {
      return channel.size();
    }

    @Override
    public int read(long offset, ByteBuffer target) throws IOException {
      int total = 0;
      while (target.hasRemaining()) {
        int count = channel.read(target, offset + total);
        if (count < 0) {
          break;
        }
        total += count;
      }
      return total;
    }

    @Override
    public void write(long offset, ByteBuffer source) throws IOException {
      long at = offset;
      while (source.hasRemaining()) {
        at += channel.write(source, at);
      }
    }

    @Override
    public void allocate(long size) throws IOException {
      long at = channel.size();
      while (at < size) {
        ByteBuffer zeros = ByteBuffer.allocate((int) Math.min(BLOCK, size - at));
        write(at, zeros);
        at = channel.size();
      }
    }

    @Override
    public void truncate(long size) throws IOException {
      channel.truncate(size);
    }

    @Override
    public void sync() throws IOException {
      channel.force(false);
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }
}
