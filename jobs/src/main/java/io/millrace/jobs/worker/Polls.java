package io.millrace.jobs.worker;

import io.millrace.blobs.Value;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobsFullException;
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

  /** How long a worker that does not wait is kept where nobody looks for a job. */
  private static final Duration LOOK = Duration.ofSeconds(10);

  private final Floor floor;
  private final JobRegistry registry;

  /** Workers of {@code manager}, whose reports go to {@code registry} at once. */
  public Polls(WorkerManager manager, JobRegistry registry) {
    this.floor = manager.floor();
    this.registry = registry;
  }

  @Override
  public Optional<Assignment> next(String type, Registration worker, Duration wait) {
    if (!floor.isRight(worker)) {
      throw new WrongTokenException();
    }
    floor.roster().history().recall(worker.id());
    PolledLink link = new PolledLink(wait.isZero());
    Registration single = Registration.single(worker.name(), worker.id(), worker.token());
    Post post = floor.open(type, link, true);
    synchronized (floor) {
      floor.register(post, single);
    }
    try {
      Duration most = wait.isZero() ? LOOK : wait;
      return Optional.of(link.answer().get(most.toNanos(), TimeUnit.NANOSECONDS));
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
    synchronized (floor) {
      if (link.answer().isDone() && !link.answer().isCancelled()) {
        return Optional.of(link.answer().join());
      }
      floor.gone(post, null);
      return Optional.empty();
    }
  }

  @Override
  public void undelivered(Assignment assignment, @Nullable String fault) {
    synchronized (floor) {
      Held held = floor.hands().find(assignment);
      if (held != null) {
        floor.gone(held.post(), fault);
      }
    }
  }

  @Override
  public void missing(Assignment assignment) {
    synchronized (floor) {
      Held held = floor.hands().find(assignment);
      if (held != null) {
        floor.missing(held);
      }
    }
  }

  @Override
  public Settled progress(String keyOrId, long token, Progress progress) {
    Job job = registry.find(keyOrId).orElse(null);
    synchronized (floor) {
      Held held = job == null ? null : held(job, token);
      if (held == null) {
        return LATE;
      }
      floor.advance(held, progress);
      return new Settled.Accepted(held.assignment().job());
    }
  }

  /** The attempt with this token; null when it does not count. Under the floor's lock. */
  private @Nullable Held held(Job job, long token) {
    Held held = floor.hands().find(job.id());
    return held != null && held.counts() && held.assignment().claim().token() == token
        ? held
        : null;
  }

  private @Nullable Held find(String keyOrId, long token) {
    Job job = registry.find(keyOrId).orElse(null);
    synchronized (floor) {
      return job == null ? null : held(job, token);
    }
  }

  @Override
  public Settled fail(String keyOrId, long token, Failure failure) {
    Held held = find(keyOrId, token);
    if (held == null) {
      return repeated(keyOrId, registry.failedBy(keyOrId, token));
    }
    Assignment attempt = held.assignment();
    Failure own = new Failure(attempt.worker(), failure.atMillis(), failure.info(), failure.logs());
    return settle(held, new Report.Failed(attempt, own));
  }

  @Override
  public Settled complete(String keyOrId, long token, InputStream result) throws IOException {
    Held held = find(keyOrId, token);
    if (held == null) {
      Settled again = repeated(keyOrId, registry.completedBy(keyOrId, token));
      if (again instanceof Settled.Accepted) {
        Intake.drop(result);
      }
      return again;
    }
    Optional<Value> kept = floor.intake().keep(held.assignment(), result, () -> counts(held));
    return kept.isEmpty()
        ? late(keyOrId)
        : settle(held, new Report.Completed(held.assignment(), kept.get()));
  }

  /**
   * A report that is not of a job in hand: accepted where it was before and its answer was lost.
   */
  private Settled repeated(String keyOrId, Optional<Job> accepted) {
    return accepted.isPresent() ? new Settled.Accepted(accepted.get()) : late(keyOrId);
  }

  private Settled late(String keyOrId) {
    String type = registry.find(keyOrId).map(Job::type).orElse("");
    synchronized (floor) {
      floor.reports().late(type);
    }
    return LATE;
  }

  private boolean counts(Held held) {
    synchronized (floor) {
      held.sign(floor.nanos());
      return held.counts();
    }
  }

  private Settled settle(Held held, Report report) {
    synchronized (floor) {
      if (!held.counts()) {
        floor.reports().late(held.assignment().job().type());
        return LATE;
      }
      held.finish();
    }
    Settled outcome;
    try {
      outcome = registry.settle(List.of(report)).getFirst();
    } catch (JobsFullException e) {
      synchronized (floor) {
        held.reopen();
      }
      throw e;
    } catch (RuntimeException e) {
      synchronized (floor) {
        floor.unsettled(held, "what its worker reported could not be stored: " + e.getMessage());
      }
      throw e;
    }
    synchronized (floor) {
      if (outcome instanceof Settled.Postponed) {
        held.reopen();
      } else {
        floor.concluded(held, report, outcome);
      }
    }
    return outcome;
  }
}
