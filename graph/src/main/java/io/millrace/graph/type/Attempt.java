package io.millrace.graph.type;

import io.millrace.blobs.Tail;
import io.millrace.graph.Definition.Branch;
import io.millrace.graph.Kill;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** An attempt at a node, running or ended. Safe for use by any number of threads. */
public interface Attempt {
  /** Completed with the end of the attempt; fails only because of a bug. */
  CompletableFuture<Ending> onEnd();

  /** Begins to end it; {@link #onEnd} tells when that is done. May be called again. */
  void kill(Kill kill);

  /** Its long output by key, as it grows; always the same map. */
  Map<String, Tail> recordings();

  /**
   * The end of an attempt.
   *
   * @param failure why it failed, for people; null if it succeeded
   * @param taken the branch that a condition chose; null for other types
   * @param values its output by key
   */
  record Ending(@Nullable String failure, @Nullable Branch taken, Map<String, JsonNode> values) {
    public Ending {
      values = Map.copyOf(values);
    }
  }
}
