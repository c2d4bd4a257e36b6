package io.millrace.cluster.simulation;

import io.millrace.cluster.lock.MemberClock;

/** The clocks of one member. Both run at the same speed, which is slightly wrong. */
final class SimulatedClock implements MemberClock {
  private final World world;
  private final double speed;
  private final long wallOffset;
  private final long monotonicOffset;

  /**
   * Creates clocks that are fast or slow.
   *
   * @param drift the maximum error of the speed, as a fraction
   */
  SimulatedClock(World world, double drift) {
    this.world = world;
    this.speed = 1 + (world.random().nextDouble() * 2 - 1) * drift;
    // Some wall clocks show a time before 1970.
    this.wallOffset = world.oneIn(10) ? -100_000_000 : world.between(0, 1_800_000_000_000L);
    this.monotonicOffset = world.between(-1_000_000, 1_000_000);
  }

  private SimulatedClock(World world) {
    this.world = world;
    this.speed = 1;
    this.wallOffset = 1_800_000_000_000L;
    this.monotonicOffset = world.between(-1_000_000, 1_000_000);
  }

  /** Clocks that run at the right speed. */
  static SimulatedClock right(World world) {
    return new SimulatedClock(world);
  }

  @Override
  public long wallMillis() {
    return wallOffset + elapsed();
  }

  @Override
  public long monotonicMillis() {
    return monotonicOffset + elapsed();
  }

  private long elapsed() {
    return (long) Math.floor(world.now() * speed);
  }

  /** The earliest true time at which the monotonic clock shows at least this time. */
  long trueMillis(long monotonicMillis) {
    return (long) Math.ceil((monotonicMillis - monotonicOffset) / speed);
  }
}
