package io.millrace.queues.runner;

import static java.util.stream.Collectors.toUnmodifiableSet;

import io.millrace.processes.FileTree;
import io.millrace.processes.GuardedGroup;
import io.millrace.processes.PrivateFiles;
import io.millrace.processes.ProcessIdentity;
import io.millrace.queues.OutputReader.Stream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The files of a task in its runner's folder. */
record TaskFolder(Path runner) {
  private static final Logger LOG = LoggerFactory.getLogger(TaskFolder.class);

  /** The file with the assignment, which stays until the run has ended. */
  Path assignment() {
    return runner.resolve("assignment");
  }

  /** The file with the reason for which a runner has ended itself. */
  Path lastWords() {
    return runner.resolve("last-words");
  }

  /** The task's files. */
  Path task() {
    return runner.resolve("task");
  }

  /** An empty folder for the task. */
  Path work() {
    return task().resolve("work");
  }

  Path params() {
    return task().resolve("params.json");
  }

  /** The file to which a program may write its status. */
  Path status() {
    return task().resolve("status");
  }

  /** The file to which a program may return an output, in place of what it has written. */
  Path returned(String name) {
    return task().resolve(name + ".returned");
  }

  Path output(String name) {
    return task().resolve(name);
  }

  /** The folder of the copies of plugins. */
  Path classes() {
    return runner.resolve("classes");
  }

  private Path leaderFile() {
    return runner.resolve("group");
  }

  private Path session() {
    return runner.resolve("session");
  }

  /** Notes that processes of tasks may be anywhere in the runner's session. */
  void recordSession() throws IOException {
    PrivateFiles.write(session(), new byte[0]);
  }

  /** Whether processes of a task may be anywhere in the runner's session. */
  boolean hasSession() {
    return Files.exists(session());
  }

  /** The record of the process that leads the processes of the task. */
  GuardedGroup.LeaderRecord group() {
    return new GuardedGroup.LeaderRecord() {
      @Override
      public void begun(ProcessIdentity leader) throws IOException {
        PrivateFiles.write(leaderFile(), leader.toString().getBytes(StandardCharsets.UTF_8));
      }

      @Override
      public void ended() {
        try {
          // Emptied, because creating it for each task would cost more.
          PrivateFiles.write(leaderFile(), new byte[0]);
        } catch (IOException e) {
          LOG.warn("the file {} cannot be emptied: {}", leaderFile(), e.toString());
        }
      }
    };
  }

  /** The process that leads the processes of the task, if there are any. */
  Optional<ProcessIdentity> leader() {
    try {
      String leader = Files.readString(leaderFile());
      return leader.isEmpty() ? Optional.empty() : Optional.of(ProcessIdentity.parse(leader));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException | IllegalArgumentException e) {
      LOG.warn("the file {} cannot be read: {}", leaderFile(), e.toString());
      return Optional.empty();
    }
  }

  /** Removes a file, or a folder with all that is in it; what cannot be removed stays. */
  static void remove(Path top) {
    try {
      FileTree.remove(top);
    } catch (IOException e) {
      LOG.warn("{} stays: {}", top, e.toString());
    }
  }

  /**
   * The folder for the files of a runner's tasks, one task after the other. Each finds an empty
   * folder. A folder that the last task has left as it was is used again, since creating and
   * removing folders may cost more than a short task. Not safe for use by several threads.
   */
  static final class WorkFolder {
    private static final String MARKS = "unix:dev,ino,mode,uid,gid";

    private static final String OF_OUTPUT = "unix:mode,nlink";

    /** A file of its owner alone, with one name. */
    private static final Map<String, Object> AS_MADE = Map.of("mode", 0100600, "nlink", 1);

    private final TaskFolder folder;
    private final Predicate<Path> emptying;
    private @Nullable List<Map<String, Object>> made;

    /** What the next task finds there: the folder for its work, and files for its output. */
    private Set<Path> kept = Set.of();

    WorkFolder(TaskFolder folder) {
      this(folder, _ -> false);
    }

    /**
     * The folder of a runner that may use a file for the output of one task after the other: making
     * and removing files is what costs most on some file systems.
     *
     * @param emptying empties a file, and says whether no process has it open
     */
    WorkFolder(TaskFolder folder, Predicate<Path> emptying) {
      this.folder = folder;
      this.emptying = emptying;
    }

    /** Makes room for a task. */
    void prepare() {
      try {
        if (!isAsMade()) {
          TaskFolder.remove(folder.task());
          PrivateFiles.createFolder(folder.work());
          made = marks();
          kept = Set.of(folder.work());
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Removes the files that a task has left. */
    void clear() {
      try {
        if (Files.isDirectory(folder.work(), LinkOption.NOFOLLOW_LINKS)) {
          content(folder.work()).forEach(TaskFolder::remove);
          kept = content(folder.task()).stream().filter(this::keep).collect(toUnmodifiableSet());
          return;
        }
      } catch (IOException | RuntimeException e) {
        // A task may do anything with its folder; this one cannot be listed.
      }
      TaskFolder.remove(folder.task());
    }

    /** Removes a file, unless the next task can use it. */
    private boolean keep(Path entry) {
      boolean serves =
          entry.equals(folder.work())
              || ((entry.equals(folder.output(Stream.STDOUT.word()))
                      || entry.equals(folder.output(Stream.STDERR.word())))
                  && serves(entry));
      if (!serves) {
        TaskFolder.remove(entry);
      }
      return serves;
    }

    private boolean serves(Path output) {
      try {
        return Files.readAttributes(output, OF_OUTPUT, LinkOption.NOFOLLOW_LINKS).equals(AS_MADE)
            && emptying.test(output);
      } catch (IOException e) {
        return false;
      }
    }

    /** Whether the folders are those that were created, with the same rights, and empty. */
    private boolean isAsMade() {
      try {
        return made != null
            && Objects.equals(made, marks())
            && Set.copyOf(content(folder.task())).equals(kept)
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
}
