package io.millrace.queues.runner;

import io.millrace.processes.ProcessException;
import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.RunningProcess;
import io.millrace.queues.Run;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The runners that an earlier start of the node has left behind.
 *
 * @param folder the folder with a folder for each of them
 */
record LeftoverRunners(Path folder, ProcessLauncher launcher) {
  private static final Logger LOG = LoggerFactory.getLogger(LeftoverRunners.class);

  /**
   * Finds those that are alive, and removes the remains of the dead.
   *
   * @param runs the recorded runs: a runner is only told to go on with one of these
   */
  List<RunnerSlot> find(Collection<Run> runs) {
    return folders().stream().flatMap(each -> adopt(each, runs).stream()).toList();
  }

  private List<TaskFolder> folders() {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.filter(Files::isDirectory).sorted().map(TaskFolder::new).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Optional<RunnerSlot> adopt(TaskFolder files, Collection<Run> runs) {
    RunningProcess process = process(files).orElse(null);
    if (process == null || !launcher.isAlive(process.identity())) {
      clear(launcher, files, process);
      return Optional.empty();
    }
    RunnerSlot slot = RunnerSlot.survivor(files, process);
    Assignment.read(files)
        .filter(assignment -> runs.stream().anyMatch(assignment::isSameRun))
        .ifPresentOrElse(slot::expect, slot::relieve);
    return Optional.of(slot);
  }

  private Optional<RunningProcess> process(TaskFolder files) {
    try {
      return launcher.find(files.runner());
    } catch (ProcessException e) {
      LOG.warn("the runner of {} cannot be found again: {}", files.runner(), e.getMessage());
      return Optional.empty();
    }
  }

  /**
   * Ends and removes the remains of a runner that has ended: processes of its task, and its folder.
   *
   * @param process the runner's own; null if there never was one
   */
  static void clear(ProcessLauncher launcher, TaskFolder folder, @Nullable RunningProcess process) {
    folder.leader().ifPresent(launcher::killGroup);
    if (process != null) {
      if (folder.hasSession()) {
        launcher.killSession(process.identity());
      } else {
        launcher.killGroup(process.identity());
      }
    }
    TaskFolder.remove(folder.runner());
  }
}
