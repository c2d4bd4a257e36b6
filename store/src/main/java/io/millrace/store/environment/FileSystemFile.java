package io.millrace.store.environment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/** A file of the file system. */
final class FileSystemFile implements DiskFile {
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
