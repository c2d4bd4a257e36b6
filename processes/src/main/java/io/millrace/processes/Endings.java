package io.millrace.processes;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** The event of a process's end, put together from those that the system gives. */
final class Endings {
  private static final long LOOK_MILLIS = 20;

  private Endings() {}

  /** The end of a process that another JVM, or an earlier one, has started. */
  static CompletableFuture<ExitStatus> found(
      ProcessFolder folder, ProcessFolder.Identities identities) {
    if (folder.isClaimed()) {
      long patience = ProcessLauncher.DRAIN_TIME.toNanos();
      return whenGone(identities.program())
          .thenCompose(gone -> complete(folder, identities, System.nanoTime() + patience));
    }
    return whenGone(identities.supervisor())
        .thenCompose(gone -> afterSupervisor(folder, identities));
  }

  /** A shell of a {@link ProcessSpawner} goes on to the next program, so its end tells nothing. */
  private static CompletableFuture<ExitStatus> complete(
      ProcessFolder folder, ProcessFolder.Identities identities, long deadline) {
    if (folder.isComplete()
        || System.nanoTime() - deadline > 0
        || !StartMarks.isAlive(identities.supervisor())) {
      return CompletableFuture.completedFuture(folder.exitStatus());
    }
    Executor later = CompletableFuture.delayedExecutor(LOOK_MILLIS, TimeUnit.MILLISECONDS);
    return CompletableFuture.supplyAsync(() -> 0, later)
        .thenCompose(again -> complete(folder, identities, deadline));
  }

  /** The supervisor records the end before it ends; if it was killed, the program may live on. */
  static CompletableFuture<ExitStatus> afterSupervisor(
      ProcessFolder folder, ProcessFolder.Identities identities) {
    ExitStatus recorded = folder.exitStatus();
    if (!(recorded instanceof ExitStatus.Unknown)) {
      return CompletableFuture.completedFuture(recorded);
    }
    return whenGone(identities.program()).thenApply(gone -> folder.exitStatus());
  }

  /** Where there was no room for the record, the supervisor's own exit code still tells it. */
  static ExitStatus orCodeOf(Process supervisor, ExitStatus recorded) {
    int code = supervisor.exitValue();
    // From 128 on, the supervisor itself may have been killed.
    return recorded instanceof ExitStatus.Unknown && code < 128
        ? new ExitStatus.Exited(code)
        : recorded;
  }

  /** The end as given, or where pipes are in between, soon after that of the program itself. */
  static CompletableFuture<ExitStatus> of(
      ProcessFolder folder,
      ProcessFolder.Identities identities,
      CompletableFuture<ExitStatus> end) {
    if (end.isDone() || !folder.keeps(OutputKind.MIXED) || !folder.keeps(OutputKind.STDOUT)) {
      return end;
    }
    CompletableFuture<ExitStatus> undrained =
        whenGone(identities.program())
            .thenApplyAsync(
                gone -> folder.exitStatus(),
                CompletableFuture.delayedExecutor(
                    ProcessLauncher.DRAIN_TIME.toMillis(), TimeUnit.MILLISECONDS));
    return end.applyToEither(undrained, status -> status);
  }

  private static CompletableFuture<Boolean> whenGone(ProcessIdentity identity) {
    // The handle first: if the mark fits afterwards, the handle is that of the same process.
    Optional<ProcessHandle> handle = ProcessHandle.of(identity.pid());
    if (handle.isEmpty() || !StartMarks.isAlive(identity)) {
      return CompletableFuture.completedFuture(true);
    }
    return handle.get().onExit().thenApply(ended -> true);
  }
}
