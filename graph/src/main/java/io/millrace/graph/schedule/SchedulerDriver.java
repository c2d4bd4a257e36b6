package io.millrace.graph.schedule;

import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread that lets a scheduler live. Safe for use by threads. */
public final class SchedulerDriver implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SchedulerDriver.class);
  private static final long LONGEST_MILLIS = 60_000;
  private static final long AFTER_DEFECT_MILLIS = 1_000;
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final GraphScheduler scheduler;
  private final InstantSource clock;
  private final Semaphore wakes = new Semaphore(0);
  private final Thread thread;
  private volatile boolean closed;

  private SchedulerDriver(GraphScheduler scheduler, InstantSource clock) {
    this.scheduler = scheduler;
    this.clock = clock;
    this.thread = Thread.ofVirtual().name("millrace-graph").unstarted(this::live);
  }

  /** Lets {@code scheduler} live from now on. */
  public static SchedulerDriver start(GraphScheduler scheduler, InstantSource clock) {
    SchedulerDriver driver = new SchedulerDriver(scheduler, clock);
    scheduler.wakeBy(driver.wakes::release);
    driver.thread.start();
    return driver;
  }

  private void live() {
    try {
      while (!closed) {
        long pause = pause();
        // However far off, the clock is looked at again, since it may be set.
        if (pause > 0 && wakes.tryAcquire(Math.min(pause, LONGEST_MILLIS), TimeUnit.MILLISECONDS)) {
          wakes.drainPermits();
        }
      }
    } catch (InterruptedException e) {
      LOG.trace("told to end", e);
    }
  }

  private long pause() {
    try {
      return scheduler.step(clock.millis()) - clock.millis();
    } catch (RuntimeException | Error e) {
      LOG.error("a defect in the scheduler of graphs; it goes on", e);
      return AFTER_DEFECT_MILLIS;
    }
  }

  /** Ends the scheduling, once the step that is under way has ended. What runs goes on. */
  @Override
  public void close() {
    closed = true;
    scheduler.close();
    wakes.release();
    try {
      if (!thread.join(PATIENCE)) {
        LOG.warn("the scheduler of graphs still waits for the store");
        thread.interrupt();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
