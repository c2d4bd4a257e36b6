package io.millrace.store.testkit.environment;

import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Driver;

/** An activity of a {@link StepScheduler}. */
final class SteppedDriver implements Driver {
  private final StepScheduler scheduler;
  private final String name;
  private final Activity activity;
  private boolean signalled = true;
  private boolean running;
  private boolean finished;
  private long wakeNanos = Long.MAX_VALUE;

  SteppedDriver(StepScheduler scheduler, String name, Activity activity) {
    this.scheduler = scheduler;
    this.name = name;
    this.activity = activity;
  }

  @Override
  public void signal() {
    signalled = true;
    scheduler.signalled();
  }

  @Override
  public void runOrSignal() {
    signalled = true;
    scheduler.offered(this);
    scheduler.signalled();
  }

  @Override
  public void join() {
    scheduler.runUntilFinished(this);
  }

  boolean running() {
    return running;
  }

  boolean finished() {
    return finished;
  }

  void finish() {
    finished = true;
  }

  /** When it is due: {@link Long#MIN_VALUE} after a signal, {@link Long#MAX_VALUE} for never. */
  long dueNanos() {
    if (running || finished) {
      return Long.MAX_VALUE;
    }
    return signalled ? Long.MIN_VALUE : wakeNanos;
  }

  void step(VirtualClock clock) {
    signalled = false;
    running = true;
    long wait = Activity.FINISHED;
    try {
      wait = activity.step();
    } catch (Throwable thrown) {
      // As with every driver; here the test must also see the failure.
      activity.failed(thrown);
      throw thrown;
    } finally {
      running = false;
      if (wait == Activity.FINISHED) {
        finished = true;
      } else if (wait == Activity.UNTIL_SIGNALLED) {
        wakeNanos = Long.MAX_VALUE;
      } else {
        wakeNanos = clock.nanos() + Math.min(wait, Long.MAX_VALUE - 1 - clock.nanos());
      }
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
