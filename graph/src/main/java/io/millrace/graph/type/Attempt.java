package io.millrace.graph.type;

import io.millrace.blobs.Tail;
import io.millrace.graph.Definition.Branch;
import io.millrace.graph.Kill;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** An attempt at a node, under way or over. Safe for use by any number of threads. */
public interface Attempt {
  /** How it ends, when it has; fails only by a defect. */
  CompletableFuture<Ending> onEnd();

  /** Begins to end it; {@link #onEnd} tells when that is done. May be called again. */
  void kill(Kill kill);

  /** Its long output by key, as it grows; the same map at any time. */
  Map<String, Tail> recordings();

  /**
   * How an attempt ended.
   *
   * @param failure why it failed, for people; null if it did what it was to do
   * @param taken the branch that a condition chose; null for others
   * @param values its output by key
   */
  record Ending(@Nullable String failure, @Nullable Branch taken, Map<String, JsonNode> values) {
    /** Copies the values. */
    public Ending {
      values = Map.copyOf(values);
    }
  }
}
