package io.millrace.queues.node;

import io.millrace.queues.QueuesException;
import io.millrace.store.StoreException;
import io.millrace.work.Backoff;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Growing pauses while the store fails; their start and end are logged. */
final class StoreBackoff {
  private static final Logger LOG = LoggerFactory.getLogger(StoreBackoff.class);

  private final String node;
  private final Backoff backoff =
      Backoff.untilAnswered(Duration.ofMillis(50), Duration.ofSeconds(2));
  private long untilNanos;

  StoreBackoff(String node) {
    this.node = node;
  }

  /** The rest of the pause. */
  long waitNanos(long nowNanos) {
    return backoff.hasFailed() ? Math.max(0, untilNanos - nowNanos) : 0;
  }

  /** Notes a failure; returns how long to wait. */
  long failed(long nowNanos, RuntimeException failure) {
    if (!(failure instanceof StoreException || failure instanceof QueuesException)) {
      LOG.error("node {} failed unexpectedly and tries again", node, failure);
    } else if (!backoff.hasFailed()) {
      LOG.warn("node {} waits for the store: {}", node, failure.getMessage());
    } else {
      LOG.debug("node {} still waits for the store: {}", node, failure.getMessage());
    }
    long pauseNanos = backoff.next().toNanos();
    untilNanos = nowNanos + pauseNanos;
    return pauseNanos;
  }

  /** Notes a success; returns whether there was a failure before. */
  boolean over() {
    boolean failed = backoff.succeeded();
    if (failed) {
      LOG.info("node {} goes on", node);
    }
    return failed;
  }
}
