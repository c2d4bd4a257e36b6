package io.millrace.cluster.lock;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The locks that a member has seen, and since when each has been unchanged by the member's own
 * clock. This alone decides whether a holder is gone. Safe for use by any number of threads, which
 * then share what each of them sees.
 */
public final class Sightings {
  private final LeaseTerms terms;
  private final MemberClock clock;
  private final Map<String, Sighting> seen = new HashMap<>();

  /** No locks seen yet. */
  public Sightings(LeaseTerms terms, MemberClock clock) {
    this.terms = terms;
    this.clock = clock;
  }

  /**
   * Records a lock that was just read or listed.
   *
   * @return the lock
   */
  public synchronized LockDocument see(VersionedDocument document) {
    Sighting before = seen.get(document.key());
    if (before != null && before.version().equals(document.version())) {
      return before.lock();
    }
    LockDocument lock = LockDocument.read(document);
    long remaining = lock.expireMillis() - clock.wallMillis();
    seen.put(
        document.key(), new Sighting(document.version(), lock, clock.monotonicMillis(), remaining));
    return lock;
  }

  /** Records all locks whose keys begin with {@code prefix}, and forgets those not listed. */
  public synchronized void see(String prefix, List<VersionedDocument> listed) {
    listed.forEach(this::see);
    retain(prefix, listed.stream().map(VersionedDocument::key).collect(Collectors.toSet()));
  }

  /** Whether a lock may be taken, as it was last seen: it was released, or its holder is gone. */
  public synchronized boolean isFree(String key) {
    Sighting sighting = seen.get(key);
    return sighting != null && sighting.isFree(terms, clock.monotonicMillis());
  }

  /** When to look at a lock again, by the monotonic clock; empty for one that was never seen. */
  public synchronized OptionalLong nextLook(String key) {
    Sighting sighting = seen.get(key);
    return sighting == null
        ? OptionalLong.empty()
        : OptionalLong.of(sighting.nextLook(terms, clock.monotonicMillis()));
  }

  /** Since when a lock has been seen unchanged; now for one that was never seen. */
  public synchronized long sinceMillis(String key) {
    Sighting sighting = seen.get(key);
    return sighting == null ? clock.monotonicMillis() : sighting.sinceMillis();
  }

  /** Forgets all locks whose keys begin with {@code prefix}, except those named. */
  public synchronized void retain(String prefix, Set<String> keys) {
    seen.keySet().removeIf(key -> key.startsWith(prefix) && !keys.contains(key));
  }

  /** Forgets a lock that does not exist any more. */
  public synchronized void forget(String key) {
    seen.remove(key);
  }

  /**
   * A version of a lock's document, and since when a member has seen no other.
   *
   * @param version the version
   * @param lock its content
   * @param sinceMillis when the member first saw it, by the member's monotonic clock
   * @param remainingMillis how long the lease would last from then on, by the member's wall clock
   */
  private record Sighting(
      Version version, LockDocument lock, long sinceMillis, long remainingMillis) {
    /** Whether another member may take the lock now. */
    boolean isFree(LeaseTerms terms, long nowMillis) {
      return lock.isReleased() || nowMillis - sinceMillis >= terms.patienceMillis();
    }

    /**
     * When to look at the lock again: not before it expires, as far as wall clocks agree. A lease
     * of the same cluster never has more left than its whole length.
     */
    long nextLook(LeaseTerms terms, long nowMillis) {
      if (isFree(terms, nowMillis)) {
        return nowMillis;
      }
      long expires = sinceMillis + Math.min(remainingMillis, terms.leaseMillis());
      return expires > nowMillis ? expires : sinceMillis + terms.patienceMillis();
    }
  }
}
