package io.millrace.server.jobs;

import io.millrace.jobs.JobsException.JobsFullException;
import io.millrace.jobs.dispatch.JobDispatcher;
import io.millrace.jobs.registry.FollowOns;
import io.millrace.jobs.registry.Jobs;
import io.millrace.jobs.worker.WorkerManager;
import io.millrace.store.StoreClosedException;
import io.millrace.work.MonotonicClock;
import io.millrace.work.StepLoop;
import io.millrace.work.Subscriber;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drives the job server: one thread steps the dispatcher, one passes on changes of jobs to it, and
 * one makes follow-on jobs, which may copy for long. To be closed before the store.
 */
public final class Dispatching implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Dispatching.class);
  private static final Duration AFTER_FULL = Duration.ofSeconds(1);
  private static final Duration SAVE = Duration.ofSeconds(5);

  private final InstantSource clock = new MonotonicClock();
  private final Jobs jobs;
  private final JobDispatcher dispatcher;
  private final WorkerManager workers;
  private final FollowOns followOns;
  private final StepLoop dispatching;
  private final StepLoop following;
  private @Nullable Subscriber changes;
  private Instant saveAt = Instant.MIN;
  private boolean full;

  private Dispatching(Jobs jobs, JobDispatcher dispatcher, WorkerManager workers) {
    this.jobs = jobs;
    this.dispatcher = dispatcher;
    this.workers = workers;
    this.followOns = jobs.followOns();
    this.dispatching =
        new StepLoop(Thread.ofPlatform().name("job-dispatcher").daemon(), clock, this::step);
    this.following =
        new StepLoop(Thread.ofPlatform().name("job-follow-ons").daemon(), clock, followOns);
  }

  /** Starts the threads. */
  public static Dispatching start(Jobs jobs, JobDispatcher dispatcher, WorkerManager workers) {
    Dispatching started = new Dispatching(jobs, dispatcher, workers);
    dispatcher.wakeBy(started.dispatching::wake);
    jobs.typeSettings().onChange(dispatcher::mayHaveMissed);
    started.followOns.wakeBy(started.following::wake);
    var _ = started.dispatching.start();
    var _ = started.following.start();
    return started;
  }

  private Instant step(Instant now) {
    Instant due = dispatch(now);
    if (workers.isUsed() && changes == null) {
      // A server without workers needs no subscription, and their number is limited.
      changes = jobs.subscribe("job-changes", dispatcher::mayHaveMissed, dispatcher::notice);
    }
    if (now.isAfter(saveAt)) {
      save(false);
      saveAt = now.plus(SAVE);
    }
    return due.isBefore(saveAt) ? due : saveAt;
  }

  private Instant dispatch(Instant now) {
    try {
      Instant due = dispatcher.step(now);
      if (full) {
        full = false;
        LOG.info("there is room again, and jobs go on");
      }
      return due;
    } catch (JobsFullException e) {
      if (!full) {
        full = true;
        LOG.warn("no job is given out or finished until there is room: {}", e.getMessage());
      }
      return now.plus(AFTER_FULL);
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

  /** Waits for the current steps and stores what workers have done. Closing twice is safe. */
  @Override
  public void close() {
    followOns.stop();
    following.close();
    dispatching.close();
    if (changes != null) {
      changes.close();
    }
    try {
      var _ = dispatch(clock.instant());
      save(true);
    } catch (StoreClosedException _) {
      LOG.debug("the store was closed before the job server");
    } catch (RuntimeException e) {
      LOG.warn("the last reports of workers could not be stored", e);
    }
  }
}
