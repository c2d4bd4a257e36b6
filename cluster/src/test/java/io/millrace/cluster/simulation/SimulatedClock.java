package io.millrace.cluster.simulation;

import io.millrace.cluster.lock.MemberClock;

/** The clocks of one member: both run at the same speed, which is not quite the right one. */
final class SimulatedClock implements MemberClock {
  private final World world;
  private final double speed;
  private final long wallOffset;
  private final long monotonicOffset;

  /**
   * A clock that is off.
   *
   * @param drift the most by which it is fast or slow, as a part
   */
  SimulatedClock(World world, double drift) {
    this.world = world;
    this.speed = 1 + (world.random().nextDouble() * 2 - 1) * drift;
    // Some believe that it is 1969.
    this.wallOffset = world.oneIn(10) ? -100_000_000 : world.between(0, 1_800_000_000_000L);
    this.monotonicOffset = world.between(-1_000_000, 1_000_000);
  }

  private SimulatedClock(World world) {
    this.world = world;
    this.speed = 1;
    this.wallOffset = 1_800_000_000_000L;
    this.monotonicOffset = world.between(-1_000_000, 1_000_000);
  }

  /** A clock that is right. */
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

  /** The first moment of true time at which this clock shows at least so much. */
  long trueMillis(long monotonicMillis) {
    return (long) Math.ceil((monotonicMillis - monotonicOffset) / speed);
  }
}
