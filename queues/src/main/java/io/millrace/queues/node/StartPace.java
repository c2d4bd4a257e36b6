package io.millrace.queues.node;

/**
 * How many tasks a node claims at a time. It claims for its idle runners and for a few more, whose
 * runners have to be started; more of those follow after a moment, twice as many each time. So the
 * other nodes come to their share of a burst, and a node that is alone is soon at full speed.
 *
 * <p>No clock: times are passed in. For use by one thread.
 */
final class StartPace {
  /** How many runners a node starts at first. */
  static final int FEW = 4;

  /** How long the others have before a node claims more. */
  static final long ROUND_NANOS = 100_000_000;

  private static final int MOST = 64;

  private int size = FEW;
  private int used;
  private long roundEndNanos = Long.MIN_VALUE;

  /** How many tasks to claim now, with so many idle runners for which nothing is claimed yet. */
  int most(int idle, long nowNanos) {
    if (roundEndNanos == Long.MIN_VALUE || nowNanos - roundEndNanos >= 0) {
      boolean passed = nowNanos - roundEndNanos >= ROUND_NANOS;
      size = passed ? FEW : Math.clamp(2L * used, FEW, MOST);
      used = 0;
      roundEndNanos = nowNanos + ROUND_NANOS;
    }
    return idle + size - used;
  }

  /** Tasks were claimed for more than the idle runners. */
  void claimed(int beyondIdle) {
    used += Math.max(0, beyondIdle);
  }

  /** How long it is until more may be claimed. */
  long waitNanos(long nowNanos) {
    return Math.max(0, roundEndNanos - nowNanos);
  }
}
