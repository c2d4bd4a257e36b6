package io.millrace.store.testkit.simulation;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A command on its way, and what is known of it. */
final class Sent {
  private final long order;
  private final Command command;
  private final long sentNanos;
  private @Nullable CompletableFuture<Outcome> future;
  private @Nullable CompletableFuture<Boolean> noted;
  private boolean cancelled;

  /**
   * A command about to be sent.
   *
   * @param order grows from command to command
   */
  Sent(long order, Command command, long sentNanos) {
    this.order = order;
    this.command = command;
    this.sentNanos = sentNanos;
  }

  long order() {
    return order;
  }

  Command command() {
    return command;
  }

  long sentNanos() {
    return sentNanos;
  }

  /**
   * Keeps the answer to come, for {@link #cancel}.
   *
   * @param noted completes when the answer has been noted
   */
  void future(CompletableFuture<Outcome> future, CompletableFuture<Boolean> noted) {
    this.future = future;
    this.noted = noted;
  }

  /** Whether the answer has come and was noted. */
  boolean noted() {
    return noted != null && noted.isDone();
  }

  /** The store time for which the command is ready to wait, 0 for none. */
  long waitMillis() {
    return command instanceof Claim claim ? claim.waitMillis() : 0;
  }

  boolean cancelled() {
    return cancelled;
  }

  void cancel() {
    if (future != null && !noted() && future.cancel(false)) {
      cancelled = true;
    }
  }

  /** Whether this answer to the command says that a commit was made for it. */
  boolean committedBy(Outcome outcome) {
    if (!(outcome instanceof Outcome.Done done) || done.repeated()) {
      return false;
    }
    return switch (command) {
      case Claim _ -> !done.tasks().isEmpty();
      case Transaction transaction ->
          !(transaction.adds().isEmpty()
              && transaction.updates().isEmpty()
              && transaction.renewals().isEmpty()
              && transaction.takings().isEmpty()
              && transaction.deletes().isEmpty()
              && transaction.puts().isEmpty()
              && transaction.documentDeletes().isEmpty());
    };
  }
}
