package io.millrace.store.testkit.environment;

import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Disk;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.random.RandomGenerator;

/**
 * An environment with real threads and settable time, for tests outside a simulation, for example
 * of a server. Thread-safe.
 */
public final class SettableTimeEnvironment implements Environment {
  private final VirtualClock clock = new VirtualClock();
  private final SplittableRandom seeds;
  private final Disk disk;
  private final List<ParkedDriver> drivers = new CopyOnWriteArrayList<>();

  /** An environment with this seed and disk, for example a {@link SimulatedDisk}. */
  public SettableTimeEnvironment(long seed, Disk disk) {
    this.seeds = new SplittableRandom(seed);
    this.disk = disk;
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
    synchronized (seeds) {
      return seeds.split();
    }
  }

  @Override
  public Disk disk() {
    return disk;
  }

  @Override
  public Driver drive(String name, Activity activity) {
    ParkedDriver driver = new ParkedDriver(name, activity, clock);
    drivers.add(driver);
    driver.start();
    return driver;
  }

  /** The clocks. Advancing them directly does not wake activities. */
  public VirtualClock clock() {
    return clock;
  }

  /** Advances time and wakes the activities that wait for it, without waiting for their steps. */
  public void advance(Duration time) {
    clock.advance(time);
    drivers.removeIf(ParkedDriver::finished);
    drivers.forEach(ParkedDriver::timeMoved);
  }

  /** A thread that runs an activity and waits between its steps for signals and a virtual clock. */
  private static final class ParkedDriver implements Driver {
    private final Activity activity;
    private final VirtualClock clock;
    private final Thread thread;
    private final Object monitor = new Object();
    private boolean signalled;

    ParkedDriver(String name, Activity activity, VirtualClock clock) {
      this.activity = activity;
      this.clock = clock;
      this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
    }

    void start() {
      thread.start();
    }

    boolean finished() {
      return thread.getState() == Thread.State.TERMINATED;
    }

    void timeMoved() {
      synchronized (monitor) {
        monitor.notifyAll();
      }
    }

    @Override
    public void signal() {
      synchronized (monitor) {
        signalled = true;
        monitor.notifyAll();
      }
    }

    @Override
    public void join() {
      if (Thread.currentThread().equals(thread)) {
        return;
      }
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void run() {
      try {
        runSteps();
      } catch (Throwable thrown) {
        activity.failed(thrown);
      }
    }

    private void runSteps() {
      while (true) {
        long now =
            clock.nanos(); // before the step, so that an advance during the step is not missed
        long wait = activity.step();
        if (wait == Activity.FINISHED) {
          return;
        }
        if (!awaitNanos(wait > Long.MAX_VALUE - now ? Long.MAX_VALUE : now + wait)) {
          return;
        }
      }
    }

    private boolean awaitNanos(long dueNanos) {
      synchronized (monitor) {
        try {
          while (!signalled && clock.nanos() < dueNanos) {
            monitor.wait();
          }
        } catch (InterruptedException e) {
          return false;
        }
        signalled = false;
        return true;
      }
    }
  }
}
