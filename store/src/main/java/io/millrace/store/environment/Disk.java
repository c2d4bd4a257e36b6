package io.millrace.store.environment;

import java.io.IOException;
import java.nio.file.Path;

/** The way to folders on which a store keeps its files. */
@FunctionalInterface
public interface Disk {
  /**
   * Opens a folder, which is created where it is absent.
   *
   * @throws IOException when it cannot be read and written
   */
  Folder folder(Path path) throws IOException;
}
