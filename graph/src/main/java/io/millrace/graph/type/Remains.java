package io.millrace.graph.type;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The files that attempts leave. */
public final class Remains {
  private Remains() {}

  /**
   * Removes a folder with all that is in it; what is not there any more is no error.
   *
   * @throws IOException when something cannot be removed
   */
  public static void remove(Path folder) throws IOException {
    for (Path entry : in(folder)) {
      if (Files.isDirectory(entry, java.nio.file.LinkOption.NOFOLLOW_LINKS)) {
        remove(entry);
      } else {
        Files.deleteIfExists(entry);
      }
    }
    Files.deleteIfExists(folder);
  }

  /** What is directly in a folder; nothing where there is no such folder. */
  public static List<Path> in(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.toList();
    } catch (NoSuchFileException | NotDirectoryException e) {
      return List.of();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }
}
