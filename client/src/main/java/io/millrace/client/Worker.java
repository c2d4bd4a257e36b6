package io.millrace.client;

import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.StoreException;
import io.millrace.store.Task;
import io.millrace.store.TaskStore;
import io.millrace.work.Backoff;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims tasks, renews the claims while a handler works on the tasks, and commits the results. Runs
 * until it is closed. Survives failures of the store and the network. Thread-safe.
 */
public final class Worker implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Worker.class);
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

  private final TaskStore store;
  private final WorkerOptions options;
  private final TaskHandler handler;
  private final LeaseRenewals renewals;
  private final Completion completion;
  private final Semaphore free;
  private final Thread claimer;
  private final Thread renewer;
  private volatile boolean stopping;
  private volatile boolean stopped;
  private volatile @Nullable CompletableFuture<Outcome> asked;

  private Worker(TaskStore store, WorkerOptions options, TaskHandler handler) {
    this.store = store;
    this.options = options;
    this.handler = handler;
    renewals = new LeaseRenewals(store, options.client(), options.lease(), System::nanoTime);
    completion = new Completion(store, options, System::nanoTime, () -> stopping);
    free = new Semaphore(options.concurrency());
    claimer = Thread.ofVirtual().name("millrace-claimer").unstarted(this::claimTasks);
    renewer = Thread.ofVirtual().name("millrace-renewer").unstarted(this::renewClaims);
  }

  /** Starts a worker. The caller must close the store after the worker. */
  public static Worker start(TaskStore store, WorkerOptions options, TaskHandler handler) {
    Worker worker = new Worker(store, options, handler);
    worker.claimer.start();
    worker.renewer.start();
    return worker;
  }

  /** The number of tasks in progress. */
  public int busy() {
    return renewals.held().size();
  }

  private void claimTasks() {
    Backoff backoff = Backoff.untilAnswered(FIRST_PAUSE, LONGEST_PAUSE);
    while (!stopping) {
      int room = 0;
      int taken = 0;
      try {
        free.acquire();
        room = 1 + free.drainPermits();
        if (stopping) {
          return;
        }
        List<Task> tasks = claim(room);
        taken = tasks.size();
        tasks.forEach(this::begin);
        backoff.succeeded();
      } catch (StoreException e) {
        if (!stopping) {
          LOG.warn("cannot claim from {}: {}", options.groups(), e.getMessage());
          LockSupport.parkNanos(backoff.next().toNanos());
        }
      } catch (RuntimeException | Error e) {
        LOG.error("claiming from {} failed; trying again", options.groups(), e);
        LockSupport.parkNanos(LONGEST_PAUSE.toNanos());
      } catch (InterruptedException _) {
        return;
      } finally {
        free.release(room - taken);
      }
    }
  }

  private List<Task> claim(int count) {
    Claim.Order order = options.order();
    CompletableFuture<Outcome> response =
        store.submit(
            Claim.of(options.client(), options.groups().getFirst(), options.lease())
                .withGroups(options.groups())
                .withCount(count)
                .withOrder(order)
                .withWait(WAIT));
    asked = response;
    if (stopping) {
      response.cancel(true);
    }
    try {
      return response.join().done().tasks();
    } catch (CancellationException _) {
      return List.of();
    } catch (CompletionException e) {
      if (e.getCause() instanceof StoreException failure) {
        throw failure;
      }
      throw e;
    }
  }

  private void begin(Task task) {
    ClaimedTask work = renewals.hold(task);
    LockSupport.unpark(renewer);
    Thread.ofVirtual().name("millrace-work-" + task.origin()).start(() -> work(work));
  }

  private void work(ClaimedTask work) {
    try {
      if (stopping) {
        completion.release(work);
      } else if (completion.isPoisonous(work.task())) {
        completion.quarantine(work, "claimed too often without being completed");
      } else {
        handle(work);
      }
    } finally {
      renewals.drop(work);
      free.release();
    }
  }

  private void handle(ClaimedTask work) {
    Thread thread = Thread.currentThread();
    work.onCancel(thread::interrupt);
    try {
      completion.finish(work, handler.handle(work));
    } catch (Exception | Error e) {
      LOG.debug("{} failed", work.task().ref(), e);
      completion.fail(work, String.valueOf(e));
    }
  }

  private void renewClaims() {
    while (!stopped) {
      LockSupport.parkNanos(Math.max(1_000_000, renew() - System.nanoTime()));
    }
  }

  /** Renews the claims that are due and returns when to call again. */
  private long renew() {
    long now = System.nanoTime();
    try {
      return renewals.step(now);
    } catch (RuntimeException | Error e) {
      LOG.error("claims could not be renewed; trying again", e);
      return now + FIRST_PAUSE.toNanos();
    }
  }

  /**
   * Stops the worker: claims no more tasks and waits for those in progress. After {@code grace},
   * the remaining work is cancelled and its tasks are released. A second call does nothing.
   *
   * @return whether all work ended in time
   */
  public boolean stop(Duration grace) {
    stopping = true;
    CompletableFuture<Outcome> waiting = asked;
    if (waiting != null) {
      waiting.cancel(true);
    }
    LockSupport.unpark(claimer);
    boolean ended = allFree(grace);
    if (!ended) {
      for (ClaimedTask work : renewals.held()) {
        completion.release(work);
        work.lose();
      }
    }
    claimer.interrupt();
    stopped = true;
    LockSupport.unpark(renewer);
    return ended;
  }

  private boolean allFree(Duration grace) {
    try {
      if (!free.tryAcquire(options.concurrency(), grace.toNanos(), TimeUnit.NANOSECONDS)) {
        return false;
      }
      free.release(options.concurrency());
      return true;
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Stops the worker with a grace period of 30 seconds. */
  @Override
  public void close() {
    stop(Duration.ofSeconds(30));
  }
}
