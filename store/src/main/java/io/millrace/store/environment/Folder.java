package io.millrace.store.environment;

import java.io.IOException;
import java.util.List;

/** A folder of files, without folders inside. For use by one thread at a time. */
public interface Folder extends AutoCloseable {
  /**
   * Takes the folder for this process and this opening alone, until {@link #close()}. Neither
   * another process nor another opening of the same folder in this process can have it meanwhile.
   *
   * @return whether the lock was free; false if another process or opening holds it
   */
  boolean lock() throws IOException;

  /** The names of its files, sorted; without the file that serves as the lock. */
  List<String> list() throws IOException;

  /** Opens a file for reading and writing, creating it if it is absent. */
  DiskFile open(String name) throws IOException;

  /**
   * Opens a file that is there, for reading only. Changes nothing, so it works on a disk that is
   * read-only.
   *
   * @throws java.nio.file.NoSuchFileException if there is no such file
   */
  DiskFile read(String name) throws IOException;

  /** Gives a file another name, replacing a file of that name in one step. */
  void rename(String from, String to) throws IOException;

  /** Deletes a file if it exists. */
  void delete(String name) throws IOException;

  /** Makes creations, renames and deletes durable. */
  void sync() throws IOException;

  /**
   * The bytes that this process can still allocate on the folder's file system. {@link
   * Long#MAX_VALUE}, the default, means that this is not known. Safe for use by any thread.
   */
  default long usableBytes() {
    return Long.MAX_VALUE;
  }

  /** Where the folder is, for messages. */
  String describe();

  @Override
  void close() throws IOException;
}
