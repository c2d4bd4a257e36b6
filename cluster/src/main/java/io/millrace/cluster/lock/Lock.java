package io.millrace.cluster.lock;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.time.MemberClock;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One lock that a member wants to hold, and keeps as long as it can. */
public final class Lock implements Contest {
  private static final Logger LOG = LoggerFactory.getLogger(Lock.class);

  private final String key;
  private final VersionedDocuments documents;
  private final Locks locks;
  private final Sightings sightings;
  private final MemberClock clock;
  private @Nullable Tenure tenure;
  private long lookMillis;

  /** A lock that is not held yet. */
  public Lock(
      String key,
      VersionedDocuments documents,
      Locks locks,
      Sightings sightings,
      MemberClock clock) {
    this.key = key;
    this.documents = documents;
    this.locks = locks;
    this.sightings = sightings;
    this.clock = clock;
    this.lookMillis = clock.monotonicMillis();
  }

  @Override
  public Optional<Tenure> tenure() {
    return Optional.ofNullable(tenure).filter(Guard::isHeld);
  }

  @Override
  public long step() {
    Tenure mine = tenure;
    if (mine != null && mine.step()) {
      return mine.nextMillis();
    }
    if (mine != null) {
      tenure = null;
      lookMillis = clock.monotonicMillis();
    }
    if (clock.monotonicMillis() >= lookMillis) {
      tryFor();
    }
    return tenure == null ? lookMillis : tenure.nextMillis();
  }

  private void tryFor() {
    try {
      tenure = look().map(held -> new Tenure(held, locks, clock)).orElse(null);
      lookMillis = sightings.nextLook(key).orElse(clock.monotonicMillis());
    } catch (ClusterException e) {
      lookMillis = clock.monotonicMillis() + locks.terms().renewalMillis();
      LOG.debug("Lock {} could not be tried for, and will be again", key, e);
    }
  }

  /**
   * Takes the lock anew from itself where it is held, which gives it the next fence. The tenure
   * before ends.
   */
  public void advance() {
    Tenure mine = tenure;
    if (mine == null || !mine.isHeld()) {
      return;
    }
    tenure = null;
    try {
      tenure = locks.take(mine.document()).map(held -> new Tenure(held, locks, clock)).orElse(null);
      mine.end();
    } catch (ClusterException e) {
      mine.end();
      LOG.debug("Lock {} could not be taken anew, and is left to its lease", key, e);
    }
  }

  private Optional<Held> look() {
    Optional<VersionedDocument> document = documents.get(key);
    if (document.isEmpty()) {
      sightings.forget(key);
      return locks.create(key);
    }
    sightings.see(document.get());
    return sightings.isFree(key) ? locks.take(document.get()) : Optional.empty();
  }

  @Override
  public void release() {
    Tenure mine = tenure;
    tenure = null;
    if (mine == null) {
      return;
    }
    try {
      mine.release();
    } catch (ClusterException e) {
      LOG.debug("Lock {} is left to its lease", key, e);
    }
  }
}
