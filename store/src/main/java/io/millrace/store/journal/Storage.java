package io.millrace.store.journal;

import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Folder;
import java.io.IOException;
import java.util.List;

/** The journal's folder, shared by its threads: one at a time is let in. */
final class Storage {
  private final Folder folder;

  Storage(Folder folder) {
    this.folder = folder;
  }

  synchronized List<String> list() throws IOException {
    return folder.list();
  }

  /** Opens a file, which is created where it is absent. */
  synchronized DiskFile open(String name) throws IOException {
    return folder.open(name);
  }

  /** Gives a file its lasting name; content that was synced before is then durable under it. */
  synchronized void publish(String from, String to) throws IOException {
    folder.rename(from, to);
    folder.sync();
  }

  /** Deletes files in order, each durably before the next one. */
  synchronized void delete(List<String> names) throws IOException {
    for (String name : names) {
      folder.delete(name);
      folder.sync();
    }
  }

  /** Deletes a file that has no meaning any more, whether or not that lasts. */
  synchronized void discard(String name) throws IOException {
    folder.delete(name);
  }

  synchronized void sync() throws IOException {
    folder.sync();
  }

  String describe() {
    return folder.describe();
  }

  synchronized void close() throws IOException {
    folder.close();
  }
}
