package io.millrace.http.message;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/** A reply that can be made once a future is done. Thread-safe. */
public final class AsyncReply {
  private final CompletableFuture<?> event;
  private final Supplier<Reply.Whole> reply;

  private AsyncReply(CompletableFuture<?> event, Supplier<Reply.Whole> reply) {
    this.event = event;
    this.reply = reply;
  }

  /**
   * A reply that {@code reply} makes from {@code event} once that is done, normally or
   * exceptionally. The function is called by the thread that writes the reply, not by the one that
   * completes the future.
   */
  public static <T> AsyncReply of(
      CompletableFuture<T> event, Function<CompletableFuture<T>, Reply.Whole> reply) {
    return new AsyncReply(event, () -> reply.apply(event));
  }

  /** A reply that is already complete. */
  public static AsyncReply now(Reply.Whole reply) {
    return new AsyncReply(CompletableFuture.completedFuture(reply), () -> reply);
  }

  /** Whether {@link #reply} may be called. */
  public boolean isDone() {
    return event.isDone();
  }

  /** Runs {@code action} when the future is done, on the thread that completes it. */
  public void whenDone(Runnable action) {
    var _ = event.whenComplete((_, _) -> action.run());
  }

  /** Makes the reply. Called only once the future is done. */
  public Reply.Whole reply() {
    return reply.get();
  }
}
