package io.millrace.store.environment;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The way to folders on which a store keeps its files. Safe for use by threads. */
public interface Disk {
  /**
   * Opens a folder that is there. Changes nothing, so it works on a disk that is read-only.
   *
   * @throws NoSuchFileException if there is no such folder
   * @throws IOException if it is no folder or cannot be read
   */
  Folder open(Path path) throws IOException;

  /**
   * Makes a folder inside one that is there, for its owner alone (0700), as all files in it are
   * (0600). It may be lost until that one is synced.
   *
   * @throws FileAlreadyExistsException if something of this name is there already
   * @throws IOException if it cannot be made
   */
  void makeFolder(Path path) throws IOException;

  /** The path from the root of the disk; a relative path begins at the working folder. */
  default Path absolute(Path path) {
    return path.toAbsolutePath();
  }

  /**
   * Opens a folder, which {@link #makeFolders} makes first if it is absent.
   *
   * @throws IOException if it cannot be made or read
   */
  default Folder folder(Path path) throws IOException {
    makeFolders(path);
    return open(path);
  }

  /**
   * Makes a folder and those of its ancestors that are absent. When this returns, a crash does not
   * take their names away.
   *
   * @throws IOException if one cannot be made, or its name cannot be made durable
   */
  default void makeFolders(Path path) throws IOException {
    Path absolute = absolute(path);
    @Nullable Path parent = absolute.getParent();
    if (parent == null) {
      return;
    }
    // Each name is durable before anything is made inside, so of the folders that a crash left
    // behind only the innermost may still be lost.
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
      // A folder that another user made, in one that this process may not read.
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
      // Another process was faster, unless it is a file, which cannot be opened as a folder.
      open(path).close();
    }
  }
}
