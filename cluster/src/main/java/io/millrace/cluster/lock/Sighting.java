package io.millrace.cluster.lock;

import io.millrace.cluster.documents.Version;

/**
 * A version of a lock's document, and since when a member has seen no other.
 *
 * @param version the version
 * @param lock what it says
 * @param sinceMillis when the member first had it before it, by the member's monotonic clock
 * @param remainingMillis how long the lease was to last from then on, as far as the wall clock of
 *     the member can tell
 */
record Sighting(Version version, LockDocument lock, long sinceMillis, long remainingMillis) {
  /** Whether somebody else may take the lock now. */
  boolean isFree(LeaseTerms terms, long nowMillis) {
    return lock.isReleased() || nowMillis - sinceMillis >= terms.patienceMillis();
  }

  /**
   * When to look at the lock again: not before it expires, as far as the clocks can be believed. A
   * lease of the same cluster has never more left than its whole length.
   */
  long nextLook(LeaseTerms terms, long nowMillis) {
    if (isFree(terms, nowMillis)) {
      return nowMillis;
    }
    long expires = sinceMillis + Math.min(remainingMillis, terms.leaseMillis());
    return expires > nowMillis ? expires : sinceMillis + terms.patienceMillis();
  }
}
