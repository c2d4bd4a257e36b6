package io.millrace.queues.runner;

import io.millrace.processes.RunningProcess;
import io.millrace.queues.ObjectId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One runner as its node sees it. Guarded by the lock of {@link LocalRunners}. */
final class Slot {
  private static final Logger LOG = LoggerFactory.getLogger(Slot.class);

  private final TaskFolder folder;
  private final RunningProcess process;
  private final List<String> command;
  private @Nullable Assignment assignment;
  private @Nullable Lines lines;
  private @Nullable Duration stop;
  private boolean met;
  private boolean leaving;
  private int turns;
  private final Hold hold = new Hold();

  /**
   * A runner.
   *
   * @param command what it was started with; empty where that is not known any more
   */
  Slot(TaskFolder folder, RunningProcess process, List<String> command) {
    this.folder = folder;
    this.process = process;
    this.command = command;
  }

  String name() {
    return folder.runner().getFileName().toString();
  }

  TaskFolder folder() {
    return folder;
  }

  RunningProcess process() {
    return process;
  }

  @Nullable Assignment assignment() {
    return assignment;
  }

  boolean has(ObjectId task) {
    return assignment != null && assignment.task().equals(task);
  }

  /** It is known to have connected, now or to an earlier node. */
  void meet() {
    met = true;
  }

  /** Whether it ever connected. */
  boolean met() {
    return met;
  }

  /** Whether it can be given a task at once. */
  boolean isIdle() {
    return assignment == null && lines != null && !leaving;
  }

  /** Whether it gets no more tasks. */
  boolean isLeaving() {
    return leaving;
  }

  /** How many tasks it has got. */
  int turns() {
    return turns;
  }

  boolean isStartedWith(List<String> wanted) {
    return command.equals(wanted);
  }

  /** Puts on file what a runner has to do, before it can know. */
  static void record(TaskFolder folder, Assignment assignment) throws IOException {
    Path next = folder.assignment().resolveSibling("assignment.new");
    Files.write(next, Lines.bytes(assignment.write()));
    Files.move(next, folder.assignment(), StandardCopyOption.ATOMIC_MOVE);
  }

  /** What is on file. */
  static Optional<Assignment> recorded(TaskFolder folder) {
    try {
      return Optional.of(Assignment.read(Lines.parse(Files.readAllBytes(folder.assignment()))));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException | RuntimeException e) {
      LOG.warn("{} cannot be read: {}", folder.assignment(), e.toString());
      return Optional.empty();
    }
  }

  /** It has this to do, which is on file. */
  void expect(Assignment next) {
    assignment = next;
    stop = null;
    turns++;
    holds(next.terms().lease());
  }

  /** Its claim lasts for so long from now on; zero when nothing is left of its work. */
  void holds(Duration left) {
    if (left.isPositive()) {
      hold.begin(left, System.nanoTime());
    } else {
      hold.end();
    }
  }

  /** Whether it has been silent for so long that its claim is about to end under its work. */
  boolean isFrozen() {
    return assignment != null && hold.isOver(System.nanoTime());
  }

  /** Its task is over. */
  void relieve() {
    assignment = null;
    stop = null;
    hold.end();
    TaskFolder.remove(folder.assignment());
  }

  /** It has connected, and works on {@code task}. */
  void connect(Lines connection, @Nullable ObjectId task) {
    lines = connection;
    met = true;
    Assignment mine = assignment;
    if (task != null && !has(task)) {
      say(new Messages.Stop(task, Duration.ZERO));
    } else if (task == null && mine != null) {
      say(new Messages.Assign(mine));
    }
    if (mine != null && stop != null) {
      say(new Messages.Stop(mine.task(), stop));
    }
  }

  /** This connection is over. */
  void disconnect(Lines old) {
    if (lines == old) {
      lines = null;
    }
  }

  void stop(Duration grace) {
    stop = grace;
    Assignment mine = assignment;
    if (mine != null && lines != null) {
      say(new Messages.Stop(mine.task(), grace));
    }
  }

  /** It is to end when it is idle. */
  void dismiss() {
    leaving = true;
    say(new Messages.Quit());
  }

  /**
   * Says something to it.
   *
   * @return whether it may have heard; certainly not otherwise
   */
  boolean say(Messages message) {
    Lines now = lines;
    if (now == null) {
      return false;
    }
    try {
      now.write(Messages.write(message));
      return true;
    } catch (IOException e) {
      LOG.debug("the runner in {} has gone", folder.runner(), e);
      lines = null;
      return false;
    }
  }
}
