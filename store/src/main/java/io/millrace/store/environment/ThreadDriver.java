package io.millrace.store.environment;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/** A platform thread that runs an activity and parks between its steps. */
final class ThreadDriver implements Driver {
  private final AtomicBoolean signalled = new AtomicBoolean();
  private final Thread thread;

  private ThreadDriver(String name, Activity activity) {
    thread = Thread.ofPlatform().name(name).unstarted(() -> run(activity));
  }

  static ThreadDriver start(String name, Activity activity) {
    ThreadDriver driver = new ThreadDriver(name, activity);
    driver.thread.start();
    return driver;
  }

  private void run(Activity activity) {
    try {
      runSteps(activity);
    } catch (Throwable thrown) {
      activity.failed(thrown);
    }
  }

  private void runSteps(Activity activity) {
    while (true) {
      signalled.set(false);
      long wait = activity.step();
      if (wait == Activity.FINISHED) {
        return;
      }
      if (wait > 0 && !signalled.get()) {
        if (wait == Activity.UNTIL_SIGNALLED) {
          LockSupport.park(this);
        } else {
          LockSupport.parkNanos(this, wait);
        }
      }
    }
  }

  @Override
  public void signal() {
    if (!signalled.get() && !signalled.getAndSet(true)) {
      LockSupport.unpark(thread);
    }
  }

  @Override
  public void join() {
    if (Thread.currentThread().equals(thread)) {
      return;
    }
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
