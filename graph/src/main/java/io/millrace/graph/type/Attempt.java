package io.millrace.graph.type;

import io.millrace.blobs.Tail;
import io.millrace.graph.Definition.Branch;
import io.millrace.graph.Kill;
import io.millrace.store.environment.DurationText;
import io.millrace.work.policy.RetryPolicy;
import java.time.Duration;
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

  /** An attempt that is over as soon as it has begun, without long output. */
  static Attempt ended(Ending ending) {
    return new Attempt() {
      @Override
      public CompletableFuture<Ending> onEnd() {
        return CompletableFuture.completedFuture(ending);
      }

      @Override
      public void kill(Kill kill) {}

      @Override
      public Map<String, Tail> recordings() {
        return Map.of();
      }
    };
  }

  /**
   * The end of an attempt.
   *
   * @param failure why it did not succeed; null if it did
   * @param taken the branch that a condition chose; null for other types
   * @param values its output by key
   */
  record Ending(@Nullable Failure failure, @Nullable Branch taken, Map<String, JsonNode> values) {
    public Ending {
      values = Map.copyOf(values);
    }

    /** A success of a type that chooses no branch. */
    public static Ending succeeded(Map<String, JsonNode> values) {
      return new Ending(null, null, values);
    }

    /**
     * A failure of which nothing more is known.
     *
     * @param reason why, for people
     */
    public static Ending failed(String reason) {
      return new Ending(Failure.of(reason), null, Map.of());
    }

    /**
     * An interruption.
     *
     * @param reason what interrupted it, for people
     */
    public static Ending interrupted(String reason) {
      return new Ending(new Failure.Interrupted(reason), null, Map.of());
    }
  }

  /** Why an attempt did not succeed. The node's settings decide what follows from it. */
  sealed interface Failure {
    /** The reason, for people. */
    String reason();

    /**
     * It failed.
     *
     * @param how the code of the failure, and the delay that it asks for
     */
    record Failed(String reason, RetryPolicy.Failed how) implements Failure {}

    /** What ran it was lost, for example its process or its machine. */
    record Interrupted(String reason) implements Failure {}

    /** It asks to be put off. */
    record Snoozed(Duration delay) implements Failure {
      @Override
      public String reason() {
        return "it snoozed for " + DurationText.show(delay);
      }
    }

    /** A failure without a code. */
    static Failure of(String reason) {
      return new Failed(reason, RetryPolicy.Failed.UNKNOWN);
    }

    /** A failure with this exit code or other code, which may be empty. */
    static Failure of(String reason, String code) {
      return new Failed(reason, new RetryPolicy.Failed(code.isEmpty() ? null : code, null));
    }
  }
}
