package io.millrace.store.testkit.environment;

import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Driver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Steps activities in one thread, in an order drawn from a seed. Only {@link #advance} moves the
 * clock. Not thread-safe.
 *
 * <p>An eager scheduler runs everything that is due when a signal comes from outside, so that a
 * caller gets its answer at once; a lazy one leaves that to {@link #step}.
 */
public final class StepScheduler {
  private static final int MAX_STEPS = 10_000_000;

  private final VirtualClock clock;
  private final RandomGenerator random;
  private final List<SteppedDriver> drivers = new ArrayList<>();
  private final Map<String, Long> heldUntilNanos = new HashMap<>();
  private boolean eager = true;
  private int depth;

  /** An eager scheduler without activities. */
  public StepScheduler(VirtualClock clock, RandomGenerator random) {
    this.clock = clock;
    this.random = random;
  }

  /** Whether the scheduler is eager. */
  public boolean eager() {
    return eager;
  }

  /** Makes the scheduler eager or lazy. */
  public void eager(boolean on) {
    eager = on;
  }

  /** Adds an activity, which is due at once. */
  public Driver drive(String name, Activity activity) {
    SteppedDriver driver = new SteppedDriver(this, name, activity);
    drivers.add(driver);
    return driver;
  }

  /**
   * Runs one step of an activity that is due.
   *
   * @return whether there was one
   */
  public boolean step() {
    SteppedDriver due = pick();
    if (due == null) {
      return false;
    }
    run(due);
    return true;
  }

  /**
   * Runs activities until none is due at the current time.
   *
   * @throws IllegalStateException if there is always another one due
   */
  public void runUntilIdle() {
    for (int steps = 0; step(); steps++) {
      if (steps > MAX_STEPS) {
        throw new IllegalStateException("activities never wait: " + drivers);
      }
    }
  }

  /** Advances time by {@code time}, stopping at every wake-up to run what is due. */
  public void advance(Duration time) {
    long end = clock.nanos() + time.toNanos();
    runUntilIdle();
    for (long next = nextWake(); next <= end; next = nextWake()) {
      clock.advanceTo(next);
      runUntilIdle();
    }
    clock.advanceTo(end);
    runUntilIdle();
  }

  /**
   * Does not step activities with this name, current and later ones, for this long, as if their
   * thread were blocked, for example by a slow disk.
   */
  public void hold(String name, Duration time) {
    heldUntilNanos.put(name, clock.nanos() + time.toNanos());
  }

  /** Ends all holds; returns whether there were any. */
  public boolean releaseHeld() {
    boolean held = heldUntilNanos.values().stream().anyMatch(until -> until > clock.nanos());
    heldUntilNanos.clear();
    return held;
  }

  /** Whether nothing is due at the current time. */
  public boolean idle() {
    return pick() == null;
  }

  /** Drops all activities: they never run again, and joining them returns at once. */
  public void abandon() {
    drivers.forEach(SteppedDriver::finish);
    drivers.clear();
    heldUntilNanos.clear();
  }

  void signalled() {
    if (eager && depth == 0) {
      runUntilIdle();
    }
  }

  /**
   * Called when a caller offers its thread for a step; the seed decides whether the activity
   * accepts.
   */
  void offered(SteppedDriver driver) {
    if (dueNanos(driver) <= clock.nanos() && random.nextBoolean()) {
      run(driver);
    }
  }

  /**
   * Runs other activities until {@code driver} is finished, advancing time if all of them wait for
   * it.
   */
  void runUntilFinished(SteppedDriver driver) {
    while (!driver.finished() && !driver.running()) {
      if (step()) {
        continue;
      }
      long next = nextWake();
      if (next == Long.MAX_VALUE) {
        throw new IllegalStateException("nothing will ever finish " + driver);
      }
      clock.advanceTo(next);
    }
  }

  private @Nullable SteppedDriver pick() {
    long now = clock.nanos();
    @Nullable SteppedDriver picked = null;
    int seen = 0;
    for (SteppedDriver driver : drivers) {
      if (dueNanos(driver) <= now) {
        seen++;
        if (seen == 1 || random.nextInt(seen) == 0) {
          picked = driver;
        }
      }
    }
    return picked;
  }

  private void run(SteppedDriver driver) {
    depth++;
    try {
      driver.step(clock);
    } finally {
      depth--;
      if (driver.finished()) {
        drivers.remove(driver);
      }
    }
  }

  private long nextWake() {
    long next = Long.MAX_VALUE;
    for (SteppedDriver driver : drivers) {
      next = Math.min(next, dueNanos(driver));
    }
    return next;
  }

  /** When an activity is due; {@link Long#MAX_VALUE} for never. */
  private long dueNanos(SteppedDriver driver) {
    return Math.max(
        driver.dueNanos(), heldUntilNanos.getOrDefault(driver.toString(), Long.MIN_VALUE));
  }
}
