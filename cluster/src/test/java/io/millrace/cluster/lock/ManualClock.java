package io.millrace.cluster.lock;

/** Clocks that advance only when a test advances them. */
public final class ManualClock implements MemberClock {
  private long wall;
  private long monotonic;

  /** Creates clocks that show these times. */
  public ManualClock(long wall, long monotonic) {
    this.wall = wall;
    this.monotonic = monotonic;
  }

  /** Advances both clocks. */
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
