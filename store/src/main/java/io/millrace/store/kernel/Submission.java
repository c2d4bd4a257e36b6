package io.millrace.store.kernel;

import io.millrace.store.Command;
import io.millrace.store.Outcome;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** A command on its way to the loop, with the future of its answer. */
final class Submission extends Mailbox.Message {
  private final Command command;
  private final CompletableFuture<Outcome> answer;

  /** A command whose asker may lose interest, which {@code withdraw} is told. */
  Submission(Command command, LoopThread loopThread, Consumer<Submission> withdraw) {
    this.command = command;
    this.answer =
        new LoopThread.Answer<>(loopThread) {
          @Override
          public boolean cancel(boolean mayInterrupt) {
            // First, so that whoever learns of the cancellation finds the place free.
            if (!isDone()) {
              withdraw.accept(Submission.this);
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
    return Sizes.of(command);
  }

  @Override
  void reject(RuntimeException why) {
    answer.completeExceptionally(why);
  }
}
