package io.millrace.store.kernel;

import io.millrace.store.Claim;
import io.millrace.store.Command;
import io.millrace.store.Outcome;
import io.millrace.store.Transaction;
import io.millrace.store.kernel.decisions.TransactionSize;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** A message with a command, and the future of its answer. */
final class Submission extends Mailbox.Message {
  /** An estimate of the memory of a part of a command without its data, in bytes. */
  private static final long PART_BYTES = 100;

  private final Command command;
  private final CompletableFuture<Outcome> answer;

  /** A message with a command; {@code cancel} is called if the caller cancels its answer. */
  Submission(Command command, LoopThread loopThread, Consumer<Submission> cancel) {
    this.command = command;
    this.answer =
        new LoopThread.Answer<>(loopThread) {
          @Override
          public boolean cancel(boolean mayInterrupt) {
            // First, so that a caller that sees the cancellation can submit another claim.
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
        TransactionSize size = TransactionSize.of(transaction);
        yield Mailbox.MESSAGE_BYTES + PART_BYTES * size.parts() + size.bytes();
      }
      case Claim claim ->
          Mailbox.MESSAGE_BYTES + PART_BYTES * (claim.groups().size() + claim.depends().size());
    };
  }

  @Override
  void reject(RuntimeException why) {
    answer.completeExceptionally(why);
  }

  /** A message that the caller has cancelled this claim. */
  Cancellation cancellation() {
    return new Cancellation(this);
  }

  /** A message that a waiting claim is cancelled. */
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

    /** True: there is at most one for each waiting claim, and it frees memory. */
    @Override
    boolean isUrgent() {
      return true;
    }

    @Override
    void reject(RuntimeException why) {
      // The caller has cancelled, and does not wait for an answer.
    }
  }
}
