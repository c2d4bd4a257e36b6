package io.millrace.store.environment;

import java.io.IOException;
import java.nio.ByteBuffer;

/** An open file. For use by one thread at a time, but reads may run beside a write. */
public interface DiskFile extends AutoCloseable {
  /** Its size in bytes. */
  long size() throws IOException;

  /**
   * Reads at {@code offset} until {@code target} is full or the file ends.
   *
   * @return the number of bytes read, 0 at the end of the file
   */
  int read(long offset, ByteBuffer target) throws IOException;

  /** Writes all that remains in {@code source} at {@code offset}; durable only after a sync. */
  void write(long offset, ByteBuffer source) throws IOException;

  /** Grows the file to {@code size} bytes with zeros, taking the room on the disk now. */
  void allocate(long size) throws IOException;

  /** Cuts the file after {@code size} bytes. */
  void truncate(long size) throws IOException;

  /** Makes content and size durable. After a failure nothing may be believed of the file. */
  void sync() throws IOException;

  @Override
  void close() throws IOException;
}
