package io.millrace.queues.runner;

import io.millrace.work.LeaseKeeper;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The clockwork of a runner.
 *
 * @param guard what must happen in time, and never waits for a server
 * @param renewal what renews claims
 * @param upload what stores output
 */
record Schedule(
    ScheduledExecutorService guard,
    ScheduledExecutorService renewal,
    ScheduledExecutorService upload)
    implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Schedule.class);

  static Schedule create() {
    return new Schedule(single("guard"), single("renewal"), single("upload"));
  }

  /** What a claim is renewed by. */
  LeaseKeeper.Timers timers() {
    return new LeaseKeeper.Timers(
        System::nanoTime, LeaseKeeper.Timer.of(guard), LeaseKeeper.Timer.of(renewal));
  }

  /** One thread, which does not keep a process alive. */
  static ScheduledExecutorService single(String name) {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().name(name).daemon().factory());
    executor.setRemoveOnCancelPolicy(true);
    return executor;
  }

  /** Runs an action again and again. One time that fails does not prevent the next. */
  static ScheduledFuture<?> repeat(
      ScheduledExecutorService executor, Runnable action, Duration pause) {
    return executor.scheduleWithFixedDelay(
        () -> {
          try {
            action.run();
          } catch (RuntimeException | Error e) {
            LOG.error("what is done every {} failed", pause, e);
          }
        },
        pause.toNanos(),
        pause.toNanos(),
        TimeUnit.NANOSECONDS);
  }

  @Override
  public void close() {
    guard.shutdownNow();
    renewal.shutdownNow();
    upload.shutdownNow();
  }
}
