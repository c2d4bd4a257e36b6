package io.millrace.queues.plugin;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Visits all files of a folder that may change meanwhile. Links are followed. */
final class FileVisit extends SimpleFileVisitor<Path> {
  /** How deeply nested folders are visited. */
  static final int DEEPEST = 64;

  private static final Logger LOG = LoggerFactory.getLogger(FileVisit.class);

  private final Visitor visitor;

  private FileVisit(Visitor visitor) {
    this.visitor = visitor;
  }

  /** Takes each regular file. */
  interface Visitor {
    void see(Path file, BasicFileAttributes attributes) throws IOException;
  }

  /**
   * Visits a file, or those of a folder in any order; files that cannot be read are left out.
   *
   * @throws UncheckedIOException if the visitor throws it, except for a file that is gone or not
   *     readable
   */
  static void visit(Path entry, Visitor visitor) {
    try {
      Files.walkFileTree(
          entry, EnumSet.of(FileVisitOption.FOLLOW_LINKS), DEEPEST, new FileVisit(visitor));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
    if (attributes.isRegularFile()) {
      try {
        visitor.see(file, attributes);
      } catch (NoSuchFileException | AccessDeniedException e) {
        // A task that needs it fails itself; others are not affected.
        LOG.warn("the file {} cannot be read: {}", file, e.toString());
      }
    }
    return FileVisitResult.CONTINUE;
  }

  @Override
  public FileVisitResult visitFileFailed(Path file, IOException e) {
    return FileVisitResult.CONTINUE;
  }

  @Override
  public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException e) {
    return FileVisitResult.CONTINUE;
  }
}
