package io.millrace.store.kernel;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import io.millrace.store.kernel.decisions.TransactionSize;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** A command on its way to the loop, with the future of its answer. */
final class Submission extends Mailbox.Message {
  /** About how much memory a part of a command takes beyond its data. */
  private static final long PART_BYTES = 100;

  private final Command command;
  private final CompletableFuture<Outcome> answer;

  /** A command; {@code cancel} is called if the caller cancels its answer. */
  Submission(Command command, LoopThread loopThread, Consumer<Submission> cancel) {
    this.command = command;
    this.answer =
        new LoopThread.Answer<>(loopThread) {
          @Override
          public boolean cancel(boolean mayInterrupt) {
            // First, so that a caller that sees the cancellation finds the place free.
            if (!isDone()) {
              cancel.accept(Submission.this);
            }
            return super.cancel(mayInterrupt);
          }
        };
  }

  Command command() {
    return command;
  }

  CompletableFuture<Outcome> answer() {
    return answer;
  }

  @Override
  long sizeBytes() {
    return switch (command) {
      case Transaction transaction -> {
        TransactionSize extent = TransactionSize.of(transaction);
        yield Mailbox.MESSAGE_BYTES + PART_BYTES * extent.parts() + extent.bytes();
      }
      case Claim claim ->
          Mailbox.MESSAGE_BYTES + PART_BYTES * (claim.groups().size() + claim.depends().size());
    };
  }

  @Override
  void reject(RuntimeException why) {
    answer.completeExceptionally(why);
  }

  /** The message that the caller no longer waits for this claim. */
  Cancellation cancellation() {
    return new Cancellation(this);
  }

  /** A claim that waits is cancelled. */
  static final class Cancellation extends Mailbox.Message {
    private final Submission submission;

    private Cancellation(Submission submission) {
      this.submission = submission;
    }

    Submission submission() {
      return submission;
    }

    @Override
    long sizeBytes() {
      return Mailbox.MESSAGE_BYTES;
    }

    /** There is at most one for each claim that waits, and it makes room. */
    @Override
    boolean isUrgent() {
      return true;
    }

    @Override
    void reject(RuntimeException why) {
      // The caller has cancelled and waits for nothing.
    }
  }
}
