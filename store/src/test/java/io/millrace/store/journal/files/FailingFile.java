package io.millrace.store.journal.files;

import io.millrace.store.environment.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A file that keeps no content, only how much of it is durable, and breaks down when told. */
final class FailingFile implements DiskFile {
  private volatile boolean broken;
  private volatile boolean hurt;
  private volatile long durableBytes;
  private long writtenBytes;

  /** From now on everything fails. */
  void breakDown() {
    broken = true;
  }

  /** Whether something has failed. */
  boolean isHurt() {
    return hurt;
  }

  /** How much was written and synced. */
  long durableBytes() {
    return durableBytes;
  }

  private void refuseBroken() throws IOException {
    if (broken) {
      hurt = true;
      throw new IOException("the disk is broken");
    }
  }

  @Override
  public void write(long offset, ByteBuffer source) throws IOException {
    refuseBroken();
    writtenBytes += source.remaining();
    source.position(source.limit());
  }

  @Override
  public void sync() throws IOException {
    refuseBroken();
    durableBytes = writtenBytes;
  }

  @Override
  public long size() {
    return writtenBytes;
  }

  @Override
  public int read(long offset, ByteBuffer target) {
    return 0;
  }

  @Override
  public void allocate(long size) {}

  @Override
  public void truncate(long size) {}

  @Override
  public void close() {}
}
