package io.millrace.store.environment;

import java.io.IOException;
import java.util.List;

/** A folder of files, without subfolders. For use by one thread at a time, except as stated. */
public interface Folder extends AutoCloseable {
  /**
   * Locks the folder until {@link #close()}, against other processes and against other instances in
   * this process.
   *
   * @return false if another process or instance holds the lock
   */
  boolean lock() throws IOException;

  /** The names of its files, sorted, without the lock file. */
  List<String> list() throws IOException;

  /** Opens a file for reading and writing, and creates it if it does not exist. */
  DiskFile open(String name) throws IOException;

  /**
   * Opens an existing file for reading only. Changes nothing, so it works on a read-only disk.
   *
   * @throws java.nio.file.NoSuchFileException if there is no such file
   */
  DiskFile read(String name) throws IOException;

  /** Renames a file atomically; an existing file with the new name is replaced. */
  void rename(String from, String to) throws IOException;

  /** Deletes a file if it exists. */
  void delete(String name) throws IOException;

  /** Makes creations, renames and deletes durable. */
  void sync() throws IOException;

  /**
   * The bytes that this process can still allocate on the folder's file system. The default, {@link
   * Long#MAX_VALUE}, means unknown. Thread-safe.
   */
  default long usableBytes() {
    return Long.MAX_VALUE;
  }

  /** The path of the folder, for messages. */
  String describe();

  @Override
  void close() throws IOException;
}
