package io.millrace.queues.node;

import io.millrace.queues.QueuesException;
import io.millrace.store.StoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Waiting for a store that fails: longer and longer, said once when it begins and ends. */
final class Outage {
  private static final Logger LOG = LoggerFactory.getLogger(Outage.class);
  private static final long FIRST_NANOS = 50_000_000;
  private static final long LONGEST_NANOS = 2_000_000_000;

  private final String node;
  private long pauseNanos;
  private long untilNanos;

  Outage(String node) {
    this.node = node;
  }

  /** How long it is to wait still. */
  long waitNanos(long nowNanos) {
    return pauseNanos == 0 ? 0 : Math.max(0, untilNanos - nowNanos);
  }

  /** Something failed; gives how long to wait. */
  long failed(long nowNanos, RuntimeException failure) {
    if (!(failure instanceof StoreException || failure instanceof QueuesException)) {
      LOG.error("node {} failed unexpectedly and tries again", node, failure);
    } else if (pauseNanos == 0) {
      LOG.warn("node {} waits for the store: {}", node, failure.getMessage());
    } else {
      LOG.debug("node {} still waits for the store: {}", node, failure.getMessage());
    }
    pauseNanos = pauseNanos == 0 ? FIRST_NANOS : Math.min(2 * pauseNanos, LONGEST_NANOS);
    untilNanos = nowNanos + pauseNanos;
    return pauseNanos;
  }

  /** Nothing failed; gives whether it had before. */
  boolean over() {
    if (pauseNanos == 0) {
      return false;
    }
    pauseNanos = 0;
    LOG.info("node {} goes on", node);
    return true;
  }
}
