package io.millrace.cluster.lock;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.time.MemberClock;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One lock that a member wants to hold, and keeps as long as it can. */
public final class Lock extends KeepingContest {
  private static final Logger LOG = LoggerFactory.getLogger(Lock.class);

  private final String key;
  private final VersionedDocuments documents;
  private final Locks locks;
  private final Sightings sightings;
  private final MemberClock clock;

  /** A lock that is not held yet. */
  public Lock(
      String key,
      VersionedDocuments documents,
      Locks locks,
      Sightings sightings,
      MemberClock clock) {
    super("lock " + key, locks, clock);
    this.key = key;
    this.documents = documents;
    this.locks = locks;
    this.sightings = sightings;
    this.clock = clock;
  }

  /**
   * Takes the lock anew from itself where it is held, which gives it the next fence. The tenure
   * before ends.
   */
  public void advance() {
    Tenure mine = kept();
    if (mine == null || !mine.isHeld()) {
      return;
    }
    keep(null);
    try {
      keep(locks.take(mine.document()).map(held -> new Tenure(held, locks, clock)).orElse(null));
      mine.end();
    } catch (ClusterException e) {
      mine.end();
      LOG.debug("Lock {} could not be taken anew, and is left to its lease", key, e);
    }
  }

  @Override
  protected Optional<Held> attempt() {
    Optional<VersionedDocument> document = documents.get(key);
    if (document.isEmpty()) {
      sightings.forget(key);
      return locks.create(key);
    }
    sightings.see(document.get());
    return sightings.isFree(key) ? locks.take(document.get()) : Optional.empty();
  }

  @Override
  protected long nextLook() {
    return sightings.nextLook(key).orElse(clock.monotonicMillis());
  }
}
