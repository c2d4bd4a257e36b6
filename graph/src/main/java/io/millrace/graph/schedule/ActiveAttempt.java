package io.millrace.graph.schedule;

import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphWork;
import io.millrace.graph.Kill;
import io.millrace.graph.NodeId;
import io.millrace.graph.Phase;
import io.millrace.graph.Timing;
import io.millrace.graph.type.Attempt;
import io.millrace.graph.type.NodeType;
import io.millrace.graph.type.RunPolicy;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An attempt of a scheduler, from the time when its start is recorded until its end is recorded.
 * For the scheduler's thread, except for final fields and {@link #attempt}.
 */
final class ActiveAttempt {
  final NodeId id;
  final int number;

  /** The attempts at the node, with this one. */
  final Phase.Attempts attempts;

  final NodeType type;
  final Map<String, JsonNode> inputs;
  final RunPolicy policy;
  final Timing timing;

  /** When all attempts together have taken too long; the largest number for never. */
  private final long totalEndMillis;

  /** Whether an earlier server had begun to kill it. */
  final boolean killing;

  /** Whether this scheduler has recorded its start, so that it has no earlier output. */
  final boolean isNew;

  /** When it times out, in milliseconds since 1970; the largest number for never. */
  long deadlineMillis;

  /** The attempt of the node's type; null until it has begun. */
  volatile @Nullable Attempt attempt;

  /** The last kill that was sent to it; null for none. */
  @Nullable Kill told;

  /** When a kill that could not be sent may be sent again. */
  long tellAgainMillis;

  boolean timedOut;

  /** Whether it has ended; its end may not be recorded yet. */
  boolean over;

  /**
   * An attempt.
   *
   * @param isNew whether this scheduler has just started it
   */
  ActiveAttempt(GraphWork.Item item, NodeType type, boolean isNew) {
    this.isNew = isNew;
    this.id = item.node().id();
    this.attempts = item.node().phase().attempts();
    this.number = attempts.number();
    this.type = type;
    this.inputs = item.inputs();
    this.policy = policy(item);
    this.killing = item.node().phase() instanceof Phase.Running running && running.killing();
    this.timing = item.node().definition().timing();
    this.totalEndMillis =
        item.node().phase() instanceof Phase.Running running
            ? timing.totalEndMillis(running.dueMillis())
            : Long.MAX_VALUE;
    this.deadlineMillis = Math.min(totalEndMillis, deadlineMillis(item.node().phase(), policy));
  }

  private static RunPolicy policy(GraphWork.Item item) {
    try {
      return RunPolicy.of(item.inputs());
    } catch (InvalidGraphException e) {
      // It was accepted when it was set, by an earlier version to which some keys meant nothing.
      return RunPolicy.ofFirstVersion(item.inputs());
    }
  }

  private static long deadlineMillis(Phase phase, RunPolicy policy) {
    return phase instanceof Phase.Running running && policy.timeout() != null
        ? running.startedMillis() + policy.timeout().toMillis()
        : Long.MAX_VALUE;
  }

  /** Whether the node has taken too long in all. */
  boolean isOverTotal(long nowMillis) {
    return nowMillis >= totalEndMillis;
  }

  String name() {
    return name(id, number);
  }

  static String name(NodeId id, int number) {
    return id + "." + number;
  }

  @Override
  public String toString() {
    return "attempt " + number + " of node " + id;
  }
}
