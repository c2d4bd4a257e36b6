package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.lock.LeaseTerms;
import java.util.Optional;

/** When a submission is not waited for any more. Pure. */
final class Deadlines {
  /** What is not begun so many leases after it was offered will not be. */
  private static final int BEGIN_LEASES = 3;

  private final LeaseTerms terms;

  Deadlines(LeaseTerms terms) {
    this.terms = terms;
  }

  /** Why a submission is to end whatever its member does; empty where it is not. */
  Optional<Ending> order(Entry entry, View view, long nowMillis) {
    String member = entry.member();
    if (entry.isCancelled()) {
      return Optional.of(new Ending.Cancelled());
    }
    if (view.marked().contains(member)) {
      return timedOut("its member " + member + " is marked as dead");
    }
    if (view.members().find(member).isEmpty()) {
      return timedOut("its member " + member + " is gone");
    }
    return nowMillis >= entry.submission().limitMillis()
        ? timedOut("its time is over")
        : Optional.empty();
  }

  /**
   * Why a submission is to end because nobody works on it.
   *
   * @param free whether its partition could be taken by now
   */
  Optional<Ending> silence(Entry entry, boolean free, long nowMillis) {
    if (entry.isBegun()) {
      return free
          ? timedOut("its member " + entry.member() + " gave it up, or lost it")
          : Optional.empty();
    }
    long patience = BEGIN_LEASES * terms.lease().toMillis();
    return nowMillis - entry.offeredMillis() >= patience
        ? timedOut("its member " + entry.member() + " did not begin within three leases")
        : Optional.empty();
  }

  /** Whether a listing has to show its partition by now. */
  boolean isListed(Entry entry, long nowMillis) {
    return nowMillis - entry.offeredMillis() >= terms.lease().toMillis() / 2;
  }

  private static Optional<Ending> timedOut(String why) {
    return Optional.of(new Ending.TimedOut(why));
  }
}
