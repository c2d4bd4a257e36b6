package io.millrace.queues.runner;

import io.millrace.processes.PrivateFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a runner has to do, on file: the next start of its node finds it there. */
final class AssignmentFile {
  private static final Logger LOG = LoggerFactory.getLogger(AssignmentFile.class);

  private AssignmentFile() {}

  /** Puts it on file, before the runner can know. */
  static void write(TaskFolder folder, Assignment assignment) throws IOException {
    Path next = folder.assignment().resolveSibling("assignment.new");
    PrivateFiles.write(next, Lines.bytes(assignment.write()));
    Files.move(next, folder.assignment(), StandardCopyOption.ATOMIC_MOVE);
  }

  /** What is on file; empty where that is nothing, or cannot be read. */
  static Optional<Assignment> read(TaskFolder folder) {
    try {
      return Optional.of(Assignment.read(Lines.parse(Files.readAllBytes(folder.assignment()))));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException | RuntimeException e) {
      LOG.warn("{} cannot be read: {}", folder.assignment(), e.toString());
      return Optional.empty();
    }
  }

  static void remove(TaskFolder folder) {
    TaskFolder.remove(folder.assignment());
  }
}
