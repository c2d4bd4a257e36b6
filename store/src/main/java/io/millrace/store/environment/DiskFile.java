package io.millrace.store.environment;

import java.io.IOException;
import java.nio.ByteBuffer;

/** An open file. For use by one thread at a time, except that reads may run during a write. */
public interface DiskFile extends AutoCloseable {
  /** Its size in bytes. */
  long size() throws IOException;

  /**
   * Reads at {@code offset} until {@code target} is full or the file ends.
   *
   * @return the number of bytes read, 0 at the end of the file
   */
  int read(long offset, ByteBuffer target) throws IOException;

  /** Writes the remaining bytes of {@code source} at {@code offset}; durable only after a sync. */
  void write(long offset, ByteBuffer source) throws IOException;

  /** Extends the file with zeros to {@code size} bytes, and allocates their space on the disk. */
  void allocate(long size) throws IOException;

  /** Truncates the file to {@code size} bytes. */
  void truncate(long size) throws IOException;

  /** Makes content and size durable. After a failure, the content of the file is undefined. */
  void sync() throws IOException;

  @Override
  void close() throws IOException;
}
