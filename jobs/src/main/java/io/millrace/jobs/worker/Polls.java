package io.millrace.jobs.worker;

import io.millrace.blobs.Value;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.Report;
import io.millrace.jobs.Settled;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Workers that ask over HTTP, on the same manager: each question is a worker that is ready for one
 * job, and is gone when its job has ended or none came.
 */
public final class Polls implements PolledJobs {
  private static final Settled.Refused LATE =
      new Settled.Refused("the job was taken from you, or this is not the token of its claim");

  private final WorkerManager manager;
  private final JobRegistry registry;

  /** Workers of {@code manager}, whose reports go to {@code registry} at once. */
  public Polls(WorkerManager manager, JobRegistry registry) {
    this.manager = manager;
    this.registry = registry;
  }

  @Override
  public Optional<Assignment> next(String type, Registration worker, Duration wait) {
    if (!manager.isRight(worker)) {
      throw new WrongTokenException();
    }
    manager.tallies().load(worker.id());
    PolledLink link = new PolledLink();
    Registration single = Registration.single(worker.name(), worker.id(), worker.token());
    Post post = manager.open(type, link, true);
    synchronized (manager) {
      manager.register(post, single);
    }
    try {
      return Optional.of(link.answer().get(wait.toNanos(), TimeUnit.NANOSECONDS));
    } catch (TimeoutException | CancellationException _) {
      return leave(post, link);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return leave(post, link);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Nobody waits any more; a job that came in the same moment is taken. */
  private Optional<Assignment> leave(Post post, PolledLink link) {
    synchronized (manager) {
      if (link.answer().isDone() && !link.answer().isCancelled()) {
        return Optional.of(link.answer().join());
      }
      manager.gone(post);
      return Optional.empty();
    }
  }

  @Override
  public Settled progress(String keyOrId, long token, Progress progress) {
    Job job = registry.find(keyOrId).orElse(null);
    synchronized (manager) {
      Held held = job == null ? null : held(job, token);
      if (held == null) {
        return LATE;
      }
      held.advance(progress, manager.nanos());
      return new Settled.Accepted(held.assignment().job());
    }
  }

  /** The attempt with this token; null when it does not count. Under the manager's lock. */
  private @Nullable Held held(Job job, long token) {
    Held held = manager.held(job.id());
    return held != null && held.counts() && held.assignment().claim().token() == token
        ? held
        : null;
  }

  private @Nullable Held find(String keyOrId, long token) {
    Job job = registry.find(keyOrId).orElse(null);
    synchronized (manager) {
      return job == null ? null : held(job, token);
    }
  }

  @Override
  public Settled fail(String keyOrId, long token, Failure failure) {
    Held held = find(keyOrId, token);
    return held == null ? LATE : settle(held, new Report.Failed(held.assignment(), failure));
  }

  @Override
  public Settled complete(String keyOrId, long token, InputStream result) throws IOException {
    Held held = find(keyOrId, token);
    if (held == null) {
      return LATE;
    }
    Optional<Value> kept = manager.intake().keep(held.assignment(), result, () -> counts(held));
    return kept.isEmpty()
        ? LATE
        : settle(held, new Report.Completed(held.assignment(), kept.get()));
  }

  private boolean counts(Held held) {
    synchronized (manager) {
      held.sign(manager.nanos());
      return held.counts();
    }
  }

  private Settled settle(Held held, Report report) {
    synchronized (manager) {
      if (!held.counts()) {
        return LATE;
      }
      held.finish();
    }
    Settled outcome;
    try {
      outcome = registry.settle(List.of(report)).getFirst();
    } catch (RuntimeException e) {
      synchronized (manager) {
        manager.unsettled(held);
      }
      throw e;
    }
    synchronized (manager) {
      manager.concluded(held, report, outcome);
    }
    return outcome;
  }
}
