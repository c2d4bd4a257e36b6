package io.millrace.cluster.lock;

import java.time.Duration;

/**
 * How long a lock is held without being renewed, and how much longer everybody else waits. All
 * members of a cluster go by the same terms.
 *
 * <p>The holder counts the lease on its own clock from before it sent the write; others count lease
 * and margin on theirs from after they have seen it. So the holder has stopped before anybody else
 * begins, as long as no two clocks run apart by more than the margin makes up for: each may be fast
 * or slow by {@link #drift()}.
 *
 * @param lease 100 ms to a day; 10 s by default
 * @param margin zero to the length of the lease; 2 s by default. Without one the clocks would have
 *     to run at exactly the same speed
 */
public record LeaseTerms(Duration lease, Duration margin) {
  private static final Duration LEAST = Duration.ofMillis(100);
  private static final Duration MOST = Duration.ofDays(1);

  /** 10 s, and 2 s of margin. */
  public static final LeaseTerms DEFAULT = of(Duration.ofSeconds(10));

  /** Checks both. */
  public LeaseTerms {
    if (lease.compareTo(LEAST) < 0 || lease.compareTo(MOST) > 0) {
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

  /** The part by which each clock may be fast or slow: an eleventh where the margin is a fifth. */
  public double drift() {
    double margins = margin.toMillis();
    return margins / (2.0 * lease.toMillis() + margins);
  }

  long leaseMillis() {
    return lease.toMillis();
  }

  /** How long a version must stand unchanged before somebody else may replace it. */
  long patienceMillis() {
    return lease.plus(margin).toMillis();
  }

  /** How long after one renewal the next is due: two may fail before the lease ends. */
  long renewalMillis() {
    return lease.toMillis() / 3;
  }
}
