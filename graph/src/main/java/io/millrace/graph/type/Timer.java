package io.millrace.graph.type;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Does something after a while. Safe for use by any number of threads. */
@FunctionalInterface
public interface Timer {
  /** Each task in a virtual thread of its own, which may block. */
  Timer VIRTUAL =
      (pause, task) ->
          CompletableFuture.delayedExecutor(
                  pause.toMillis(), TimeUnit.MILLISECONDS, Thread.ofVirtual()::start)
              .execute(task);

  /** Runs {@code task} when {@code pause} is over, in another thread. */
  void after(Duration pause, Runnable task);
}
