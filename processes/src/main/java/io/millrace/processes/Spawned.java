package io.millrace.processes;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A program that a {@link SpawnShell} runs, or is about to. */
final class Spawned {
  final ProcessFolder folder;

  /** Done with who it is, once it has begun; fails where it never does. */
  final CompletableFuture<ProcessFolder.Identities> begun = new CompletableFuture<>();

  /** How it ended, once its output is complete. */
  final CompletableFuture<ExitStatus> end = new CompletableFuture<>();

  private volatile ExitStatus status = new ExitStatus.Unknown();

  Spawned(ProcessFolder folder) {
    this.folder = folder;
  }

  /** It has ended; something that it left behind may hold its output open. */
  void ended(ExitStatus how) {
    status = how;
    neverBegins("it ended before it began");
    end.completeOnTimeout(how, ProcessLauncher.DRAIN_TIME.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Its output is complete. */
  void drained() {
    neverBegins("its files cannot be used");
    end.complete(status);
  }

  /** The shell that would tell of it is gone, so that only its files can. */
  void lost() {
    if (folder.began().isPresent()) {
      ProcessFolder.Identities found = folder.identities().orElseThrow();
      begun.complete(found);
      var _ = Endings.found(folder, found).thenAccept(end::complete);
    } else {
      neverBegins("the shell that starts programs has ended");
    }
  }

  private void neverBegins(String why) {
    if (!begun.isDone()) {
      begun.completeExceptionally(new CannotStartException(why));
    }
  }
}
