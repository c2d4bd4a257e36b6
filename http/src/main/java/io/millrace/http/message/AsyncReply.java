package io.millrace.http.message;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/** An answer that can be given once something is done. */
public final class AsyncReply {
  private final CompletableFuture<?> event;
  private final Supplier<Reply.Whole> reply;

  private AsyncReply(CompletableFuture<?> event, Supplier<Reply.Whole> reply) {
    this.event = event;
    this.reply = reply;
  }

  /**
   * An answer that {@code reply} makes of {@code event} once that is done, well or not. It is
   * called by the thread that writes the answer, not by the one that completes the event.
   */
  public static <T> AsyncReply of(
      CompletableFuture<T> event, Function<CompletableFuture<T>, Reply.Whole> reply) {
    return new AsyncReply(event, () -> reply.apply(event));
  }

  /** An answer that is there already. */
  public static AsyncReply now(Reply.Whole reply) {
    return new AsyncReply(CompletableFuture.completedFuture(reply), () -> reply);
  }

  public boolean isDone() {
    return event.isDone();
  }

  /** Runs {@code action} when the event is done, on the thread that completes it. */
  public void whenDone(Runnable action) {
    var _ = event.whenComplete((_, _) -> action.run());
  }

  /** The answer; the event is done. */
  public Reply.Whole reply() {
    return reply.get();
  }
}
