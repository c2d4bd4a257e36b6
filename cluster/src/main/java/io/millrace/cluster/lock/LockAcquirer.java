package io.millrace.cluster.lock;

import io.millrace.cluster.documents.VersionedDocument;
import java.util.Optional;

/** Acquires one lock, and keeps it as long as it can. */
public final class LockAcquirer extends Acquirer {
  private final String key;
  private final Locks locks;
  private final Sightings sightings;

  /** Does not hold the lock yet. */
  public LockAcquirer(String key, Locks locks, Sightings sightings) {
    super("lock " + key, locks);
    this.key = key;
    this.locks = locks;
    this.sightings = sightings;
  }

  @Override
  protected Optional<Locks.Held> attempt() {
    Optional<VersionedDocument> document = locks.documents().get(key);
    if (document.isEmpty()) {
      sightings.forget(key);
      return locks.create(key);
    }
    sightings.see(document.get());
    return sightings.isFree(key) ? locks.take(document.get()) : Optional.empty();
  }

  @Override
  protected long nextLook() {
    return sightings.nextLook(key).orElse(locks.clock().monotonicMillis());
  }
}
