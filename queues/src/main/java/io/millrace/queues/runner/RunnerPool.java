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
 * The runners of a node, and the messages to and from them. Safe for use by any number of threads;
 * the node's listener is called without holding the lock.
 */
final class RunnerPool implements RunnerSocket.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(RunnerPool.class);

  /** How long after the end of a runner its end may be recorded. */
  private static final long RECORD_MILLIS = 500;

  /** How many bytes of its standard error a reason shows. */
  private static final int SHOWN_BYTES = 500;

  private final LocalRunners.Options options;
  private final ProcessLauncher launcher;
  private final ScheduledExecutorService clock;
  private final Map<String, RunnerSlot> slots = new LinkedHashMap<>();
  private Runners.@Nullable Listener listener;

  /**
   * A pool without runners.
   *
   * @param clock ends runners that are not needed; not shut down while this is open
   */
  RunnerPool(
      LocalRunners.Options options, ProcessLauncher launcher, ScheduledExecutorService clock) {
    this.options = options;
    this.launcher = launcher;
    this.clock = clock;
  }

  /** Sets the listener for news of the runners. */
  synchronized void tell(Runners.Listener watcher) {
    listener = watcher;
  }

  /** Adds a runner; its messages are handled once it is added. */
  synchronized void admit(Supplier<RunnerSlot> starting) {
    RunnerSlot slot = starting.get();
    slots.put(slot.name(), slot);
    var _ = slot.process().onExit().thenRun(() -> endLater(slot));
  }

  private void endLater(RunnerSlot slot) {
    Thread.ofVirtual().name("runner-end").start(() -> gone(slot));
  }

  /** Gives this to an idle runner with this program; false if there is none. */
  synchronized boolean assign(List<String> program, Assignment assignment) {
    return idleOf(program).stream().anyMatch(slot -> slot.take(assignment));
  }

  /** How many runners have not connected yet. */
  synchronized int starting() {
    return (int) slots.values().stream().filter(slot -> !slot.met()).count();
  }

  /** How many idle runners with this program there are. */
  synchronized int idle(List<String> program) {
    return idleOf(program).size();
  }

  /** The idle runners with this program, the youngest first. */
  private List<RunnerSlot> idleOf(List<String> program) {
    return slots.values().stream()
        .filter(slot -> slot.isIdle() && slot.isStartedWith(program))
        .toList()
        .reversed();
  }

  /** Whether as many runners with this program as are kept warm will be free at some time. */
  synchronized boolean hasAsManyAsKept(List<String> program) {
    int kept = options.warm().idle();
    return kept > 0 && staying(program) >= kept;
  }

  /** How many runners have this program and are neither leaving nor late. */
  private long staying(List<String> program) {
    return slots.values().stream()
        .filter(slot -> !slot.isLeaving() && !slot.isLate() && slot.isStartedWith(program))
        .count();
  }

  /** Whether there is a runner with this program that stays, busy or not. */
  synchronized boolean hasOne(List<String> program) {
    return staying(program) > 0;
  }

  /** Dismisses runners that have been idle for long, except one. */
  synchronized void giveUpIdle() {
    for (RunnerSlot slot : slots.values()) {
      if (slot.isIdleFor(options.warm().longestIdle()) && idleCount() > 1) {
        slot.dismiss();
      }
    }
  }

  synchronized void stop(ObjectId task, Duration grace) {
    with(task).ifPresent(slot -> slot.stop(grace));
  }

  private Optional<RunnerSlot> with(ObjectId task) {
    return slots.values().stream().filter(slot -> slot.has(task)).findFirst();
  }

  /** The runners that hang: they do not connect, or their claims are about to end. */
  synchronized List<RunnerSlot> frozen() {
    return slots.values().stream().filter(RunnerSlot::isFrozen).toList();
  }

  /** Tells idle runners to end, and tells the listener nothing more. */
  synchronized void disband() {
    listener = null;
    slots.values().stream().filter(RunnerSlot::isIdle).forEach(RunnerSlot::dismiss);
  }

  /** The process of a runner has ended. */
  private void gone(RunnerSlot slot) {
    Assignment assignment;
    Runners.Listener watcher;
    synchronized (this) {
      watcher = listener;
      if (watcher == null || !slots.remove(slot.name(), slot)) {
        return;
      }
      assignment = slot.assignment();
    }
    String reason = reason(slot.process(), slot.folder());
    LeftoverRunners.clear(launcher, slot.folder(), slot.process());
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
    RunnerSlot slot = slots.get(hello.name());
    if (slot == null || !slot.process().identity().toString().equals(hello.identity())) {
      return false;
    }
    slot.connect(lines);
    if (slot.isSurvivor()) {
      // It only knows where the server was when it was started.
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
    with(task).filter(slot -> slot.name().equals(name)).ifPresent(slot -> slot.holds(left));
  }

  private void ended(String name, ObjectId task, boolean last) {
    Runners.Listener watcher;
    synchronized (this) {
      watcher = listener;
      RunnerSlot slot = slots.get(name);
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
      slot = slots.get(name);
      if (slot == null) {
        return;
      }
      slot.disconnect(lines);
    }
    // A connection ends with its process. After a restart of the node, that end is noticed late.
    if (!launcher.isAlive(slot.process().identity())) {
      var _ =
          slot.process()
              .onExit()
              .completeOnTimeout(new ExitStatus.Unknown(), RECORD_MILLIS, TimeUnit.MILLISECONDS)
              .thenRun(() -> endLater(slot));
    }
  }

  /**
   * Handles a runner that may have become idle. If there are too many, it ends when it was not
   * needed for a while.
   */
  private void keepOrDismiss(RunnerSlot slot) {
    if (!slot.isIdle()) {
      return;
    }
    // It is not known with which program a survivor was started.
    if (listener == null || options.warm().idle() == 0 || slot.isSurvivor()) {
      slot.dismiss();
    } else if (hasTooManyIdle()) {
      int turn = slot.turns();
      var _ =
          clock.schedule(
              () -> dismissIfUnneeded(slot, turn),
              options.warm().linger().toNanos(),
              TimeUnit.NANOSECONDS);
    }
  }

  private boolean hasTooManyIdle() {
    return idleCount() > options.warm().idle();
  }

  private long idleCount() {
    return slots.values().stream().filter(RunnerSlot::isIdle).count();
  }

  private synchronized void dismissIfUnneeded(RunnerSlot slot, int turn) {
    if (slot.isIdle() && slot.turns() == turn && hasTooManyIdle()) {
      slot.dismiss();
    }
  }

  /** What is known about the end of a runner. */
  private static String reason(RunningProcess process, TaskFolder folder) {
    try {
      if (Files.exists(folder.lastWords())) {
        return Files.readString(folder.lastWords());
      }
    } catch (IOException e) {
      // Then there is nothing more to say.
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
