package io.millrace.store.journal.files;

import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Folder;
import java.io.IOException;
import java.util.List;

/** The journal's folder, shared by its threads: one at a time is let in. */
final class Storage {
  private static final long STEP_BYTES = 64 << 20;

  private final Folder folder;

  Storage(Folder folder) {
    this.folder = folder;
  }

  synchronized List<String> list() throws IOException {
    return folder.list();
  }

  /** Opens a file, which is created if it is absent. */
  synchronized DiskFile open(String name) throws IOException {
    return folder.open(name);
  }

  /** Opens a file that is there, for reading only; changes nothing. */
  synchronized DiskFile read(String name) throws IOException {
    return folder.read(name);
  }

  /** Gives a file its lasting name; content that was synced before is then durable under it. */
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
   * Takes a file's name away durably and then deletes it bit by bit: while a file system frees a
   * large file it may let others wait.
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

  /** Deletes a file that has no meaning any more, whether or not that lasts. */
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
