package io.millrace.cluster.lock;

import java.time.Duration;

/**
 * The length of a lease, and the margin that other members wait beyond it. All members of a cluster
 * use the same terms.
 *
 * <p>The holder counts the lease by its own clock, from before it sends the write. Other members
 * count lease and margin by their clocks, from after they have seen the write. So the holder has
 * stopped before another member begins, unless two clocks drift apart by more than the margin: each
 * may be fast or slow by {@link #drift()}.
 *
 * @param lease 100 ms to a day; 10 s by default
 * @param margin zero to the length of the lease; 2 s by default. Without a margin the clocks would
 *     have to run at exactly the same speed
 */
public record LeaseTerms(Duration lease, Duration margin) {
  private static final Duration MIN_LEASE = Duration.ofMillis(100);
  private static final Duration MAX_LEASE = Duration.ofDays(1);
  private static final long MAX_RETRY_MILLIS = 500;

  /** A lease of 10 s with a margin of 2 s. */
  public static final LeaseTerms DEFAULT = of(Duration.ofSeconds(10));

  /** Checks both. */
  public LeaseTerms {
    if (lease.compareTo(MIN_LEASE) < 0 || lease.compareTo(MAX_LEASE) > 0) {
      throw new IllegalArgumentException(
          "a lease lasts 100 ms to a day, not " + lease.toMillis() + " ms");
    }
    if (margin.isNegative() || margin.compareTo(lease) > 0) {
      throw new IllegalArgumentException(
          "a margin is 0 ms to the %d ms of the lease, not %d ms"
              .formatted(lease.toMillis(), margin.toMillis()));
    }
  }

  /** A lease with a margin of a fifth of it. */
  public static LeaseTerms of(Duration lease) {
    return new LeaseTerms(lease, lease.dividedBy(5));
  }

  /** The fraction by which each clock may be fast or slow: 1/11 if the margin is a fifth. */
  public double drift() {
    double margins = margin.toMillis();
    return margins / (2.0 * lease.toMillis() + margins);
  }

  /** The length of a lease in milliseconds. */
  public long leaseMillis() {
    return lease.toMillis();
  }

  /** Lease and margin: how long a lock must be seen unchanged before another member may take it. */
  public long takeoverMillis() {
    return lease.plus(margin).toMillis();
  }

  /** The pause after a failed request for a lock: a twelfth of the lease, and at most 500 ms. */
  long retryMillis() {
    return Math.min(lease.toMillis() / 12, MAX_RETRY_MILLIS);
  }

  /** The renewal interval. Two renewals may fail before the lease ends. */
  long renewalMillis() {
    return lease.toMillis() / 3;
  }
}
