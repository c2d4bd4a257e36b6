package io.millrace.store.testkit.environment;

import io.millrace.store.environment.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;

/** An opening of a file of a simulated disk. */
final class SimulatedFile implements DiskFile {
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
      disk.operation(boot);
      disk.requireRoom(content, size);
      content.resize(Math.max(size, content.size()));
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
