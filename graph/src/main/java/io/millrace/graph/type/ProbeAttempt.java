package io.millrace.graph.type;

import io.millrace.blobs.Tail;
import io.millrace.graph.Kill;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** An attempt that looks until something is so. */
final class ProbeAttempt implements Attempt {
  private final Probe look;
  private final Timer timer;
  private final CompletableFuture<Ending> end = new CompletableFuture<>();
  private int looked;

  ProbeAttempt(Probe look, Timer timer) {
    this.look = look;
    this.timer = timer;
  }

  /** Looks for the first time, at once; one look ends before the next begins. */
  void begin() {
    if (end.isDone()) {
      return;
    }
    looked++;
    try {
      var _ = look.once().whenComplete(this::seen);
    } catch (RuntimeException | Error e) {
      // Errors too: this may be a thread of its own, and nobody else would look again.
      seen(null, e);
    }
  }

  private void seen(@Nullable Boolean holds, @Nullable Throwable problem) {
    if (problem != null) {
      Throwable inner = problem instanceof CompletionException ? problem.getCause() : null;
      String reason = String.valueOf((inner == null ? problem : inner).getMessage());
      end.complete(new Ending(reason, null, Map.of()));
    } else if (Boolean.TRUE.equals(holds)) {
      end.complete(new Ending(null, null, Map.of()));
    } else {
      timer.after(look.pause(looked), this::begin);
    }
  }

  @Override
  public CompletableFuture<Ending> onEnd() {
    return end.copy();
  }

  @Override
  public void kill(Kill kill) {
    Ending ended = new Ending("it was ended while it waited", null, Map.of());
    var _ = look.end(kill).whenComplete((_, _) -> end.complete(ended));
  }

  @Override
  public Map<String, Tail> recordings() {
    return look.recordings();
  }
}
