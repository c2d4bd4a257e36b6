package io.millrace.store.testkit.environment;

import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Folder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An open folder of a simulated disk. */
final class SimulatedFolder implements Folder {
  private final SimulatedDisk disk;
  private final Path path;
  private final FolderContent content;
  private final int boot;
  private boolean holdsLock;

  SimulatedFolder(SimulatedDisk disk, Path path, FolderContent content, int boot) {
    this.disk = disk;
    this.path = path;
    this.content = content;
    this.boot = boot;
  }

  @Override
  public boolean lock() throws IOException {
    synchronized (disk) {
      disk.look(boot);
      holdsLock = content.lock();
      return holdsLock;
    }
  }

  @Override
  public List<String> list() throws IOException {
    synchronized (disk) {
      disk.look(boot);
      return content.list();
    }
  }

  @Override
  public DiskFile open(String name) throws IOException {
    synchronized (disk) {
      disk.requirePower(boot);
      disk.requireDescriptor();
      if (content.file(name) == null) {
        disk.changeNames(boot, () -> content.create(name));
      }
      FileContent file = Objects.requireNonNull(content.file(name));
      return new SimulatedFile(disk, file, boot, false);
    }
  }

  @Override
  public DiskFile read(String name) throws IOException {
    synchronized (disk) {
      disk.requirePower(boot);
      @Nullable FileContent file = content.file(name);
      if (file == null) {
        throw new NoSuchFileException(path.resolve(name).toString());
      }
      return new SimulatedFile(disk, file, boot, true);
    }
  }

  @Override
  public void rename(String from, String to) throws IOException {
    synchronized (disk) {
      disk.requirePower(boot);
      @Nullable FileContent file = content.file(from);
      if (file == null) {
        throw new NoSuchFileException(path.resolve(from).toString());
      }
      disk.changeNames(boot, () -> content.rename(from, to, file));
    }
  }

  @Override
  public void delete(String name) throws IOException {
    synchronized (disk) {
      disk.requirePower(boot);
      @Nullable FileContent file = content.file(name);
      disk.changeNames(
          boot,
          () -> {
            if (file != null) {
              content.delete(name, file);
            }
          });
    }
  }

  @Override
  public void sync() throws IOException {
    synchronized (disk) {
      disk.changeNames(boot, content::sync);
    }
  }

  @Override
  public long usableBytes() {
    return disk.freeBytes();
  }

  @Override
  public String describe() {
    return path.toString();
  }

  @Override
  public void close() {
    synchronized (disk) {
      if (holdsLock && disk.opened(boot)) {
        content.unlock();
      }
      holdsLock = false;
    }
  }

  /** An open file of a simulated disk. */
  private static final class SimulatedFile implements DiskFile {
    private final SimulatedDisk disk;
    private final FileContent content;
    private final int boot;
    private final boolean readOnly;
    private boolean closed;

    SimulatedFile(SimulatedDisk disk, FileContent content, int boot, boolean readOnly) {
      this.disk = disk;
      this.content = content;
      this.boot = boot;
      this.readOnly = readOnly;
    }

    @Override
    public long size() throws IOException {
      synchronized (disk) {
        requireUsable();
        return content.size();
      }
    }

    @Override
    public int read(long offset, ByteBuffer target) throws IOException {
      synchronized (disk) {
        requireUsable();
        disk.read();
        return content.read(offset, target);
      }
    }

    @Override
    public void write(long offset, ByteBuffer source) throws IOException {
      byte[] bytes = new byte[source.remaining()];
      source.get(bytes);
      synchronized (disk) {
        requireWritable();
        disk.write(content, offset, bytes, boot);
      }
    }

    @Override
    public void allocate(long size) throws IOException {
      synchronized (disk) {
        requireWritable();
        disk.allocate(content, size, boot);
      }
    }

    @Override
    public void truncate(long size) throws IOException {
      synchronized (disk) {
        requireWritable();
        disk.operation(boot);
        content.truncate(size);
      }
    }

    @Override
    public void sync() throws IOException {
      synchronized (disk) {
        requireWritable();
        disk.sync(content, boot);
      }
    }

    @Override
    public void close() {
      closed = true;
    }

    private void requireWritable() throws IOException {
      requireUsable();
      if (readOnly) {
        throw new IOException("the file is open for reading only");
      }
    }

    private void requireUsable() throws IOException {
      disk.requirePower(boot);
      if (closed) {
        throw new IOException("the file is closed");
      }
    }
  }
}
