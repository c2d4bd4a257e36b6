package io.millrace.store.journal.files;

import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Disk;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** An environment whose one activity moves only when a test says so. */
final class SteppedEnvironment implements Environment {
  final ForgetfulDisk disk = new ForgetfulDisk();
  private final SplittableRandom random;
  private @Nullable Activity activity;
  private long nanos;

  SteppedEnvironment(long seed) {
    random = new SplittableRandom(seed);
  }

  /** Moves the clock and runs the activity. */
  void advance(Duration time) {
    nanos += time.toNanos();
    run();
  }

  /** Runs the activity until it has nothing to do now. */
  void run() {
    if (activity != null) {
      long wait;
      try {
        do {
          wait = activity.step();
        } while (wait == 0);
      } catch (Throwable thrown) {
        activity.failed(thrown);
        wait = Activity.FINISHED;
      }
      if (wait == Activity.FINISHED) {
        activity = null;
      }
    }
  }

  @Override
  public long wallMillis() {
    return 0;
  }

  @Override
  public long nanos() {
    return nanos;
  }

  @Override
  public RandomGenerator newRandom() {
    return random.split();
  }

  @Override
  public Disk disk() {
    return disk;
  }

  @Override
  public <T> T await(CompletableFuture<T> answer) {
    while (!answer.isDone()) {
      run();
    }
    return answer.join();
  }

  @Override
  public Driver drive(String name, Activity driven) {
    activity = driven;
    return new Driver() {
      @Override
      public void signal() {}

      @Override
      public void join() {
        while (activity != null) {
          run();
        }
      }
    };
  }
}
