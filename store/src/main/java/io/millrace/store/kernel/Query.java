package io.millrace.store.kernel;

import io.millrace.store.Read;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A read on its way to the loop.
 *
 * @param <T> what it gives
 */
final class Query<T> extends Mailbox.Message {
  private final Function<StoreLoop, T> question;
  private final CompletableFuture<Read<T>> answer = new CompletableFuture<>();

  /** Asks what {@code question} makes of the loop and its state, on the loop's thread. */
  Query(Function<StoreLoop, T> question) {
    this.question = question;
  }

  @Override
  long sizeBytes() {
    return Mailbox.MESSAGE_BYTES;
  }

  Function<StoreLoop, T> question() {
    return question;
  }

  CompletableFuture<Read<T>> answer() {
    return answer;
  }

  @Override
  void reject(RuntimeException why) {
    answer.completeExceptionally(why);
  }
}
