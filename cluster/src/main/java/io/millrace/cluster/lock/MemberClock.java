package io.millrace.cluster.lock;

/**
 * The clocks of one member. Decisions depend on {@link #monotonicMillis} only. The wall clock is
 * written into documents for people, and used to choose when to read again; it may be wrong by any
 * amount. Safe for use by any number of threads.
 */
public interface MemberClock {
  /** Milliseconds since 1970, by this machine's wall clock. */
  long wallMillis();

  /**
   * Milliseconds since some moment of this process. Never goes back, and continues while the
   * process is stopped.
   */
  long monotonicMillis();

  /** The clocks of this machine. */
  static MemberClock system() {
    return new MemberClock() {
      @Override
      public long wallMillis() {
        return System.currentTimeMillis();
      }

      @Override
      public long monotonicMillis() {
        return Math.floorDiv(System.nanoTime(), 1_000_000L);
      }
    };
  }
}
