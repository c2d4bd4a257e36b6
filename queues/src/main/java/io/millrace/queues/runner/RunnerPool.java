package io.millrace.queues.runner;

import io.millrace.processes.ExitStatus;
import io.millrace.processes.Output;
import io.millrace.processes.OutputTail;
import io.millrace.processes.ProcessException;
import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.RunningProcess;
import io.millrace.queues.ObjectId;
import io.millrace.queues.node.Runners;
import io.millrace.queues.runner.Messages.Lines;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The runners that a node has, what they are told and what they say. Safe for use by any number of
 * threads; the node's listener is called outside of its lock.
 */
final class RunnerPool implements RunnerSocket.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(RunnerPool.class);

  /** How long the record of a runner's end may take after the end itself. */
  private static final long RECORD_MILLIS = 500;

  private final LocalRunners.Options options;
  private final ProcessLauncher launcher;
  private final ScheduledExecutorService clock;
  private final IdleRunners pool;
  private Runners.@Nullable Listener listener;

  /**
   * A pool without runners.
   *
   * @param clock dismisses those that nobody needs; not shut down while this is open
   */
  RunnerPool(
      LocalRunners.Options options, ProcessLauncher launcher, ScheduledExecutorService clock) {
    this.options = options;
    this.launcher = launcher;
    this.clock = clock;
    this.pool = new IdleRunners(options.warm().idle());
  }

  /** Who hears of the runners from now on. */
  synchronized void tell(Runners.Listener watcher) {
    listener = watcher;
  }

  /** Adds a runner; what it says is heard once it is in. */
  synchronized void admit(Supplier<RunnerSlot> starting) {
    RunnerSlot slot = starting.get();
    pool.add(slot);
    var _ = slot.process().onExit().thenRun(() -> endLater(slot));
  }

  private void endLater(RunnerSlot slot) {
    Thread.ofVirtual().name("runner-end").start(() -> gone(slot));
  }

  /** Gives this to an idle runner that was started so; false if there is none. */
  synchronized boolean assign(List<String> command, Assignment assignment) {
    return pool.idle(command).stream().anyMatch(slot -> slot.take(assignment));
  }

  /** How many runners have not connected yet. */
  synchronized int starting() {
    return pool.starting();
  }

  /** How many idle runners there are that were started so. */
  synchronized int idle(List<String> command) {
    return pool.idle(command).size();
  }

  /** Whether as many runners that were started so will be free some time as are kept warm. */
  synchronized boolean hasAsManyAsKept(List<String> command) {
    return pool.hasAsManyAsKept(command);
  }

  synchronized void stop(ObjectId task, Duration grace) {
    pool.with(task).ifPresent(slot -> slot.stop(grace));
  }

  /** The runners whose claims are about to end under their work. */
  synchronized List<RunnerSlot> frozen() {
    return pool.frozen();
  }

  /** Tells idle runners to end, and the listener nothing more. */
  synchronized void disband() {
    listener = null;
    pool.dismissIdle();
  }

  /** The process of a runner has ended. */
  private void gone(RunnerSlot slot) {
    Assignment assignment;
    Runners.Listener watcher;
    synchronized (this) {
      watcher = listener;
      if (watcher == null || !pool.remove(slot)) {
        return;
      }
      assignment = slot.assignment();
    }
    String reason = RunnerExit.of(slot.process(), slot.folder());
    LeftoverRunners.Remains.clear(launcher, slot.folder(), slot.process());
    if (assignment == null) {
      return;
    }
    if (slot.met()) {
      watcher.lost(assignment.task(), reason);
    } else {
      watcher.notStarted(assignment.task(), reason);
    }
  }

  @Override
  public boolean connected(Messages.Hello hello, Lines lines) {
    Runners.Listener watcher;
    synchronized (this) {
      watcher = listener;
      if (!greet(hello, lines)) {
        return false;
      }
    }
    if (watcher != null) {
      watcher.begun();
    }
    return true;
  }

  private boolean greet(Messages.Hello hello, Lines lines) {
    RunnerSlot slot = pool.find(hello.name());
    if (slot == null || !slot.process().identity().toString().equals(hello.identity())) {
      return false;
    }
    slot.connect(lines);
    if (slot.isSurvivor()) {
      // It knows where the server was when it was started.
      slot.say(new Messages.Server(options.command().arguments()));
    }
    slot.remind(hello.task());
    keepOrDismiss(slot);
    return true;
  }

  @Override
  public void said(String name, Messages message) {
    switch (message) {
      case Messages.Ended(ObjectId task, boolean last) -> ended(name, task, last);
      case Messages.Holds(ObjectId task, Duration left) -> holds(name, task, left);
      case Messages.Hello _,
          Messages.Server _,
          Messages.Assign _,
          Messages.Stop _,
          Messages.Quit _ ->
          LOG.warn("the runner {} says {}", name, message);
    }
  }

  private synchronized void holds(String name, ObjectId task, Duration left) {
    pool.with(task).filter(slot -> slot.name().equals(name)).ifPresent(slot -> slot.holds(left));
  }

  private void ended(String name, ObjectId task, boolean last) {
    Runners.Listener watcher;
    synchronized (this) {
      watcher = listener;
      RunnerSlot slot = pool.find(name);
      if (watcher == null || slot == null || !slot.has(task)) {
        return;
      }
      slot.relieve();
      if (last) {
        slot.leaves();
      }
      keepOrDismiss(slot);
    }
    watcher.ended(task);
  }

  @Override
  public void disconnected(String name, Lines lines) {
    RunnerSlot slot;
    synchronized (this) {
      slot = pool.find(name);
      if (slot == null) {
        return;
      }
      slot.disconnect(lines);
    }
    // A connection ends with its process, whose end is noticed late after a restart of the node.
    if (!launcher.isAlive(slot.process().identity())) {
      var _ =
          slot.process()
              .onExit()
              .completeOnTimeout(new ExitStatus.Unknown(), RECORD_MILLIS, TimeUnit.MILLISECONDS)
              .thenRun(() -> endLater(slot));
    }
  }

  /** A runner may have become idle. One too many goes when nobody needs it for a while. */
  private void keepOrDismiss(RunnerSlot slot) {
    if (!slot.isIdle()) {
      return;
    }
    if (listener == null || pool.isUseless(slot)) {
      slot.dismiss();
    } else if (pool.hasTooManyIdle()) {
      int turn = slot.turns();
      var _ =
          clock.schedule(
              () -> dismissIfUnneeded(slot, turn),
              options.warm().linger().toNanos(),
              TimeUnit.NANOSECONDS);
    }
  }

  private synchronized void dismissIfUnneeded(RunnerSlot slot, int turn) {
    if (slot.isIdle() && slot.turns() == turn && pool.hasTooManyIdle()) {
      slot.dismiss();
    }
  }

  /** What is known of the end of a runner. */
  private static final class RunnerExit {
    private static final int SHOWN_BYTES = 500;

    private RunnerExit() {}

    static String of(RunningProcess process, TaskFolder folder) {
      try {
        if (Files.exists(folder.lastWords())) {
          return Files.readString(folder.lastWords());
        }
      } catch (IOException e) {
        // Then the rest has to tell it.
        return "its runner ended itself";
      }
      ExitStatus status = process.onExit().getNow(new ExitStatus.Unknown());
      String end =
          switch (status) {
            case ExitStatus.Exited(int code) -> "its runner ended with exit code " + code;
            case ExitStatus.NeverStarted _ -> "its runner was never started";
            case ExitStatus.Unknown _ -> "its runner ended";
          };
      String complaints = tail(process);
      return complaints.isEmpty() ? end : end + ": " + complaints;
    }

    private static String tail(RunningProcess process) {
      try {
        OutputTail err = process.output(Output.Kind.STDERR);
        long from = Math.max(0, err.size() - SHOWN_BYTES);
        return new String(err.read(from, SHOWN_BYTES), StandardCharsets.UTF_8).strip();
      } catch (ProcessException e) {
        return "";
      }
    }
  }

  /**
   * The runners of a node, and which of them are kept. Guarded by the lock of {@link RunnerPool}.
   */
  private static final class IdleRunners {
    private final Map<String, RunnerSlot> slots = new LinkedHashMap<>();
    private final int warm;

    /**
     * A pool without runners.
     *
     * @param warm how many idle ones are kept
     */
    IdleRunners(int warm) {
      this.warm = warm;
    }

    void add(RunnerSlot slot) {
      slots.put(slot.name(), slot);
    }

    /** Forgets a runner; gives whether it was here. */
    boolean remove(RunnerSlot slot) {
      return slots.remove(slot.name(), slot);
    }

    @Nullable RunnerSlot find(String name) {
      return slots.get(name);
    }

    /** The runner that has this task. */
    Optional<RunnerSlot> with(ObjectId task) {
      return slots.values().stream().filter(slot -> slot.has(task)).findFirst();
    }

    /** The idle runners that were started so, the youngest first. */
    List<RunnerSlot> idle(List<String> command) {
      return slots.values().stream()
          .filter(slot -> slot.isIdle() && slot.isStartedWith(command))
          .toList()
          .reversed();
    }

    /** How many runners have not connected yet. */
    int starting() {
      return (int) slots.values().stream().filter(slot -> !slot.met()).count();
    }

    /** Whether as many runners that were started so will be free some time as are kept warm. */
    boolean hasAsManyAsKept(List<String> command) {
      return warm > 0
          && slots.values().stream()
                  .filter(slot -> !slot.isLeaving() && slot.isStartedWith(command))
                  .count()
              >= warm;
    }

    /** Whether there are more idle runners than are kept. */
    boolean hasTooManyIdle() {
      return slots.values().stream().filter(RunnerSlot::isIdle).count() > warm;
    }

    /** Whether this runner is of no use once it is idle. */
    boolean isUseless(RunnerSlot slot) {
      // Of one that an earlier node started nobody knows how.
      return warm == 0 || slot.isSurvivor();
    }

    /** The runners whose claims are about to end under their work. */
    List<RunnerSlot> frozen() {
      return slots.values().stream().filter(RunnerSlot::isFrozen).toList();
    }

    void dismissIdle() {
      slots.values().stream().filter(RunnerSlot::isIdle).forEach(RunnerSlot::dismiss);
    }
  }
}
