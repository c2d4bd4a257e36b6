package io.millrace.cluster.membership;

import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.time.MemberClock;
import java.util.random.RandomGenerator;

/**
 * What a member stands on.
 *
 * @param peer the member as others know it
 * @param documents what it shares with them
 * @param terms how long locks are held
 * @param clock its clocks
 * @param random where its pauses come from; asked by one thread
 */
public record Station(
    Peer peer,
    VersionedDocuments documents,
    LeaseTerms terms,
    MemberClock clock,
    RandomGenerator random) {
  /** A time of up to a part of the lease. */
  public long pauseMillis(int parts) {
    return random.nextLong(terms.lease().toMillis() / parts + 1);
  }

  /** The time now, by the clock that counts. */
  public long now() {
    return clock.monotonicMillis();
  }
}
