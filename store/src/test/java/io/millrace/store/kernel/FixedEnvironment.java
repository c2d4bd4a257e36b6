package io.millrace.store.kernel;

import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Disk;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;

/**
 * This machine's disk and threads with a clock that moves only when told and fixed randomness: what
 * one thread does with a store in it, step by step, always ends in the same state.
 */
final class FixedEnvironment implements Environment {
  /** The wall time at which it begins: 2026-01-01T00:00:00Z. */
  static final long START_MILLIS = 1_767_225_600_000L;

  private final Environment machine = Environment.system();
  private final SplittableRandom random;
  private final AtomicLong millis = new AtomicLong();
  private final Object stepping = new Object();

  FixedEnvironment(long seed) {
    random = new SplittableRandom(seed);
  }

  /**
   * Moves the clocks on; wakes nobody. It waits for the end of a step, so that no step that has
   * read the clock before takes a command that is sent afterwards.
   */
  void advance(long moreMillis) {
    synchronized (stepping) {
      millis.addAndGet(moreMillis);
    }
  }

  @Override
  public long wallMillis() {
    return START_MILLIS + millis.get();
  }

  @Override
  public long nanos() {
    return millis.get() * 1_000_000;
  }

  @Override
  public synchronized RandomGenerator newRandom() {
    return random.split();
  }

  @Override
  public Disk disk() {
    return machine.disk();
  }

  @Override
  public Driver drive(String name, Activity activity) {
    return machine.drive(
        name,
        new Activity() {
          @Override
          public long step() {
            synchronized (stepping) {
              return activity.step();
            }
          }

          @Override
          public void failed(Throwable thrown) {
            activity.failed(thrown);
          }
        });
  }
}
