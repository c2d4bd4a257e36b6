package io.millrace.bench;

import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Disk;
import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import io.millrace.store.environment.Folder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;

/** This machine, with its disk's writes and syncs counted. */
final class CountingDisk implements Environment {
  private final Environment system = Environment.system();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder syncs = new LongAdder();

  /** Bytes written so far. */
  long bytes() {
    return bytes.sum();
  }

  /** Files synced so far. */
  long syncs() {
    return syncs.sum();
  }

  @Override
  public long wallMillis() {
    return system.wallMillis();
  }

  @Override
  public long nanos() {
    return system.nanos();
  }

  @Override
  public RandomGenerator newRandom() {
    return system.newRandom();
  }

  @Override
  public Driver drive(String name, Activity activity) {
    return system.drive(name, activity);
  }

  @Override
  public Disk disk() {
    return new Disk() {
      @Override
      public Folder open(Path path) throws IOException {
        return new CountingFolder(system.disk().open(path));
      }

      @Override
      public void makeFolder(Path path) throws IOException {
        system.disk().makeFolder(path);
      }
    };
  }

  private final class CountingFolder implements Folder {
    private final Folder folder;

    CountingFolder(Folder folder) {
      this.folder = folder;
    }

    @Override
    public boolean lock() throws IOException {
      return folder.lock();
    }

    @Override
    public List<String> list() throws IOException {
      return folder.list();
    }

    @Override
    public DiskFile open(String name) throws IOException {
      return new CountingFile(folder.open(name));
    }

    @Override
    public DiskFile read(String name) throws IOException {
      return folder.read(name);
    }

    @Override
    public void rename(String from, String to) throws IOException {
      folder.rename(from, to);
    }

    @Override
    public void delete(String name) throws IOException {
      folder.delete(name);
    }

    @Override
    public void sync() throws IOException {
      folder.sync();
    }

    @Override
    public String describe() {
      return folder.describe();
    }

    @Override
    public void close() throws IOException {
      folder.close();
    }
  }

  private final class CountingFile implements DiskFile {
    private final DiskFile file;

    CountingFile(DiskFile file) {
      this.file = file;
    }

    @Override
    public long size() throws IOException {
      return file.size();
    }

    @Override
    public int read(long offset, ByteBuffer target) throws IOException {
      return file.read(offset, target);
    }

    @Override
    public void write(long offset, ByteBuffer source) throws IOException {
      bytes.add(source.remaining());
      file.write(offset, source);
    }

    @Override
    public void allocate(long size) throws IOException {
      file.allocate(size);
    }

    @Override
    public void truncate(long size) throws IOException {
      file.truncate(size);
    }

    @Override
    public void sync() throws IOException {
      syncs.increment();
      file.sync();
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
