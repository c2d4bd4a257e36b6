package io.millrace.queues.node;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output.OutputRecovery;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Status;
import io.millrace.store.TaskStore.Read;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes that a node has to make in the store, in order; a change that fails is tried again after
 * the others.
 */
final class PendingReports {
  private static final Logger LOG = LoggerFactory.getLogger(PendingReports.class);

  /**
   * If this many runners in a row end before they start their task, this node claims no more tasks
   * of their queue.
   */
  private static final int MAX_UNSTARTED = 3;

  private static final Report TERMINATED =
      new Report(Status.TERMINATED, TaskOutput.NONE, List.of(), "terminated before it ran");

  private final String node;
  private final QueueBackend.Runs runs;
  private final QueueBackend.Definitions queues;
  private final QueueBackend.Nodes nodes;
  private final QueueBackend.Config config;
  private final ServedQueues served;
  private final ActiveRuns active;
  private final Deque<PendingReport> owed = new ArrayDeque<>();
  private final Map<ObjectId, Integer> unstarted = new HashMap<>();
  private OutputRecovery recovery = OutputRecovery.NOTHING;

  PendingReports(String node, QueueBackend queues, ServedQueues served, ActiveRuns active) {
    this.node = node;
    this.runs = queues.runs();
    this.queues = queues.queues();
    this.nodes = queues.nodes();
    this.config = queues.config();
    this.served = served;
    this.active = active;
  }

  /** Sets what finds the output of lost runs from now on. */
  void recoverOutputBy(OutputRecovery finder) {
    recovery = finder;
  }

  boolean none() {
    return owed.isEmpty();
  }

  /** Gives a run back. */
  void giveBack(Run run) {
    active.put(run, ActiveRuns.Place.LEAVING);
    owed.add(new PendingReport.GiveBack(run));
  }

  /** Ends a run whose runner is gone. */
  void lost(Run run, String reason) {
    active.put(run, ActiveRuns.Place.LEAVING);
    owed.add(new PendingReport.Lost(run, reason));
  }

  /**
   * Claims no more tasks of a queue. This is done before all else, so that tasks that are given
   * back are not claimed again.
   */
  void suspend(Queue queue, String reason) {
    served.exhausted(queue.id());
    owed.addFirst(new PendingReport.Suspend(queue, reason));
  }

  /** A runner of this queue has started its task. */
  void started(ObjectId queue) {
    unstarted.remove(queue);
  }

  /** Makes the next change, if there is one. */
  void settleNext() {
    PendingReport next = owed.poll();
    if (next == null) {
      return;
    }
    try {
      settle(next);
    } catch (RuntimeException e) {
      owed.add(next);
      throw e;
    }
  }

  private void settle(PendingReport next) {
    switch (next) {
      case PendingReport.GiveBack(Run run) -> {
        if (returned(run)) {
          active.remove(run.task());
        } else {
          leave(run);
        }
      }
      case PendingReport.Lost(Run run, String reason) -> {
        if (returned(run)) {
          LOG.warn("the runner of task {} ended before it began: {}", run.task(), reason);
          countUnstarted(run, reason);
        } else {
          var _ = runs.orphan(run, recovery.report(run, reason));
        }
        active.remove(run.task());
      }
      case PendingReport.Suspend(Queue queue, String reason) ->
          queues
              .suspend(queue.id(), node, reason, this::isServedElsewhere)
              .ifPresent(now -> say(now, reason));
    }
  }

  private void say(Queue queue, String reason) {
    Queue.Health.Halt halt = queue.health().halt();
    if (halt != null && halt.node().equals(node)) {
      LOG.error(
          "queue {} is halted: node {} cannot start a runner, and no other node can serve the"
              + " queue, so its threads are set from {} to 0 until it is resumed (millrace queues"
              + " resume): {}",
          queue.name(),
          node,
          halt.threads(),
          reason);
    } else {
      LOG.error(
          "node {} cannot start a runner for queue {}, so it claims none of its tasks until the"
              + " queue is resumed (millrace queues resume) or the node is started again: {}",
          node,
          queue.name(),
          reason);
    }
  }

  /** Whether another live node may claim tasks of a queue and has its plugin. */
  private boolean isServedElsewhere(Queue queue) {
    Read<List<NodeRecord>> all = nodes.list();
    return all.value().stream()
        .filter(other -> other.stateAt(all.timeMillis()) == NodeRecord.State.ALIVE)
        .filter(other -> !other.name().equals(node))
        .filter(other -> other.maxthreads() == null || other.maxthreads() > 0)
        .filter(other -> !queue.health().isSuspendedOn(other.name()))
        .filter(other -> other.presence() != null && other.presence().offers(queue.plugin()))
        .anyMatch(other -> config.forNode(other.name()).serves(other.name(), queue));
  }

  /** Gives a run back, or ends it if that was requested; false if it was started. */
  private boolean returned(Run run) {
    return runs.isToStop(run.task())
        ? runs.find(run.task())
                .filter(now -> now.claim().equals(run.claim()))
                .filter(now -> now.status() == Status.CLAIMED)
                .isPresent()
            && runs.orphan(run, TERMINATED).isPresent()
        : runs.giveBack(run);
  }

  /**
   * Leaves a run that cannot be given back: it has ended, or a runner that this node does not see
   * has started it.
   */
  private void leave(Run run) {
    boolean runs =
        this.runs.find(run.task()).filter(now -> now.claim().equals(run.claim())).isPresent();
    if (runs) {
      active.put(run, ActiveRuns.Place.ELSEWHERE);
    } else {
      active.remove(run.task());
    }
  }

  private void countUnstarted(Run run, String reason) {
    int times = unstarted.merge(run.queue(), 1, Integer::sum);
    if (times >= MAX_UNSTARTED) {
      unstarted.remove(run.queue());
      served.find(run.queue()).ifPresent(queue -> suspend(queue, reason));
    }
  }

  /** A change that a node has to make in the store, and tries until it is done. */
  private sealed interface PendingReport {
    /** Give a run back that no runner has started. */
    record GiveBack(Run run) implements PendingReport {}

    /** A runner is gone: give the run back if it was not started, or else end it. */
    record Lost(Run run, String reason) implements PendingReport {}

    /** Claim no more tasks of a queue, because this node cannot start runners for it. */
    record Suspend(Queue queue, String reason) implements PendingReport {}
  }
}
