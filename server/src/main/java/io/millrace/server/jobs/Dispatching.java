package io.millrace.server.jobs;

import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobsFullException;
import io.millrace.jobs.dispatch.JobDispatcher;
import io.millrace.jobs.registry.FollowOns;
import io.millrace.jobs.registry.JobChanges;
import io.millrace.jobs.registry.Jobs;
import io.millrace.jobs.worker.WorkerManager;
import io.millrace.store.PositionLostException;
import io.millrace.store.StoreClosedException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads of the job server: one that steps the dispatcher when it wants to be called or is
 * woken, one that tells it what changes, and one that makes follow-on jobs, which may copy for
 * long. To be closed before the store.
 */
public final class Dispatching implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Dispatching.class);
  private static final Duration LISTEN = Duration.ofSeconds(1);
  private static final long AFTER_FAILURE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long SAVE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Jobs jobs;
  private final JobDispatcher dispatcher;
  private final WorkerManager workers;
  private final Semaphore due = new Semaphore(0);
  private final Thread stepping;
  private final Thread listening;
  private final Semaphore followOnDue = new Semaphore(0);
  private final Thread following;
  private boolean full;
  private volatile boolean closed;

  private Dispatching(Jobs jobs, JobDispatcher dispatcher, WorkerManager workers) {
    this.jobs = jobs;
    this.dispatcher = dispatcher;
    this.workers = workers;
    this.stepping = Thread.ofPlatform().name("job-dispatcher").daemon().unstarted(this::drive);
    this.listening = Thread.ofVirtual().name("job-changes").unstarted(this::listen);
    this.following = Thread.ofPlatform().name("job-follow-ons").daemon().unstarted(this::follow);
  }

  /** Begins at once. */
  public static Dispatching start(Jobs jobs, JobDispatcher dispatcher, WorkerManager workers) {
    Dispatching dispatching = new Dispatching(jobs, dispatcher, workers);
    dispatcher.wakeBy(dispatching.due::release);
    jobs.followOns().wakeBy(dispatching.followOnDue::release);
    dispatching.stepping.start();
    dispatching.following.start();
    return dispatching;
  }

  private void drive() {
    long saved = System.nanoTime();
    long wait = 0;
    try {
      while (!closed) {
        if (due.tryAcquire(wait, TimeUnit.NANOSECONDS)) {
          due.drainPermits();
        }
        wait = step();
        listenOnceUsed();
        if (System.nanoTime() - saved >= SAVE_NANOS) {
          save(false);
          saved = System.nanoTime();
        }
        wait = Math.min(wait, SAVE_NANOS);
      }
      step();
      save(true);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (StoreClosedException _) {
      // The store has ended, and everything with it.
    }
  }

  /** A server without workers needs no subscription, of which there are only so many. */
  private void listenOnceUsed() {
    if (workers.isUsed() && listening.getState() == Thread.State.NEW) {
      listening.start();
    }
  }

  private long step() {
    try {
      long wait = dispatcher.step(System.nanoTime());
      if (full) {
        full = false;
        LOG.info("there is room again, and jobs go on");
      }
      return wait;
    } catch (StoreClosedException e) {
      throw e;
    } catch (JobsFullException e) {
      if (!full) {
        full = true;
        LOG.warn("no job is given out or finished until there is room: {}", e.getMessage());
      }
      return AFTER_FAILURE_NANOS;
    } catch (RuntimeException | Error e) {
      LOG.warn("dispatching failed; the next try comes in a second", e);
      return AFTER_FAILURE_NANOS;
    }
  }

  private void follow() {
    FollowOns followOns = jobs.followOns();
    long wait = 0;
    try {
      while (!closed) {
        if (followOnDue.tryAcquire(wait, TimeUnit.MILLISECONDS)) {
          followOnDue.drainPermits();
        }
        if (closed) {
          return;
        }
        try {
          wait = followOns.step();
        } catch (StoreClosedException e) {
          throw e;
        } catch (RuntimeException | Error e) {
          LOG.warn("follow-on jobs could not be made; the next try comes in a second", e);
          wait = TimeUnit.NANOSECONDS.toMillis(AFTER_FAILURE_NANOS);
        }
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (StoreClosedException _) {
      // The store has ended, and everything with it.
    }
  }

  private void save(boolean exactly) {
    try {
      workers.save(exactly);
    } catch (StoreClosedException e) {
      throw e;
    } catch (RuntimeException | Error e) {
      LOG.warn("what is known of workers is stored later: {}", e.toString());
    }
  }

  private void listen() {
    while (!closed) {
      try (JobChanges changes = jobs.changes(null)) {
        dispatcher.mayHaveMissed();
        while (!closed) {
          for (JobChange change : changes.next(LISTEN)) {
            dispatcher.notice(change);
          }
        }
      } catch (InterruptedException | StoreClosedException _) {
        return;
      } catch (PositionLostException e) {
        LOG.info("changes of jobs came too fast to follow one by one; looking at all again");
      } catch (RuntimeException | Error e) {
        LOG.warn("changes of jobs cannot be followed; the next try comes in a second", e);
        if (!pause()) {
          return;
        }
      }
    }
  }

  /** Whether the second is over without a close. */
  private static boolean pause() {
    try {
      Thread.sleep(LISTEN);
      return true;
    } catch (InterruptedException _) {
      return false;
    }
  }

  /** Waits for the step under way and stores what workers have done. Closing twice is safe. */
  @Override
  public void close() {
    closed = true;
    due.release();
    jobs.followOns().stop();
    followOnDue.release();
    listening.interrupt();
    try {
      following.join();
      stepping.join();
      listening.join();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }
}
