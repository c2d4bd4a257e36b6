package io.millrace.http.message;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/** A response that can be made once a future is done. Thread-safe. */
public final class AsyncResponse {
  private final CompletableFuture<?> event;
  private final Supplier<Response.Whole> response;

  private AsyncResponse(CompletableFuture<?> event, Supplier<Response.Whole> response) {
    this.event = event;
    this.response = response;
  }

  /**
   * A response that {@code response} makes from {@code event} once that is done, normally or
   * exceptionally. The function is called by the thread that writes the response, not by the one
   * that completes the future.
   */
  public static <T> AsyncResponse of(
      CompletableFuture<T> event, Function<CompletableFuture<T>, Response.Whole> response) {
    return new AsyncResponse(event, () -> response.apply(event));
  }

  /** A response that is already complete. */
  public static AsyncResponse now(Response.Whole response) {
    return new AsyncResponse(CompletableFuture.completedFuture(response), () -> response);
  }

  /** Whether {@link #response} may be called. */
  public boolean isDone() {
    return event.isDone();
  }

  /** Runs {@code action} when the future is done, on the thread that completes it. */
  public void whenDone(Runnable action) {
    var _ = event.whenComplete((_, _) -> action.run());
  }

  /** Makes the response. Called only once the future is done. */
  public Response.Whole response() {
    return response.get();
  }
}
