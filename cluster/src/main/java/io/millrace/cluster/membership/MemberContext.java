package io.millrace.cluster.membership;

import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.MemberClock;
import io.millrace.cluster.lock.ObservedLocks;
import java.util.random.RandomGenerator;

/**
 * The state that all parts of a member share.
 *
 * @param peer the member as others know it
 * @param documents the documents that it shares with other members
 * @param terms how long locks are held
 * @param clock its clocks
 * @param random the source of its random pauses; used by one thread
 */
public record MemberContext(
    Peer peer,
    VersionedDocuments documents,
    LeaseTerms terms,
    MemberClock clock,
    RandomGenerator random) {
  /** A random time of up to a fraction of the lease. */
  public long pauseMillis(int parts) {
    return random.nextLong(terms.lease().toMillis() / parts + 1);
  }

  /** The time now, by the monotonic clock. */
  public long now() {
    return clock.monotonicMillis();
  }

  /** The length of a lease in milliseconds. */
  public long leaseMillis() {
    return terms.leaseMillis();
  }

  /** The member's token, which identifies it. */
  public String token() {
    return peer.token();
  }

  /** Creates the lock operations of this member. */
  public Locks newLocks() {
    return new Locks(documents, peer.token(), terms, clock);
  }

  /** Creates an empty record of the locks seen by this member. */
  public ObservedLocks newObservedLocks() {
    return new ObservedLocks(terms, clock);
  }
}
