package io.millrace.queues.runner;

import io.millrace.processes.RunningProcess;
import io.millrace.queues.ObjectId;
import io.millrace.queues.node.Runners.RunnerException;
import io.millrace.queues.runner.Messages.Lines;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A runner as its node knows it. Guarded by the lock of {@link RunnerPool}. */
final class RunnerSlot {
  private static final Logger LOG = LoggerFactory.getLogger(RunnerSlot.class);

  /**
   * After how long a runner that was started ahead of its first task and has not connected no
   * longer counts, so that another one is started.
   */
  static final Duration LONGEST_START = Duration.ofSeconds(30);

  /** After how long such a runner is killed; on a busy machine, a start may take long. */
  static final Duration LONGEST_HANG = Duration.ofMinutes(5);

  private final TaskFolder folder;
  private final RunningProcess process;
  private final List<String> program;
  private @Nullable Assignment assignment;
  private @Nullable Lines lines;
  private @Nullable Duration stop;
  private final boolean survivor;
  private boolean met;
  private boolean leaving;
  private int turns;
  private final LongSupplier nanos;
  private long idleSinceNanos;
  private final LeaseWatch lease = new LeaseWatch();

  private RunnerSlot(
      TaskFolder folder,
      RunningProcess process,
      List<String> program,
      boolean survivor,
      LongSupplier nanos) {
    this.folder = folder;
    this.process = process;
    this.program = program;
    this.survivor = survivor;
    this.met = survivor;
    this.nanos = nanos;
    this.idleSinceNanos = nanos.getAsLong();
    if (!survivor) {
      holds(LONGEST_HANG);
    }
  }

  /**
   * A runner that was just started with this program.
   *
   * @param nanos a monotonic clock
   */
  static RunnerSlot started(
      TaskFolder folder, RunningProcess process, List<String> program, LongSupplier nanos) {
    return new RunnerSlot(folder, process, program, false, nanos);
  }

  /** A runner of an earlier node, with which it was connected; its program is no longer known. */
  static RunnerSlot survivor(TaskFolder folder, RunningProcess process) {
    return new RunnerSlot(folder, process, List.of(), true, System::nanoTime);
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

  /** Whether an earlier node has started it. */
  boolean isSurvivor() {
    return survivor;
  }

  /** Whether it ever connected. */
  boolean met() {
    return met;
  }

  /** Whether it can be given a task now. */
  boolean isIdle() {
    return assignment == null && lines != null && !leaving;
  }

  /** Whether it has been idle for this long. */
  boolean isIdleFor(Duration time) {
    return isIdle() && nanos.getAsLong() - idleSinceNanos >= time.toNanos();
  }

  /** Whether it gets no more tasks. */
  boolean isLeaving() {
    return leaving;
  }

  /** How many tasks it has got. */
  int turns() {
    return turns;
  }

  /** Whether this node has started it with this program. */
  boolean isStartedWith(List<String> wanted) {
    return !survivor && program.equals(wanted);
  }

  /** Sets its task, which is stored in its folder. */
  void expect(Assignment next) {
    assignment = next;
    stop = null;
    turns++;
    holds(next.terms().lease());
  }

  /** Gives it this task; false if the message certainly did not arrive, so that it has no task. */
  boolean take(Assignment next) {
    try {
      Assignment.write(folder, next);
    } catch (IOException e) {
      throw new RunnerException("a task cannot be put on file: " + e, e);
    }
    expect(next);
    if (say(new Messages.Assign(next))) {
      return true;
    }
    relieve();
    Assignment.remove(folder);
    return false;
  }

  /** Sets how long it may be silent, about; zero if nothing is left of its work. */
  void holds(Duration left) {
    if (left.isPositive()) {
      lease.begin(left, nanos.getAsLong());
    } else {
      lease.end();
    }
  }

  /** Whether it was started ahead of its first task, and has not connected in time. */
  boolean isLate() {
    return !met
        && assignment == null
        && nanos.getAsLong() - idleSinceNanos >= LONGEST_START.toNanos();
  }

  /**
   * Whether it has been silent for so long that its claim is about to end under its work, or that
   * it will not connect any more.
   */
  boolean isFrozen() {
    return lease.isOver(nanos.getAsLong());
  }

  /** Its task is over. */
  void relieve() {
    assignment = null;
    idleSinceNanos = nanos.getAsLong();
    stop = null;
    lease.end();
  }

  /** It has connected. */
  void connect(Lines connection) {
    lines = connection;
    met = true;
    if (assignment == null) {
      lease.end();
    }
  }

  /** Repeats messages that it may not have received; {@code task} is its current task. */
  void remind(@Nullable ObjectId task) {
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

  /** It ends by itself. */
  void leaves() {
    leaving = true;
  }

  /** Tells it to end when it is idle. */
  void dismiss() {
    leaving = true;
    say(new Messages.Quit());
  }

  /**
   * Sends a message.
   *
   * @return whether it may have arrived; if not, it certainly has not
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

  /**
   * How long a node assumes that a silent runner stops its work before its claim ends. Times are
   * those of one monotonic clock. Not for use by several threads at a time.
   */
  static final class LeaseWatch {
    private static final Duration LONGEST_MARGIN = Duration.ofMillis(2_500);

    private long untilNanos;
    private boolean bound;

    /** Its claim lasts for {@code left} from now on, as it was told or has said. */
    void begin(Duration left, long nowNanos) {
      Duration margin = left.dividedBy(20);
      if (margin.compareTo(LONGEST_MARGIN) > 0) {
        margin = LONGEST_MARGIN;
      }
      untilNanos = nowNanos + left.minus(margin).toNanos();
      bound = true;
    }

    /** Nothing of its work is left. */
    void end() {
      bound = false;
    }

    /** Whether a message from it is overdue. */
    boolean isOver(long nowNanos) {
      return bound && nowNanos - untilNanos >= 0;
    }
  }
}
