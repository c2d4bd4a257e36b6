package io.millrace.queues.node;

import io.millrace.queues.NodeConfig;
import io.millrace.queues.Queue;
import io.millrace.queues.Run;
import org.jspecify.annotations.Nullable;

/** Hands claimed runs to runners, in the order in which they were claimed. */
final class Handover {
  /**
   * How long a run waits for a warm runner, if there are any, before a process is started for it: a
   * start costs as much, and a runner that reports an end frees its slot in the store before its
   * node hears of it.
   */
  static final long PATIENCE_NANOS = 200_000_000;

  private final Runners runners;
  private final ServedQueues served;
  private final ActiveRuns active;
  private final PendingReports reports;

  Handover(Runners runners, ServedQueues served, ActiveRuns active, PendingReports reports) {
    this.runners = runners;
    this.served = served;
    this.active = active;
    this.reports = reports;
  }

  /** Hands the next run over; returns whether there was one that did not have to wait. */
  boolean next(NodeConfig config, long nowNanos) {
    @Nullable Run run = active.nextReady().orElse(null);
    if (run == null) {
      return false;
    }
    @Nullable Queue queue = served.find(run.queue()).orElse(null);
    if (queue == null) {
      reports.giveBack(run);
      return true;
    }
    try {
      return handOver(run, queue, config, waitNanos(nowNanos) == 0);
    } catch (RuntimeException e) {
      // Whatever went wrong: a runner that was started after all finds its claim gone.
      reports.giveBack(run);
      for (Run other : active.in(ActiveRuns.Place.READY)) {
        if (other.queue().equals(run.queue())) {
          reports.giveBack(other);
        }
      }
      reports.suspend(queue, String.valueOf(e.getMessage()));
      return true;
    }
  }

  private boolean handOver(Run run, Queue queue, NodeConfig config, boolean late) {
    if (late) {
      runners.begin(run, queue.plugin(), config);
    } else if (!runners.offer(run, queue.plugin(), config)) {
      return false;
    }
    active.put(run.with(null), ActiveRuns.Place.WITH_RUNNER);
    return true;
  }

  /** How long no run has to be handed over unless a runner becomes free. */
  long waitNanos(long nowNanos) {
    return active.nextReady().isEmpty()
        ? Long.MAX_VALUE
        : Math.max(0, active.readySinceNanos() + PATIENCE_NANOS - nowNanos);
  }
}
