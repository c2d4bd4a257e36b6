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

/** Repeats what is written to documents as long as its writer may write. */
final class Persistence {
  private static final Logger LOG = LoggerFactory.getLogger(Persistence.class);
  private static final int PAUSES = 40;

  private final Guard guard;
  private final LeaseTerms terms;

  Persistence(Guard guard, LeaseTerms terms) {
    this.guard = guard;
    this.terms = terms;
  }

  /**
   * Does something that may be repeated until it comes through.
   *
   * @throws LeaseLostException once the writer may write no more
   * @throws ClusterException where the thread is interrupted, which it stays
   */
  <T> T persist(Supplier<T> write) {
    while (true) {
      guard.check();
      try {
        return write.get();
      } catch (DocumentsUnavailableException | UnclearOutcomeException e) {
        LOG.debug("A write did not come through, and is tried again", e);
        pause(e);
      }
    }
  }

  private void pause(ClusterException cause) {
    try {
      Thread.sleep(terms.lease().toMillis() / PAUSES + 1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterException("interrupted before it was written", cause);
    }
  }
}
