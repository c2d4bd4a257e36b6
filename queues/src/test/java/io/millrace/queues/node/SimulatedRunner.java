package io.millrace.queues.node;

import io.millrace.queues.Output;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.QueuesException;
import io.millrace.queues.QueuesException.LostClaimException;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.Started;
import io.millrace.queues.Status;
import io.millrace.queues.registry.RunRegistry;
import io.millrace.store.StoreException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A runner's process: it starts its task, renews its claim, works, and reports. */
final class SimulatedRunner {
  private static final long RETRY_NANOS = 300_000_000L;

  private enum Phase {
    STARTING,
    WORKING,
    REPORTING,
    GONE
  }

  private final SimulatedHost host;
  private final RunRegistry runs;
  private final String identity;
  private final long workNanos;
  private Run run;
  private @Nullable Started started;
  private Phase phase = Phase.STARTING;
  private long dueNanos;
  private long endNanos;
  private long renewedNanos;
  private int status = Status.SUCCEEDED;
  private String said = "";

  SimulatedRunner(SimulatedHost host, RunRegistry runs, Run run, String identity, long workNanos) {
    this.host = host;
    this.runs = runs;
    this.run = run;
    this.identity = identity;
    this.workNanos = workNanos;
  }

  Run run() {
    return run;
  }

  long dueNanos() {
    return phase == Phase.GONE ? Long.MAX_VALUE : dueNanos;
  }

  boolean isGone() {
    return phase == Phase.GONE;
  }

  boolean isWorking() {
    return phase == Phase.WORKING;
  }

  void startAt(long nanos) {
    dueNanos = nanos;
    renewedNanos = nanos;
  }

  /** The process dies on the spot. */
  void die() {
    phase = Phase.GONE;
  }

  /** Somebody wants its end. */
  void stop(long nowNanos) {
    if (phase == Phase.WORKING) {
      stopWork(Status.TERMINATED, "terminated", nowNanos);
    }
  }

  private void stopWork(int with, String reason, long nowNanos) {
    phase = Phase.REPORTING;
    status = with;
    said = reason;
    dueNanos = nowNanos;
  }

  void step(long nowNanos) {
    try {
      act(nowNanos);
    } catch (LostClaimException _) {
      phase = Phase.GONE;
      host.ended(this);
    } catch (StoreException | QueuesException _) {
      dueNanos = nowNanos + RETRY_NANOS;
      leaveInTime(nowNanos);
    }
  }

  private void act(long nowNanos) {
    switch (phase) {
      case STARTING -> {
        started = runs.begin(run, identity, host.lease());
        run = started.run();
        renewedNanos = nowNanos;
        endNanos = nowNanos + workNanos;
        phase = Phase.WORKING;
        dueNanos = nextLook(nowNanos);
      }
      case WORKING -> {
        if (nowNanos >= endNanos) {
          stopWork(Status.SUCCEEDED, "", nowNanos);
          return;
        }
        runs.renew(run, host.lease());
        renewedNanos = nowNanos;
        dueNanos = nextLook(nowNanos);
      }
      case REPORTING -> {
        Output output = new Output.Text(identity);
        Report report = new Report(status, new TaskOutput(output, Output.none()), List.of(), said);
        runs.finish(Objects.requireNonNull(started), report);
        phase = Phase.GONE;
        host.ended(this);
      }
      case GONE -> {}
    }
  }

  private long nextLook(long nowNanos) {
    return Math.min(endNanos, nowNanos + host.lease().toNanos() / 3);
  }

  /** Work ends before the lease does. */
  private void leaveInTime(long nowNanos) {
    long left = renewedNanos + host.lease().toNanos() * 3 / 4 - nowNanos;
    if (phase == Phase.WORKING && left <= 0) {
      stopWork(Status.ORPHANED, "its claim could not be renewed", nowNanos + RETRY_NANOS);
    }
  }
}
