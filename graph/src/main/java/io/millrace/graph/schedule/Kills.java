package io.millrace.graph.schedule;

import io.millrace.graph.Attempt;
import io.millrace.graph.GraphWork;
import io.millrace.graph.Kill;
import io.millrace.graph.NodeId;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells attempts to end that somebody wants ended, or whose time is over. For the scheduler's
 * thread.
 */
final class Kills {
  private static final Logger LOG = LoggerFactory.getLogger(Kills.class);
  private static final long PAUSE_MILLIS = 1_000;

  private final GraphWork graph;
  private final Roster roster;
  private final Executor executor;
  private final Consumer<News> inbox;

  Kills(GraphWork graph, Roster roster, Executor executor, Consumer<News> inbox) {
    this.graph = graph;
    this.roster = roster;
    this.executor = executor;
    this.inbox = inbox;
  }

  /** An attempt is under way, and hears what it could not hear before. */
  void begun(Trial trial) {
    if (trial.timedOut) {
      tell(trial, Kill.DEFAULT);
    }
  }

  /** Tells those whose time is over. */
  void tellOverdue(long nowMillis) {
    for (Trial trial : roster.timedOut(nowMillis)) {
      trial.timedOut = true;
      if (trial.attempt != null) {
        tell(trial, Kill.DEFAULT);
      }
    }
  }

  /**
   * Tells those that somebody wants ended, each kill once.
   *
   * @return when one is to be told again that could not be, in milliseconds since 1970
   */
  long tellWanted(long nowMillis) {
    long again = GraphScheduler.NEVER_MILLIS;
    for (Map.Entry<NodeId, Kill> wanted : graph.killing().entrySet()) {
      Trial trial = roster.underWay(wanted.getKey());
      if (trial == null || wanted.getValue().equals(trial.told)) {
        continue;
      }
      if (nowMillis < trial.tellAgainMillis) {
        again = Math.min(again, trial.tellAgainMillis);
      } else {
        trial.told = wanted.getValue();
        tell(trial, wanted.getValue());
      }
    }
    return again;
  }

  /** One could not be told, and will be again. */
  void untold(Trial trial, long nowMillis) {
    trial.told = null;
    trial.tellAgainMillis = nowMillis + PAUSE_MILLIS;
    if (trial.timedOut && !trial.over) {
      roster.endAt(trial, trial.tellAgainMillis);
    }
  }

  private void tell(Trial trial, Kill kill) {
    executor.execute(() -> {
      try {
        Attempt attempt = trial.attempt;
        if (attempt != null) {
          attempt.kill(kill);
        }
      } catch (RuntimeException e) {
        LOG.warn("{} cannot be ended: {}", trial, e.toString());
        inbox.accept(new News.Untold(trial));
      }
    });
  }
}
