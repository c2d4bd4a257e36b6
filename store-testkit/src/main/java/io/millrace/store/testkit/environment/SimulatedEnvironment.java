package io.millrace.store.testkit.environment;

import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/**
 * A simulated environment in one thread, determined by one seed: equal seeds and equal calls give
 * equal runs.
 *
 * <p>Only {@link #advance} moves time. {@link #scheduler()} steps activities in an order drawn from
 * the seed. It is eager at first: a plain call of a store in the environment returns its answer. A
 * call that waits for time, for example a waiting claim, must use {@code submit} and then advance
 * time. Not thread-safe.
 */
public final class SimulatedEnvironment implements Environment {
  private final SplittableRandom seeds;
  private final VirtualClock clock = new VirtualClock();
  private final StepScheduler scheduler;
  private final SimulatedDisk disk;

  /** The environment for a seed. */
  public SimulatedEnvironment(long seed) {
    seeds = new SplittableRandom(seed);
    scheduler = new StepScheduler(clock, seeds.split());
    disk = new SimulatedDisk(seeds.split());
  }

  @Override
  public long wallMillis() {
    return clock.wallMillis();
  }

  @Override
  public long nanos() {
    return clock.nanos();
  }

  @Override
  public RandomGenerator newRandom() {
    return seeds.split();
  }

  @Override
  public SimulatedDisk disk() {
    return disk;
  }

  @Override
  public Driver drive(String name, Activity activity) {
    return scheduler.drive(
        name,
        new Activity() {
          @Override
          public long step() {
            return stepUnderPower(activity);
          }

          @Override
          public void failed(Throwable thrown) {
            activity.failed(thrown);
          }
        });
  }

  /** If the power is off, a failure ends the activity without a report. */
  private long stepUnderPower(Activity activity) {
    try {
      return activity.step();
    } catch (RuntimeException e) {
      if (disk.powerOff()) {
        return Activity.FINISHED;
      }
      throw e;
    }
  }

  /**
   * Runs activities until {@code answer} is complete.
   *
   * @throws IllegalStateException if no activity is due before that
   */
  @Override
  public <T> T await(CompletableFuture<T> answer) {
    while (!answer.isDone()) {
      if (!scheduler.step() && !scheduler.releaseHeld()) {
        throw new IllegalStateException(
            "nothing that is due now completes this answer: advance time");
      }
    }
    return answer.join();
  }

  /** The clocks. */
  public VirtualClock clock() {
    return clock;
  }

  /** The scheduler of the activities. */
  public StepScheduler scheduler() {
    return scheduler;
  }

  /** Runs one step of an activity that is due; returns false if none is due. */
  public boolean step() {
    return scheduler.step();
  }

  /** Runs activities until none is due at the current time. */
  public void runUntilIdle() {
    scheduler.runUntilIdle();
  }

  /** Advances time, running what becomes due on the way. */
  public void advance(Duration time) {
    scheduler.advance(time);
  }

  /**
   * Kills the process: all activities end, and the disk loses nothing. Calls that wait for an
   * answer never get one.
   */
  public void killProcess() {
    scheduler.abandon();
    disk.endProcess();
  }

  /**
   * Cuts the power and restores it: the disk keeps what was synced and perhaps some of the rest,
   * and all activities end. Calls that wait for an answer fail first, because their disk is gone.
   */
  public void cutPower() {
    disk.cutPowerNow();
    scheduler.runUntilIdle();
    scheduler.abandon();
    disk.crash();
  }
}
