package io.millrace.bench.core;

import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Disk;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** An environment that runs its activities on the caller's thread, within its signals. */
final class CallerThreadEnvironment implements Environment {
  @Override
  public long wallMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public long nanos() {
    return System.nanoTime();
  }

  @Override
  public RandomGenerator newRandom() {
    return new SplittableRandom(1);
  }

  @Override
  public Disk disk() {
    throw new UnsupportedOperationException("there is no disk");
  }

  @Override
  public Driver drive(String name, Activity activity) {
    Stepping stepping = new Stepping(activity);
    stepping.signal();
    return stepping;
  }

  private static final class Stepping implements Driver {
    private final Activity activity;
    private boolean running;
    private boolean again;
    private boolean finished;

    Stepping(Activity activity) {
      this.activity = activity;
    }

    @Override
    public void signal() {
      again = true;
      if (running || finished) {
        return;
      }
      running = true;
      while (again && !finished) {
        again = false;
        long wait = activity.step();
        finished = wait == Activity.FINISHED;
        again |= wait == 0;
      }
      running = false;
    }

    @Override
    public void join() {
      // Everything has been done within the signal.
    }
  }
}
