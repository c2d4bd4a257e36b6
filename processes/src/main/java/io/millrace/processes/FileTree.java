package io.millrace.processes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A folder with all its contents. */
public final class FileTree {
  private FileTree() {}

  /**
   * Removes a file, or a folder with all its contents. Links are removed and not followed; files
   * that do not exist are no error.
   *
   * @throws IOException if something cannot be removed; a part may be gone then
   */
  public static void remove(Path top) throws IOException {
    Files.walkFileTree(top, new Removal());
  }

  /**
   * The entries of a folder; none if it does not exist.
   *
   * @throws IOException if it cannot be read
   */
  public static List<Path> entries(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.toList();
    } catch (NoSuchFileException | NotDirectoryException e) {
      return List.of();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static final class Removal extends SimpleFileVisitor<Path> {
    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      Files.deleteIfExists(file);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
      if (e instanceof NoSuchFileException) {
        return FileVisitResult.CONTINUE;
      }
      throw e;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException e)
        throws IOException {
      if (e != null) {
        throw e;
      }
      Files.deleteIfExists(folder);
      return FileVisitResult.CONTINUE;
    }
  }
}
