package io.millrace.jobs.registry;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Assignment.JobClaim;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Failure.Wish;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.Report;
import io.millrace.jobs.WorkerId;
import io.millrace.store.Document;
import io.millrace.work.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Fails jobs that are over time: pending ones for good, and the attempts at running ones, whose
 * workers hear that the job was taken back. Step-driven; for use by one thread. There may be
 * several for one store.
 */
public final class JobTimeouts implements Step {
  /** The code of the failure of an attempt that took too long. */
  public static final String CODE = "timeout";

  private static final Duration INTERVAL = Duration.ofSeconds(1);
  private static final int SETTLED_AT_ONCE = 200;

  private final JobStore store;
  private final UserActions userActions;
  private final Settling settling;

  JobTimeouts(JobStore store, UserActions userActions, Settling settling) {
    this.store = store;
    this.userActions = userActions;
    this.settling = settling;
  }

  @Override
  public Instant step(Instant now) {
    long millis = now.toEpochMilli();
    String end = Keys.padded(millis + 1);
    List<Report> attempts = new ArrayList<>();
    for (Document deadline : store.pages(Keys.DEADLINES)) {
      if (deadline.key().key().compareTo(end) >= 0) {
        break;
      }
      store
          .entry(JobJson.id(deadline.body().utf8()))
          .flatMap(entry -> fail(entry, millis))
          .ifPresent(attempts::add);
      if (attempts.size() == SETTLED_AT_ONCE) {
        var _ = settling.settle(attempts);
        attempts.clear();
      }
    }
    var _ = settling.settle(attempts);
    return now.plus(INTERVAL);
  }

  /** Fails a job that is pending; gives the report on one that is running. */
  private Optional<Report> fail(StoredJob entry, long nowMillis) {
    Job job = entry.job();
    Optional<String> limit = job.overTime(nowMillis);
    if (limit.isEmpty()) {
      return Optional.empty();
    }
    WorkerId worker = job.hand().worker();
    JobClaim claim = job.hand().claim();
    if (job.status() == JobStatus.RUNNING && worker != null && claim != null) {
      Wish wish = new Wish(CODE, null, false);
      Failure failure = new Failure(worker, nowMillis, limit.get(), null, wish);
      return Optional.of(new Report.Failed(new Assignment(job, worker, claim), failure));
    }
    // What is changing just now is looked at again by the next step.
    var _ = userActions.expire(entry, limit.get());
    return Optional.empty();
  }
}
