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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The runners that an earlier start of the node has left behind.
 *
 * @param folder where each has a folder of its own
 */
record Survivors(Path folder, ProcessLauncher launcher) {
  private static final Logger LOG = LoggerFactory.getLogger(Survivors.class);

  /**
   * Finds those that are alive; of the dead nothing is left then.
   *
   * @param runs what the store knows of: a runner is only told to go on with one of these
   */
  List<Slot> find(Collection<Run> runs) {
    return folders().stream().flatMap(each -> adopt(each, runs).stream()).toList();
  }

  private List<TaskFolder> folders() {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.filter(Files::isDirectory).sorted().map(TaskFolder::new).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Optional<Slot> adopt(TaskFolder files, Collection<Run> runs) {
    RunningProcess process = process(files).orElse(null);
    if (process == null || !launcher.isAlive(process.identity())) {
      Remains.clear(launcher, files, process);
      return Optional.empty();
    }
    Slot slot = Slot.survivor(files, process);
    AssignmentFile.read(files)
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
}
