package io.millrace.store.journal.files;

import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Folder;
import java.io.IOException;
import java.util.List;

/** The journal's folder. Thread-safe: one call at a time is executed. */
final class Storage {
  private static final long STEP_BYTES = 64 << 20;

  private final Folder folder;

  Storage(Folder folder) {
    this.folder = folder;
  }

  synchronized List<String> list() throws IOException {
    return folder.list();
  }

  /** Opens a file, and creates it if it does not exist. */
  synchronized DiskFile open(String name) throws IOException {
    return folder.open(name);
  }

  /** Opens an existing file for reading only. */
  synchronized DiskFile read(String name) throws IOException {
    return folder.read(name);
  }

  /** Renames a file durably; its content must have been synced before. */
  synchronized void publish(String from, String to) throws IOException {
    folder.rename(from, to);
    folder.sync();
  }

  /** Deletes a file durably. */
  synchronized void delete(String name) throws IOException {
    folder.delete(name);
    folder.sync();
  }

  /**
   * Renames a file durably to a temporary name, and then truncates it step by step before it is
   * deleted: while a file system frees a large file, other operations may have to wait.
   */
  void deleteLarge(String name) throws IOException {
    String temporary = name + FileNames.TEMPORARY;
    publish(name, temporary);
    try (DiskFile file = open(temporary)) {
      for (long size = file.size() - STEP_BYTES; size > 0; size -= STEP_BYTES) {
        file.truncate(size);
      }
    }
    discard(temporary);
  }

  /** Deletes a file that is not needed any more; a crash may bring it back. */
  synchronized void discard(String name) throws IOException {
    folder.delete(name);
  }

  synchronized void sync() throws IOException {
    folder.sync();
  }

  long usableBytes() {
    return folder.usableBytes();
  }

  String describe() {
    return folder.describe();
  }

  synchronized void close() throws IOException {
    folder.close();
  }
}
