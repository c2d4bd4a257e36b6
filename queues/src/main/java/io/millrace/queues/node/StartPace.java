package io.millrace.queues.node;

/**
 * How many tasks a node claims at a time. It claims for its idle runners and for a few more, whose
 * runners have to be started. When those have begun, and not before a moment has passed, a new
 * round starts with twice as many. So the other nodes come to their share of a burst, and a node
 * that is alone is soon at full speed.
 *
 * <p>No clock: times are passed in. For use by one thread.
 */
final class StartPace {
  /** How many runners a node starts at first. */
  static final int FEW = 4;

  /** How long a round is at least. */
  static final long SHORTEST_NANOS = 100_000_000;

  /** How long a round is at most, while its runners have not begun: they may never. */
  static final long LONGEST_NANOS = 2_000_000_000;

  private static final int MOST = 64;

  private int size = FEW;
  private int used;
  private boolean starting;
  private boolean began;
  private long sinceNanos;

  /**
   * How many tasks to claim now.
   *
   * @param idle how many idle runners there are for which nothing is claimed yet
   * @param starting how many runners were started and have not begun
   */
  int most(int idle, int starting, long nowNanos) {
    this.starting = starting > 0;
    if (!began || waitNanos(nowNanos) == 0) {
      // A burst goes on when most of its last round was used, and not long ago.
      boolean goesOn =
          began && 2 * used >= size && nowNanos - sinceNanos < LONGEST_NANOS + SHORTEST_NANOS;
      size = goesOn ? Math.clamp(2L * used, FEW, MOST) : FEW;
      used = 0;
      began = true;
      sinceNanos = nowNanos;
    }
    return idle + size - used;
  }

  /** Tasks were claimed for more than the idle runners. */
  void claimed(int beyondIdle) {
    used += Math.max(0, beyondIdle);
  }

  /** How long it is until the next round, if no runner begins. */
  long waitNanos(long nowNanos) {
    long length = starting ? LONGEST_NANOS : SHORTEST_NANOS;
    return Math.max(0, sinceNanos + length - nowNanos);
  }
}
