package io.millrace.graph.type;

import io.millrace.blobs.Tail;
import io.millrace.graph.Kill;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Something in the world that a node waits for, looked at now and then. */
interface Probe {
  /**
   * Looks once; may block for some seconds.
   *
   * @return whether it is so; fails where it never will be, with a message for people
   */
  CompletableFuture<Boolean> once();

  /**
   * How long to wait until the next look.
   *
   * @param looked how often it was looked, from 1
   */
  Duration pause(int looked);

  /** Ends a look that is under way; done when nothing is left of it. */
  default CompletableFuture<?> end(Kill kill) {
    return CompletableFuture.completedFuture(true);
  }

  /** What it writes while it looks. */
  default Map<String, Tail> recordings() {
    return Map.of();
  }
}
