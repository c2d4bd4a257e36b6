package io.millrace.queues.runner;

import io.millrace.processes.PrivateFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * Where the tasks of a runner have their files, one task after the other. Each finds an empty
 * folder; it is the last one's if that left it as it was, since making and removing folders may
 * cost more than a short task. Not safe for use by several threads.
 */
final class WorkFolder {
  private static final String MARKS = "unix:dev,ino,mode,uid,gid";

  private final TaskFolder folder;
  private @Nullable List<Map<String, Object>> made;

  WorkFolder(TaskFolder folder) {
    this.folder = folder;
  }

  /** Makes room for a task. */
  void prepare() {
    try {
      if (!isAsMade()) {
        TaskFolder.remove(folder.task());
        PrivateFiles.createFolder(folder.work());
        made = marks();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Removes what a task has left. */
  void clear() {
    try {
      if (Files.isDirectory(folder.work(), LinkOption.NOFOLLOW_LINKS)) {
        content(folder.work()).forEach(TaskFolder::remove);
        content(folder.task()).stream()
            .filter(entry -> !entry.equals(folder.work()))
            .forEach(TaskFolder::remove);
        return;
      }
    } catch (IOException | RuntimeException e) {
      // A task may do what it likes with its folder; this one cannot be listed.
    }
    TaskFolder.remove(folder.task());
  }

  /** Whether the folders are those that were made, with the same rights, and empty. */
  private boolean isAsMade() {
    try {
      return made != null
          && Objects.equals(made, marks())
          && content(folder.task()).equals(List.of(folder.work()))
          && content(folder.work()).isEmpty();
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }

  private List<Map<String, Object>> marks() throws IOException {
    return List.of(
        Files.readAttributes(folder.task(), MARKS, LinkOption.NOFOLLOW_LINKS),
        Files.readAttributes(folder.work(), MARKS, LinkOption.NOFOLLOW_LINKS));
  }

  private static List<Path> content(Path directory) throws IOException {
    try (DirectoryStream<Path> content = Files.newDirectoryStream(directory)) {
      return StreamSupport.stream(content.spliterator(), false).toList();
    }
  }
}
