package io.millrace.store.testkit.environment;

import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Driver;

/** A thread that runs an activity and waits between its steps for signals and a virtual clock. */
final class ParkedDriver implements Driver {
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
      long now = clock.nanos(); // before the step, so that time moved during it is not lost
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
