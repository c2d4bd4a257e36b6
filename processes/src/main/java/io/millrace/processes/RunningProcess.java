package io.millrace.processes;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * A program that was started, running or ended, whether by this JVM or found again. Safe for use by
 * any number of threads; there may be several for one process.
 */
public final class RunningProcess {
  private static final long LOOK_MILLIS = 20;
  private static final Duration LONGEST_GRACE = Duration.ofDays(365);

  private final ProcessFolder folder;
  private final ProcessFolder.Identities identities;
  private final CompletableFuture<ExitStatus> end;
  private final ProcessGroup group;

  private RunningProcess(
      ProcessFolder folder,
      ProcessFolder.Identities identities,
      CompletableFuture<ExitStatus> end,
      String sh) {
    this.folder = folder;
    this.identities = identities;
    this.end = end;
    this.group = new ProcessGroup(identities.program(), sh);
  }

  /** One that a {@link ProcessLauncher} of this JVM has started. */
  static RunningProcess started(
      ProcessFolder folder, ProcessFolder.Identities identities, Process supervisor, String sh) {
    CompletableFuture<ExitStatus> end =
        supervisor
            .onExit()
            .thenCompose(process -> afterSupervisor(folder, identities))
            .thenApply(status -> orCodeOf(supervisor, status));
    return new RunningProcess(folder, identities, atMostDrained(folder, identities, end), sh);
  }

  /** One that a {@link Supervisor} of this JVM runs. */
  static RunningProcess supervised(
      Supervisor.Program program, ProcessFolder.Identities identities, String sh) {
    return new RunningProcess(program.folder, identities, program.end, sh);
  }

  /** One that another JVM, or an earlier one, has started. */
  static RunningProcess found(
      ProcessFolder folder, ProcessFolder.Identities identities, String sh) {
    CompletableFuture<ExitStatus> end = endOfFound(folder, identities);
    return new RunningProcess(folder, identities, atMostDrained(folder, identities, end), sh);
  }

  /** The end of a process that another JVM, or an earlier one, has started. */
  static CompletableFuture<ExitStatus> endOfFound(
      ProcessFolder folder, ProcessFolder.Identities identities) {
    if (folder.isClaimed()) {
      long patience = ProcessLauncher.DRAIN_TIME.toNanos();
      return whenGone(identities.program())
          .thenCompose(gone -> whenComplete(folder, identities, System.nanoTime() + patience));
    }
    return whenGone(identities.supervisor())
        .thenCompose(gone -> afterSupervisor(folder, identities));
  }

  /** A supervisor of a {@link ProcessSpawner} runs the next program, so its end says nothing. */
  private static CompletableFuture<ExitStatus> whenComplete(
      ProcessFolder folder, ProcessFolder.Identities identities, long deadline) {
    if (folder.isComplete()
        || System.nanoTime() - deadline > 0
        || !ProcessTable.isAlive(identities.supervisor())) {
      return CompletableFuture.completedFuture(folder.exitStatus());
    }
    Executor later = CompletableFuture.delayedExecutor(LOOK_MILLIS, TimeUnit.MILLISECONDS);
    return CompletableFuture.supplyAsync(() -> 0, later)
        .thenCompose(again -> whenComplete(folder, identities, deadline));
  }

  /** The supervisor records the end before it ends; if it was killed, the program may live on. */
  private static CompletableFuture<ExitStatus> afterSupervisor(
      ProcessFolder folder, ProcessFolder.Identities identities) {
    ExitStatus recorded = folder.exitStatus();
    if (!(recorded instanceof ExitStatus.Unknown)) {
      return CompletableFuture.completedFuture(recorded);
    }
    return whenGone(identities.program()).thenApply(gone -> folder.exitStatus());
  }

  /** If there was no room for the record, the supervisor's own exit code still tells it. */
  private static ExitStatus orCodeOf(Process supervisor, ExitStatus recorded) {
    int code = supervisor.exitValue();
    // From 128 on, the supervisor itself may have been killed.
    return recorded instanceof ExitStatus.Unknown && code < 128
        ? new ExitStatus.Exited(code)
        : recorded;
  }

  /** The end as given or, if pipes are in between, soon after that of the program itself. */
  private static CompletableFuture<ExitStatus> atMostDrained(
      ProcessFolder folder,
      ProcessFolder.Identities identities,
      CompletableFuture<ExitStatus> end) {
    if (end.isDone() || !folder.keeps(Output.Kind.MIXED) || !folder.keeps(Output.Kind.STDOUT)) {
      return end;
    }
    Executor later =
        CompletableFuture.delayedExecutor(
            ProcessLauncher.DRAIN_TIME.toMillis(), TimeUnit.MILLISECONDS);
    CompletableFuture<ExitStatus> undrained =
        whenGone(identities.program()).thenApplyAsync(gone -> folder.exitStatus(), later);
    return end.applyToEither(undrained, status -> status);
  }

  private static CompletableFuture<Boolean> whenGone(ProcessIdentity identity) {
    // The handle first: if the mark fits afterwards, the handle is that of the same process.
    Optional<ProcessHandle> handle = ProcessHandle.of(identity.pid());
    if (handle.isEmpty() || !ProcessTable.isAlive(identity)) {
      return CompletableFuture.completedFuture(true);
    }
    return handle.get().onExit().thenApply(ended -> true);
  }

  /** Which process it is. */
  public ProcessIdentity identity() {
    return identities.program();
  }

  /** Where everything about it is kept. */
  public Path folder() {
    return folder.path();
  }

  /**
   * How the program ends, once it has and its output is complete; processes that it leaves behind
   * are not waited for, and may still write. Noticed at once by the JVM that started it; for a
   * process found again the JDK looks at growing intervals, from 0.3 to 5 seconds. Cancelling or
   * completing the future does not affect other callers.
   */
  public CompletableFuture<ExitStatus> onExit() {
    return end.copy();
  }

  /**
   * An output of the program.
   *
   * @throws ProcessException when it was started with an {@link Output} that does not keep it
   */
  public OutputTail output(Output.Kind kind) {
    Output output = identities.output();
    boolean kept = output == null ? folder.keeps(kind) : ProcessFolder.kinds(output).contains(kind);
    if (!kept) {
      throw new ProcessException("the process in " + folder.path() + " keeps no output " + kind);
    }
    return new OutputTail(folder.path().resolve(kind.fileName()));
  }

  /**
   * Sends TERM to the program and all of its group, and KILL to what is left of the group when
   * {@code grace} is over.
   *
   * @see #terminate(Signal, Duration)
   */
  public CompletableFuture<ExitStatus> terminate(Duration grace) {
    return terminate(Signal.TERM, grace);
  }

  /**
   * Sends a signal to the program and all of its group, and KILL to what is left of the group when
   * {@code grace} is over. Processes that moved to groups of their own are out of reach. Does
   * nothing to a group that is gone, and may be repeated.
   *
   * @param first what is sent at once
   * @param grace from zero, which sends KILL at once and nothing else; more than 365 days count as
   *     365; counted by the monotonic clock of this JVM, and the KILL is not sent if this JVM dies
   *     before
   * @return done when the program has ended and either nothing of the group is left or it has been
   *     sent a KILL
   * @throws IllegalArgumentException when {@code grace} is negative
   * @throws ProcessException when no signal can be sent
   */
  public CompletableFuture<ExitStatus> terminate(Signal first, Duration grace) {
    if (grace.isNegative()) {
      throw new IllegalArgumentException("the grace is negative: " + grace);
    }
    if (grace.isZero()) {
      group.signal(Signal.KILL.name());
      return onExit();
    }
    if (!group.signal(first.name())) {
      return onExit();
    }
    long nanos = (grace.compareTo(LONGEST_GRACE) > 0 ? LONGEST_GRACE : grace).toNanos();
    long deadline = System.nanoTime() + nanos;
    CompletableFuture<Boolean> over =
        new CompletableFuture<Boolean>().completeOnTimeout(true, nanos, TimeUnit.NANOSECONDS);
    return end.thenApply(status -> false)
        .applyToEither(over, graceIsOver -> graceIsOver)
        .thenCompose(graceIsOver -> {
          over.cancel(false);
          return graceIsOver ? CompletableFuture.completedFuture(false) : group.whenEmpty(deadline);
        })
        .thenCompose(empty -> {
          if (!empty) {
            group.signal("KILL");
          }
          return onExit();
        });
  }
}
