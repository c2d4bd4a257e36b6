package io.millrace.store.kernel;

import io.millrace.store.OutcomeUnknownException;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Answers that wait for the disk. The one rule of release: an answer leaves once every frame that
 * its decision saw is durable; answers leave in the order in which they were decided.
 */
final class Answers {
  private record Held<T>(long sequence, CompletableFuture<T> future, T answer) {
    void release() {
      future.complete(answer);
    }
  }

  private final ArrayDeque<Held<?>> held = new ArrayDeque<>();

  /** Holds an answer until frame {@code sequence} is durable. */
  <T> void hold(long sequence, CompletableFuture<T> future, T answer) {
    held.add(new Held<>(sequence, future, answer));
  }

  boolean isEmpty() {
    return held.isEmpty();
  }

  /** Gives every answer that rests on frames up to {@code durable}. */
  void release(long durable) {
    while (true) {
      Held<?> first = held.peek();
      if (first == null || first.sequence() > durable) {
        return;
      }
      held.remove();
      first.release();
    }
  }

  /** Tells all who wait that nobody knows whether their commands will survive. */
  void fail(@Nullable Throwable cause) {
    OutcomeUnknownException unknown =
        cause == null
            ? new OutcomeUnknownException("the store stopped before the answer was on disk")
            : new OutcomeUnknownException(
                "the store stopped before the answer was on disk: " + cause.getMessage(), cause);
    for (Held<?> answer : held) {
      answer.future().completeExceptionally(unknown);
    }
    held.clear();
  }
}
