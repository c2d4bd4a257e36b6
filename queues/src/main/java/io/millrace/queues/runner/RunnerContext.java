package io.millrace.queues.runner;

import io.millrace.blobs.BlobStore;
import io.millrace.processes.ProcessIdentity;
import io.millrace.processes.ProcessLauncher;
import io.millrace.processes.Watchdog;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.plugin.Plugins;
import io.millrace.queues.runner.TaskFolder.WorkFolder;
import io.millrace.store.environment.DurationText;
import io.millrace.work.LeaseKeeper;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a runner uses for one task after the other.
 *
 * @param server the queues, and the store of their output
 * @param identity who this runner is
 * @param tools what it works with on this machine
 * @param folder its files
 * @param work where its tasks have their files
 */
record RunnerContext(
    Server server, ProcessIdentity identity, Tools tools, TaskFolder folder, WorkFolder work) {

  /** The queues and the blob store, which is made when it is first needed. */
  record Server(QueueBackend queues, Supplier<BlobStore> blobs) {}

  /**
   * What starts, watches and ends work.
   *
   * @param linger how long the threads of a plugin have to end after it has returned
   */
  record Tools(
      ProcessLauncher launcher,
      Watchdog watchdog,
      Schedule schedule,
      Plugins plugins,
      HardExit hardExit,
      Duration linger) {}

  /** Ends the process of a runner at once, with all that runs in it. */
  @FunctionalInterface
  interface HardExit {
    /**
     * Leaves the reason for the node and ends the process.
     *
     * @param reason why
     */
    void end(String reason);
  }

  /**
   * The timers of a runner.
   *
   * @param guard for tasks that must happen in time, and never wait for a server
   * @param renewal renews claims
   * @param upload stores output
   * @param ticker calls a task while it runs
   */
  record Schedule(
      ScheduledExecutorService guard,
      ScheduledExecutorService renewal,
      ScheduledExecutorService upload,
      Ticker ticker)
      implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Schedule.class);

    static Schedule create() {
      ScheduledExecutorService guard = single("guard");
      return new Schedule(guard, single("renewal"), single("upload"), new Ticker(guard));
    }

    /** The timers for renewing a claim. */
    LeaseKeeper.Timers timers() {
      return new LeaseKeeper.Timers(
          System::nanoTime, LeaseKeeper.Timer.of(guard), LeaseKeeper.Timer.of(renewal));
    }

    /**
     * Calls a task every {@link #EVERY} while it runs, the first time at some moment within that
     * time. The timer goes on from one task to the next, so that one that ends soon sets none and
     * wakes no thread. Safe for use by threads.
     */
    static final class Ticker {
      static final Duration EVERY = Duration.ofMillis(100);

      private final ScheduledExecutorService executor;
      private @Nullable Runnable call;
      private boolean ticking;

      private Ticker(ScheduledExecutorService executor) {
        this.executor = executor;
      }

      /** Calls this from now on; a failure does not prevent the next call. */
      synchronized void start(Runnable task) {
        call = task;
        if (!ticking) {
          ticking = true;
          next();
        }
      }

      /** Calls nothing more, but may be in a call. */
      synchronized void stop() {
        call = null;
      }

      private void next() {
        var _ = executor.schedule(this::tick, EVERY.toNanos(), TimeUnit.NANOSECONDS);
      }

      private void tick() {
        Runnable task = current();
        if (task != null) {
          try {
            task.run();
          } catch (RuntimeException | Error e) {
            LOG.error("what is done every {} failed", DurationText.show(EVERY), e);
          }
          next();
        }
      }

      private synchronized @Nullable Runnable current() {
        ticking = call != null;
        return call;
      }
    }

    /** One daemon thread. */
    static ScheduledExecutorService single(String name) {
      ScheduledThreadPoolExecutor executor =
          new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().name(name).daemon().factory());
      executor.setRemoveOnCancelPolicy(true);
      return executor;
    }

    /** Repeats an action. A failure does not prevent the next run. */
    static ScheduledFuture<?> repeat(
        ScheduledExecutorService executor, Runnable action, Duration pause) {
      return executor.scheduleWithFixedDelay(
          () -> {
            try {
              action.run();
            } catch (RuntimeException | Error e) {
              LOG.error("what is done every {} failed", DurationText.show(pause), e);
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
}
