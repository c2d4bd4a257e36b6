package io.millrace.jobs.worker;

import io.millrace.blobs.Value;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobsException.JobsFullException;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.worker.ActiveJobs.ActiveJob;
import io.millrace.jobs.worker.PolledJobs.WrongTokenException;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Workers that ask for jobs over HTTP. Each request opens a session of a worker that is ready for
 * one job; the session ends with the job, or if there was none.
 */
public final class PolledWorkers implements PolledJobs {
  private static final Settled.Refused LATE =
      new Settled.Refused("the job was taken from you, or this is not the token of its claim");

  /** How long a worker that does not wait is kept if the dispatcher does not look for a job. */
  private static final Duration MAX_LOOK = Duration.ofSeconds(10);

  private final WorkerManager workers;
  private final JobRegistry registry;

  /** Sessions of {@code workers}, whose reports go to {@code registry} at once. */
  public PolledWorkers(WorkerManager workers, JobRegistry registry) {
    this.workers = workers;
    this.registry = registry;
  }

  @Override
  public Optional<Assignment> next(String type, Registration worker, Duration wait) {
    if (!workers.isRight(worker)) {
      throw new WrongTokenException();
    }
    return take(type, worker, wait);
  }

  /** As {@link #next}, for a worker in this process, which needs no token. */
  public Optional<Assignment> take(String type, Registration worker, Duration wait) {
    workers.history().recall(worker.id());
    PolledLink link = new PolledLink(wait.isZero());
    Registration single = Registration.single(worker.name(), worker.id(), worker.token());
    WorkerSession session = workers.open(type, link);
    synchronized (workers) {
      workers.register(session, single);
    }
    try {
      Duration most = wait.isZero() ? MAX_LOOK : wait;
      return Optional.of(link.answer().get(most.toNanos(), TimeUnit.NANOSECONDS));
    } catch (TimeoutException | CancellationException _) {
      return leave(session, link);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return leave(session, link);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Ends the wait; a job that came at the same moment is taken. */
  private Optional<Assignment> leave(WorkerSession session, PolledLink link) {
    synchronized (workers) {
      if (link.answer().isDone() && !link.answer().isCancelled()) {
        return Optional.of(link.answer().join());
      }
      workers.disconnected(session, null);
      return Optional.empty();
    }
  }

  @Override
  public void undelivered(Assignment assignment, @Nullable String fault) {
    synchronized (workers) {
      ActiveJob attempt = workers.active().find(assignment);
      if (attempt != null) {
        workers.disconnected(attempt.session(), fault);
      }
    }
  }

  @Override
  public void missing(Assignment assignment) {
    synchronized (workers) {
      ActiveJob attempt = workers.active().find(assignment);
      if (attempt != null) {
        workers.missing(attempt);
      }
    }
  }

  @Override
  public Settled progress(String keyOrId, long token, Progress progress) {
    Job job = registry.find(keyOrId).orElse(null);
    synchronized (workers) {
      ActiveJob attempt = job == null ? null : attempt(job, token);
      if (attempt == null) {
        return LATE;
      }
      workers.progress(attempt, progress);
      return new Settled.Accepted(attempt.assignment().job());
    }
  }

  /**
   * Notes a sign of life of a job.
   *
   * @return whether the claim is still its latest; also while its end is being stored
   */
  public boolean alive(Assignment assignment) {
    synchronized (workers) {
      ActiveJob attempt = workers.active().find(assignment);
      if (attempt == null || attempt.revoked()) {
        return false;
      }
      attempt.sign(workers.nanos());
      return true;
    }
  }

  /** The attempt with this token; null if it does not count. The caller holds the monitor. */
  private @Nullable ActiveJob attempt(Job job, long token) {
    ActiveJob attempt = workers.active().find(job.id());
    return attempt != null && attempt.counts() && attempt.assignment().claim().token() == token
        ? attempt
        : null;
  }

  private @Nullable ActiveJob find(String keyOrId, long token) {
    Job job = registry.find(keyOrId).orElse(null);
    synchronized (workers) {
      return job == null ? null : attempt(job, token);
    }
  }

  @Override
  public Settled fail(String keyOrId, long token, Failure failure) {
    ActiveJob attempt = find(keyOrId, token);
    if (attempt == null) {
      return repeated(keyOrId, registry.failedBy(keyOrId, token));
    }
    Assignment assignment = attempt.assignment();
    Failure own =
        new Failure(
            assignment.worker(),
            failure.atMillis(),
            failure.info(),
            failure.logs(),
            failure.wish());
    return settle(attempt, new Report.Failed(assignment, own));
  }

  @Override
  public Settled complete(String keyOrId, long token, InputStream result) throws IOException {
    ActiveJob attempt = find(keyOrId, token);
    if (attempt == null) {
      Settled again = repeated(keyOrId, registry.completedBy(keyOrId, token));
      if (again instanceof Settled.Accepted) {
        ResultUpload.drop(result);
      }
      return again;
    }
    Optional<Value> kept =
        workers.upload().keep(attempt.assignment(), result, () -> counts(attempt));
    return kept.isEmpty()
        ? late(keyOrId)
        : settle(attempt, new Report.Completed(attempt.assignment(), kept.get()));
  }

  /**
   * Answers a report without an active attempt, which may be repeated: accepted if it was before.
   */
  private Settled repeated(String keyOrId, Optional<Job> accepted) {
    return accepted.isPresent() ? new Settled.Accepted(accepted.get()) : late(keyOrId);
  }

  private Settled late(String keyOrId) {
    String type = registry.find(keyOrId).map(Job::type).orElse("");
    synchronized (workers) {
      workers.reports().late(type);
    }
    return LATE;
  }

  private boolean counts(ActiveJob attempt) {
    synchronized (workers) {
      attempt.sign(workers.nanos());
      return attempt.counts();
    }
  }

  private Settled settle(ActiveJob attempt, Report report) {
    synchronized (workers) {
      if (!attempt.counts()) {
        workers.reports().late(attempt.assignment().job().type());
        return LATE;
      }
      attempt.finish();
    }
    Settled outcome;
    try {
      outcome = registry.settle(List.of(report)).getFirst();
    } catch (JobsFullException e) {
      synchronized (workers) {
        attempt.reopen();
      }
      throw e;
    } catch (RuntimeException e) {
      synchronized (workers) {
        // It may have been stored; if not, the job is offered again.
        String reason = "what its worker reported could not be stored: " + e.getMessage();
        workers.report(attempt.session(), new Report.Returned(attempt.assignment(), reason));
        workers.free(attempt);
      }
      throw e;
    }
    synchronized (workers) {
      if (outcome instanceof Settled.Postponed) {
        attempt.reopen();
      } else {
        workers.reports().settled(attempt.session(), report, outcome);
        workers.free(attempt);
      }
    }
    return outcome;
  }

  /** The link to a worker that asks over HTTP: it carries one job, as the answer. */
  static final class PolledLink implements WorkerLink {
    private final CompletableFuture<Assignment> answer = new CompletableFuture<>();
    private final boolean once;

    /**
     * A link without a job yet.
     *
     * @param once whether the worker does not wait, so that it is answered after one look for a job
     */
    PolledLink(boolean once) {
      this.once = once;
    }

    boolean once() {
      return once;
    }

    CompletableFuture<Assignment> answer() {
      return answer;
    }

    void give(Assignment assignment) {
      answer.complete(assignment);
    }

    @Override
    public void say(String text) {}

    @Override
    public void send(Job job, @Nullable String announcement) {}

    @Override
    public void ping() {}

    @Override
    public void close(int code, String reason) {
      answer.cancel(false);
    }
  }
}
