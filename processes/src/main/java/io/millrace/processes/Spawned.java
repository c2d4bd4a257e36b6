package io.millrace.processes;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A program that a {@link Supervisor} runs, or is about to. */
final class Spawned {
  final ProcessFolder folder;
  final Output output;

  /** Done with who it is, once it has begun; fails where it never does. */
  final CompletableFuture<ProcessFolder.Identities> begun = new CompletableFuture<>();

  /** How it ended, once its output is complete. */
  final CompletableFuture<ExitStatus> end = new CompletableFuture<>();

  private volatile ExitStatus status = new ExitStatus.Unknown();
  private volatile boolean taken;

  Spawned(ProcessFolder folder, Output output) {
    this.folder = folder;
    this.output = output;
  }

  /** Its folder is that of another process. */
  void isTaken() {
    taken = true;
    neverBegins("the folder " + folder.path() + " is that of another process");
  }

  /** Whether what is in the folder is another's. */
  boolean wasTaken() {
    return taken;
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

  /** The process that would tell of it is gone, so that only its files can. */
  void lost() {
    if (folder.began().isPresent()) {
      ProcessFolder.Identities found = folder.identities().orElseThrow();
      begun.complete(found);
      var _ = Endings.found(folder, found).thenAccept(end::complete);
    } else {
      neverBegins("the process that starts programs has ended");
    }
  }

  /** It will not begin, unless it has. */
  void neverBegins(String why) {
    if (!begun.isDone()) {
      begun.completeExceptionally(new CannotStartException(why));
    }
  }
}
