package io.millrace.cluster.lock;

/** Clocks that stand until they are moved. */
public final class ManualClock implements MemberClock {
  private long wall;
  private long monotonic;

  /** Clocks that show this. */
  public ManualClock(long wall, long monotonic) {
    this.wall = wall;
    this.monotonic = monotonic;
  }

  /** Lets time pass on both. */
  public void advance(long millis) {
    wall += millis;
    monotonic += millis;
  }

  @Override
  public long wallMillis() {
    return wall;
  }

  @Override
  public long monotonicMillis() {
    return monotonic;
  }
}
