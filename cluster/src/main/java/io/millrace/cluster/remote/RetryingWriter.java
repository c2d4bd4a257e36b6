package io.millrace.cluster.remote;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.DocumentsUnavailableException;
import io.millrace.cluster.documents.UnclearOutcomeException;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LeaseLostException;
import io.millrace.cluster.lock.LeaseTerms;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Retries writes to documents until they succeed, as long as a guard is held. */
final class RetryingWriter {
  private static final Logger LOG = LoggerFactory.getLogger(RetryingWriter.class);
  private static final int PAUSES = 40;

  private final Guard guard;
  private final LeaseTerms terms;

  RetryingWriter(Guard guard, LeaseTerms terms) {
    this.guard = guard;
    this.terms = terms;
  }

  /**
   * Retries an idempotent write until it succeeds.
   *
   * @throws LeaseLostException if the guard is no longer held
   * @throws ClusterException if the thread is interrupted; it stays interrupted
   */
  void repeat(Runnable write) {
    repeat(() -> {
      write.run();
      return true;
    });
  }

  /** The same as {@link #repeat(Runnable)}, for a write with a result. */
  <T> T repeat(Supplier<T> write) {
    while (true) {
      guard.check();
      try {
        return write.get();
      } catch (DocumentsUnavailableException | UnclearOutcomeException e) {
        LOG.debug("A write failed; retrying", e);
        pause(e);
      }
    }
  }

  private void pause(ClusterException cause) {
    try {
      Thread.sleep(terms.lease().toMillis() / PAUSES + 1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterException("interrupted before the write succeeded", cause);
    }
  }
}
