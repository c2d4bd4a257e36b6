package io.millrace.store.testkit.environment;

import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/**
 * A world in one thread, all of it drawn from one seed: equal seeds and equal calls give equal
 * runs.
 *
 * <p>Time moves only by {@link #advance}. Activities are stepped in a seeded order by {@link
 * #scheduler()}, which is eager to begin with: a plain call of a store in it returns with its
 * answer. A call that waits for time, such as a waiting claim, must be made by {@code submit}
 * instead, and time moved then. For use by one thread.
 */
public final class SimulatedEnvironment implements Environment {
  private final SplittableRandom seeds;
  private final VirtualClock clock = new VirtualClock();
  private final StepScheduler scheduler;
  private final SimulatedDisk disk;

  /** The world that grows from {@code seed}. */
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

  /** A failure because the power is off ends the activity and is not reported. */
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
   * Runs activities until {@code answer} is there.
   *
   * @throws IllegalStateException if nothing that is due gives it
   */
  @Override
  public <T> T await(CompletableFuture<T> answer) {
    while (!answer.isDone()) {
      if (!scheduler.step() && !scheduler.releaseHeld()) {
        throw new IllegalStateException("nothing that is due now gives this answer: move time");
      }
    }
    return answer.join();
  }

  /** The clocks. */
  public VirtualClock clock() {
    return clock;
  }

  /** What steps the activities. */
  public StepScheduler scheduler() {
    return scheduler;
  }

  /** Lets one activity that is due do one step; false when none is due. */
  public boolean step() {
    return scheduler.step();
  }

  /** Steps until nothing is due at the present time. */
  public void runUntilIdle() {
    scheduler.runUntilIdle();
  }

  /** Moves time on, running what becomes due on the way. */
  public void advance(Duration time) {
    scheduler.advance(time);
  }

  /**
   * The process is killed: nothing that ran before runs on, and the disk loses nothing by it. Calls
   * that wait for an answer get none.
   */
  public void killProcess() {
    scheduler.abandon();
    disk.endProcess();
  }

  /**
   * The power goes and comes back: the disk keeps what it must and perhaps some of the rest, and
   * nothing that ran before runs on. Calls waiting for an answer are first told that their disk is
   * gone.
   */
  public void cutPower() {
    disk.cutPowerNow();
    scheduler.runUntilIdle();
    scheduler.abandon();
    disk.crash();
  }
}
