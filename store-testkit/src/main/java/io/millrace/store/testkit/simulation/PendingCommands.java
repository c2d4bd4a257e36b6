package io.millrace.store.testkit.simulation;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The commands without an answer, in the order in which they were sent. */
final class PendingCommands {
  /** A command that was sent. */
  static final class Sent {
    private final long order;
    private final Command command;
    private final long sentNanos;
    private @Nullable CompletableFuture<Outcome> future;
    private @Nullable CompletableFuture<Boolean> noted;
    private boolean cancelled;

    /**
     * The latest time at which the store may have started to handle it; its wait counts from then.
     */
    private long handledNanos;

    /**
     * A command that will be sent.
     *
     * @param order grows from command to command
     */
    Sent(long order, Command command, long sentNanos) {
      this.order = order;
      this.command = command;
      this.sentNanos = sentNanos;
      this.handledNanos = sentNanos;
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
     * Keeps the future answer for {@link #cancel}.
     *
     * @param noted completes when the answer has been recorded
     */
    void future(CompletableFuture<Outcome> future, CompletableFuture<Boolean> noted) {
      this.future = future;
      this.noted = noted;
    }

    /** Whether the answer has arrived and was recorded. */
    boolean noted() {
      return noted != null && noted.isDone();
    }

    /** How long the command may wait, in store time; 0 if it does not. */
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

    /** Whether this answer means that the command made a commit. */
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

  private static final long NANOS_PER_MILLI = 1_000_000;

  private final AnswerChecker checker;
  private final Set<Sent> unanswered = new LinkedHashSet<>();

  PendingCommands(AnswerChecker checker) {
    this.checker = checker;
  }

  void sent(Sent sent) {
    unanswered.add(sent);
  }

  void answered(Sent sent) {
    unanswered.remove(sent);
  }

  /**
   * All commands without an answer, including cancelled ones, which may have been decided before.
   */
  List<Sent> unanswered() {
    return List.copyOf(unanswered);
  }

  /** The commands that may be waiting for a task. */
  List<Sent> waiting() {
    return unanswered.stream().filter(sent -> sent.waitMillis() > 0 && !sent.cancelled()).toList();
  }

  /** Drops all commands: none of them will be answered any more. */
  void clear() {
    unanswered.clear();
  }

  /** Drops the cancelled commands, once the store has dropped them. */
  void forgetCancelled() {
    unanswered.removeIf(Sent::cancelled);
  }

  /**
   * Checks that a claim was not served before an earlier waiting claim that could have taken its
   * task.
   */
  void checkTurn(Sent served, Outcome.Done done) {
    if (!(served.command() instanceof Claim)) {
      return;
    }
    for (Sent earlier : unanswered) {
      if (earlier.order() < served.order()
          && earlier.waitMillis() > 0
          && !earlier.cancelled()
          && couldTakeFrom(earlier, done)) {
        throw new SimulationFailure(
            served.command() + " was served before " + earlier.command() + ", which came first");
      }
    }
  }

  private boolean couldTakeFrom(Sent sent, Outcome.Done done) {
    Set<String> groups = new LinkedHashSet<>();
    done.tasks().forEach(task -> groups.add(task.group()));
    return checker.verdict(sent.command(), done.timeMillis()) instanceof ExpectedOutcome.Takes takes
        && takes.choices().stream().anyMatch(choice -> groups.contains(choice.group()));
  }

  /** Records that the store may have been unable to handle commands until now. */
  void handledBy(long nanos) {
    unanswered.forEach(sent -> sent.handledNanos = nanos);
  }

  /**
   * Checks, when the store is idle, that no claim waits for an available task, or longer than it
   * may.
   */
  void checkWaitingClaims(long timeMillis, long nanos) {
    for (Sent sent : waiting()) {
      if (checker.verdict(sent.command(), timeMillis) instanceof ExpectedOutcome.Takes takes) {
        throw new SimulationFailure(sent.command() + " waits though there is " + takes);
      }
      if (nanos - sent.handledNanos > (sent.waitMillis() + 1) * NANOS_PER_MILLI) {
        throw new SimulationFailure(sent.command() + " waits longer than it may");
      }
    }
  }

  /** Checks that an empty answer did not come before the wait was over. */
  static void checkWait(Sent sent, Outcome outcome, long nanos) {
    if (sent.waitMillis() > 0
        && outcome instanceof Outcome.Done done
        && done.tasks().isEmpty()
        && nanos - sent.sentNanos() < (sent.waitMillis() - 1) * NANOS_PER_MILLI) {
      throw new SimulationFailure(sent.command() + " did not wait as long as it should");
    }
  }
}
