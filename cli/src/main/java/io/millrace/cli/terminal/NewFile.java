package io.millrace.cli.terminal;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * A file that a command writes. It appears, or replaces an existing file, only when it is complete.
 */
public final class NewFile {
  private final Path file;

  private NewFile(Path file) {
    this.file = file;
  }

  /**
   * The file that {@code --output} names.
   *
   * @throws UsageException if it cannot be written there
   */
  public static NewFile named(String name) {
    try {
      Path file = Path.of(name).toAbsolutePath();
      if (name.isEmpty() || Files.isDirectory(file)) {
        throw new UsageException("--output is not a file: '" + name + "'");
      }
      Path folder = file.getParent();
      if (folder == null || !Files.isDirectory(folder)) {
        throw new UsageException("--output: there is no folder " + folder);
      }
      return new NewFile(file);
    } catch (InvalidPathException e) {
      throw new UsageException("--output is not a path: " + e.getMessage(), e);
    }
  }

  /** The file at this path. */
  public static NewFile at(Path file) {
    return new NewFile(file.toAbsolutePath());
  }

  /** Writes the content of a file to a stream. */
  @FunctionalInterface
  public interface Content {
    /** Writes the complete content. Does not close the stream. */
    void writeTo(OutputStream out) throws IOException;
  }

  /** Creates a temporary file with the content. */
  @FunctionalInterface
  public interface Creation<T, X extends Exception> {
    /** Creates the file. The result is that of {@link #create}. */
    T create(Path temporary) throws IOException, X;
  }

  /** Writes the file. A pipe or a device is written to directly, because it cannot be replaced. */
  public void write(Content content) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      try (OutputStream out = Files.newOutputStream(file)) {
        content.writeTo(out);
      }
      return;
    }
    var _ =
        create(temporary -> {
          try (OutputStream out = Files.newOutputStream(temporary)) {
            content.writeTo(out);
          }
          return file;
        });
  }

  /**
   * Creates or replaces the file. {@code creation} creates a temporary file beside it, which then
   * gets its name.
   */
  public <T, X extends Exception> T create(Creation<T, X> creation) throws IOException, X {
    Path real = Files.exists(file) ? file.toRealPath() : file;
    Path unfinished =
        real.resolveSibling(
            real.getFileName() + "." + ProcessHandle.current().pid() + ".unfinished");
    try {
      T result = creation.create(unfinished);
      Files.move(
          unfinished, real, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      return result;
    } finally {
      Files.deleteIfExists(unfinished);
    }
  }
}
