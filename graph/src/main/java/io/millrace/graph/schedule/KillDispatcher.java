package io.millrace.graph.schedule;

import io.millrace.graph.GraphWork;
import io.millrace.graph.Kill;
import io.millrace.graph.NodeId;
import io.millrace.graph.type.Attempt;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Kills attempts on request or when they time out. For the scheduler's thread. */
record KillDispatcher(
    GraphWork graph, RunningAttempts running, Executor executor, Consumer<SchedulerEvent> inbox) {
  private static final Logger LOG = LoggerFactory.getLogger(KillDispatcher.class);
  private static final long PAUSE_MILLIS = 1_000;

  /** Sends a kill that came before the attempt had begun. */
  void begun(ActiveAttempt active) {
    if (active.timedOut) {
      tell(active, Kill.DEFAULT);
    }
  }

  /** Kills attempts that have timed out. */
  void tellOverdue(long nowMillis) {
    for (ActiveAttempt active : running.timedOut(nowMillis)) {
      active.timedOut = true;
      if (active.attempt != null) {
        tell(active, Kill.DEFAULT);
      }
    }
  }

  /**
   * Sends the requested kills, each once.
   *
   * @return when a kill that could not be sent is sent again, in milliseconds since 1970
   */
  long tellWanted(long nowMillis) {
    long again = GraphScheduler.NEVER_MILLIS;
    for (Map.Entry<NodeId, Kill> wanted : graph.killing().entrySet()) {
      ActiveAttempt active = running.underWay(wanted.getKey());
      if (active == null || wanted.getValue().equals(active.told)) {
        continue;
      }
      if (nowMillis < active.tellAgainMillis) {
        again = Math.min(again, active.tellAgainMillis);
      } else {
        active.told = wanted.getValue();
        tell(active, wanted.getValue());
      }
    }
    return again;
  }

  /** Takes note of a kill that could not be sent and will be sent again. */
  void untold(ActiveAttempt active, long nowMillis) {
    active.told = null;
    active.tellAgainMillis = nowMillis + PAUSE_MILLIS;
    if (active.timedOut && !active.over) {
      running.endAt(active, active.tellAgainMillis);
    }
  }

  private void tell(ActiveAttempt active, Kill kill) {
    executor.execute(() -> {
      try {
        Attempt attempt = active.attempt;
        if (attempt != null) {
          attempt.kill(kill);
        }
      } catch (RuntimeException e) {
        LOG.warn("{} cannot be ended: {}", active, e.toString());
        inbox.accept(new SchedulerEvent.Untold(active));
      }
    });
  }
}
