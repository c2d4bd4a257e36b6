package io.millrace.store.kernel;

import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Disk;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * This machine's disk, and threads for all but the store's loop, which runs in the test's own
 * thread when the test says so or waits for an answer. Time stands still until it is moved.
 */
final class ManualEnvironment implements Environment {
  private final Environment machine = Environment.system();
  private final SplittableRandom random;
  private final Semaphore signals = new Semaphore(0);
  private @Nullable Activity loop;
  private long millis;

  /** The activity, other than the loop, that was driven last. */
  private @Nullable Driver latest;

  /** What happens, once, where an awaited answer does not come by itself. */
  @Nullable Runnable whenBlocked;

  ManualEnvironment(long seed) {
    random = new SplittableRandom(seed);
  }

  /** Waits until the activity that was driven last is over. */
  void joinLatest() {
    if (latest != null) {
      latest.join();
    }
  }

  void advance(long moreMillis) {
    millis += moreMillis;
  }

  /** Lets the loop do all it can do now. */
  void run() {
    while (loop != null && (step() == 0 || signals.availablePermits() > 0)) {
      // On to the next step.
    }
  }

  private long step() {
    Activity running = loop;
    if (running == null) {
      return Activity.FINISHED;
    }
    signals.drainPermits();
    long wait = running.step();
    if (wait == Activity.FINISHED) {
      loop = null;
    }
    return wait;
  }

  @Override
  public <T> T await(CompletableFuture<T> answer) {
    while (loop != null && !answer.isDone()) {
      if (step() != 0 && loop != null && !answer.isDone()) {
        Runnable action = whenBlocked;
        whenBlocked = null;
        if (action == null) {
          signals.acquireUninterruptibly();
        } else {
          action.run();
        }
      }
    }
    return answer.join();
  }

  @Override
  public Driver drive(String name, Activity activity) {
    if (!name.equals("store")) {
      Driver other = machine.drive(name, activity);
      latest = other;
      return other;
    }
    loop = activity;
    return new Driver() {
      @Override
      public void signal() {
        signals.release();
      }

      @Override
      public void join() {
        while (loop != null) {
          if (step() != 0 && loop != null) {
            signals.acquireUninterruptibly();
          }
        }
      }
    };
  }

  @Override
  public long wallMillis() {
    return FixedEnvironment.START_MILLIS + millis;
  }

  @Override
  public long nanos() {
    return millis * 1_000_000;
  }

  @Override
  public synchronized RandomGenerator newRandom() {
    return random.split();
  }

  @Override
  public Disk disk() {
    return machine.disk();
  }
}
