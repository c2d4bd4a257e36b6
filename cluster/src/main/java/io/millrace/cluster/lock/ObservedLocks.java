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
 * clock. This alone decides whether a holder is gone. Thread-safe; threads share what each of them
 * reads.
 */
public final class ObservedLocks {
  /** The time after which a renewal that was due should be visible. */
  private static final long LATE_MILLIS = 100;

  /** The interval between two reads of a lock whose renewal is overdue. */
  private static final long OVERDUE_MILLIS = 500;

  private final LeaseTerms terms;
  private final MemberClock clock;
  private final Map<String, Observation> seen = new HashMap<>();

  /** Creates an empty record. */
  public ObservedLocks(LeaseTerms terms, MemberClock clock) {
    this.terms = terms;
    this.clock = clock;
  }

  /**
   * Records a lock that was just read or listed.
   *
   * @return the lock
   */
  public synchronized LockDocument observe(VersionedDocument document) {
    Observation before = seen.get(document.key());
    if (before != null && before.version().equals(document.version())) {
      return before.lock();
    }
    LockDocument lock = LockDocument.read(document);
    long remaining = lock.expireMillis() - clock.wallMillis();
    seen.put(
        document.key(),
        new Observation(document.version(), lock, clock.monotonicMillis(), remaining));
    return lock;
  }

  /** Records all locks whose keys begin with {@code prefix}, and forgets those not listed. */
  public synchronized void observe(String prefix, List<VersionedDocument> listed) {
    listed.forEach(this::observe);
    retain(prefix, listed.stream().map(VersionedDocument::key).collect(Collectors.toSet()));
  }

  /**
   * Whether a lock may be taken according to its last seen state: it was released, or its holder is
   * gone.
   */
  public synchronized boolean isFree(String key) {
    Observation observation = seen.get(key);
    return observation != null && observation.isFree(terms, clock.monotonicMillis());
  }

  /**
   * Whether a lock may be taken at this version of its document: it is the version seen last, and
   * it was released or its holder is gone. Another thread may have seen a newer or an older version
   * meanwhile.
   */
  public synchronized boolean isFree(VersionedDocument document) {
    Observation observation = seen.get(document.key());
    return observation != null
        && observation.version().equals(document.version())
        && observation.isFree(terms, clock.monotonicMillis());
  }

  /** When to read a lock again, by the monotonic clock; empty for a lock that was never seen. */
  public synchronized OptionalLong nextPoll(String key) {
    Observation observation = seen.get(key);
    return observation == null
        ? OptionalLong.empty()
        : OptionalLong.of(observation.nextPoll(terms, clock.monotonicMillis()));
  }

  /**
   * When to read a lock again to see each of its renewals soon, by the monotonic clock; empty for a
   * lock that was never seen.
   */
  public synchronized OptionalLong nextRenewal(String key) {
    Observation observation = seen.get(key);
    return observation == null
        ? OptionalLong.empty()
        : OptionalLong.of(observation.nextRenewal(terms, clock.monotonicMillis()));
  }

  /** Since when a lock has been unchanged; now for a lock that was never seen. */
  public synchronized long sinceMillis(String key) {
    Observation observation = seen.get(key);
    return observation == null ? clock.monotonicMillis() : observation.sinceMillis();
  }

  /** Forgets all locks whose keys begin with {@code prefix}, except those with the given keys. */
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
  private record Observation(
      Version version, LockDocument lock, long sinceMillis, long remainingMillis) {
    /** Whether another member may take the lock now. */
    boolean isFree(LeaseTerms terms, long nowMillis) {
      return lock.isReleased() || nowMillis - sinceMillis >= terms.takeoverMillis();
    }

    /**
     * When to read the lock again: not before it expires, if wall clocks agree. A lease never has
     * more than its whole length left.
     */
    long nextPoll(LeaseTerms terms, long nowMillis) {
      if (isFree(terms, nowMillis)) {
        return nowMillis;
      }
      long expires = sinceMillis + Math.min(remainingMillis, terms.leaseMillis());
      return expires > nowMillis ? expires : sinceMillis + terms.takeoverMillis();
    }

    /**
     * When to read the lock again: a moment after its next renewal, if wall clocks agree. If the
     * renewal is overdue, or they do not agree, every half second.
     */
    long nextRenewal(LeaseTerms terms, long nowMillis) {
      if (isFree(terms, nowMillis)) {
        return nowMillis;
      }
      long renewed =
          sinceMillis + remainingMillis - terms.leaseMillis() + terms.renewalMillis() + LATE_MILLIS;
      boolean clocksAgree =
          remainingMillis <= terms.leaseMillis() + LATE_MILLIS && renewed > nowMillis;
      long next =
          clocksAgree ? renewed : nowMillis + Math.min(OVERDUE_MILLIS, terms.leaseMillis() / 8);
      return Math.min(next, sinceMillis + terms.takeoverMillis());
    }
  }
}
