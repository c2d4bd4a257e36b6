package io.millrace.queues;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What keeps a queue from being served as its settings say: nodes that cannot start task runners
 * for it.
 *
 * @param halt why the queue runs nothing at all; null unless a node has halted it
 * @param suspensions the nodes that claim none of its tasks, the first one first
 */
public record QueueHealth(@Nullable Halt halt, List<Suspension> suspensions) {
  /** Nothing is wrong. */
  public static final QueueHealth GOOD = new QueueHealth(null, List.of());

  /** When so many nodes have failed, the fault lies with the queue, and it is halted. */
  static final int MOST_SUSPENSIONS = 20;

  private static final int MOST_REASON_CHARS = 500;

  /**
   * A queue's {@code threads} were set to 0, as no live node that may serve it can start a runner.
   *
   * @param node the node that found it so
   * @param reason why it could not start a runner
   * @param threads the limit that the queue had before, from 1
   * @param atMillis when, in milliseconds since the epoch
   */
  public record Halt(String node, String reason, int threads, long atMillis) {}

  /**
   * A node has stopped claiming the queue's tasks.
   *
   * @param node its name
   * @param reason why it could not start a runner
   * @param atMillis when, in milliseconds since the epoch
   */
  public record Suspension(String node, String reason, long atMillis) {}

  /** Copies the list. */
  public QueueHealth {
    suspensions = List.copyOf(suspensions);
  }

  /** Whether nothing is wrong. */
  public boolean isGood() {
    return halt == null && suspensions.isEmpty();
  }

  /** Whether the node of this name has stopped claiming. */
  public boolean isSuspendedOn(String node) {
    return suspensions.stream().anyMatch(each -> each.node().equals(node));
  }

  QueueHealth suspendedOn(String node, String reason, long nowMillis) {
    List<Suspension> next = new ArrayList<>(without(node).suspensions());
    next.add(new Suspension(node, shortened(reason), nowMillis));
    return new QueueHealth(halt, next);
  }

  QueueHealth without(String node) {
    return new QueueHealth(
        halt, suspensions.stream().filter(each -> !each.node().equals(node)).toList());
  }

  QueueHealth haltedBy(String node, String reason, int threads, long nowMillis) {
    return new QueueHealth(new Halt(node, shortened(reason), threads, nowMillis), suspensions);
  }

  private static String shortened(String reason) {
    return reason.length() <= MOST_REASON_CHARS
        ? reason
        : reason.substring(0, MOST_REASON_CHARS) + "…";
  }
}
