package io.millrace.store.environment;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Opens and creates the folders in which a store keeps its files. Thread-safe. */
public interface Disk {
  /**
   * Opens an existing folder. Changes nothing, so it works on a read-only disk.
   *
   * @throws NoSuchFileException if there is no such folder
   * @throws IOException if it is not a folder or cannot be read
   */
  Folder open(Path path) throws IOException;

  /**
   * Creates a folder in an existing one. Only its owner has access to it (0700) and to the files in
   * it (0600). A crash may lose it until the parent folder is synced.
   *
   * @throws FileAlreadyExistsException if a file or folder of this name exists
   * @throws IOException if it cannot be created
   */
  void makeFolder(Path path) throws IOException;

  /** The absolute form of a path; a relative path begins at the working folder. */
  default Path absolute(Path path) {
    return path.toAbsolutePath();
  }

  /**
   * Opens a folder, and creates it with {@link #makeFolders} if it does not exist.
   *
   * @throws IOException if it cannot be created or read
   */
  default Folder folder(Path path) throws IOException {
    makeFolders(path);
    return open(path);
  }

  /**
   * Creates a folder and its missing ancestors durably: after this has returned, a crash does not
   * lose them.
   *
   * @throws IOException if one cannot be created, or its name cannot be made durable
   */
  default void makeFolders(Path path) throws IOException {
    Path absolute = absolute(path);
    @Nullable Path parent = absolute.getParent();
    if (parent == null) {
      return;
    }
    // Each name is durable before anything is created inside. So after a crash, only the name of
    // the
    // innermost existing folder may not be durable yet.
    boolean made = !isThere(absolute);
    if (made) {
      makeFolders(parent);
      make(absolute);
    }
    try (Folder around = open(parent)) {
      around.sync();
    } catch (AccessDeniedException e) {
      if (made) {
        throw e;
      }
      // The folder exists, and another user owns its parent, which this process may not read.
    }
  }

  private boolean isThere(Path path) throws IOException {
    try {
      open(path).close();
      return true;
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  private void make(Path path) throws IOException {
    try {
      makeFolder(path);
    } catch (FileAlreadyExistsException e) {
      // Another process has created it meanwhile; if it is a file, this fails.
      open(path).close();
    }
  }
}
