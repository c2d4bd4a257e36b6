package io.millrace.http;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/** An answer that can be given once something is done. */
public final class Later {
  private final CompletableFuture<?> event;
  private final Supplier<Reply.Whole> reply;

  private Later(CompletableFuture<?> event, Supplier<Reply.Whole> reply) {
    this.event = event;
    this.reply = reply;
  }

  /**
   * An answer that {@code reply} makes of {@code event} once that is done, well or not. It is
   * called by the thread that writes the answer, not by the one that completes the event.
   */
  public static <T> Later of(
      CompletableFuture<T> event, Function<CompletableFuture<T>, Reply.Whole> reply) {
    return new Later(event, () -> reply.apply(event));
  }

  /** An answer that is there already. */
  public static Later now(Reply.Whole reply) {
    return new Later(CompletableFuture.completedFuture(reply), () -> reply);
  }

  boolean isDone() {
    return event.isDone();
  }

  /** Runs {@code action} when the event is done, on the thread that completes it. */
  void whenDone(Runnable action) {
    var _ = event.whenComplete((_, _) -> action.run());
  }

  /** The answer; the event is done. */
  Reply.Whole reply() {
    return reply.get();
  }
}
