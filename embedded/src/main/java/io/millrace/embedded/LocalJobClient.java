package io.millrace.embedded;

import io.millrace.client.RejectedException;
import io.millrace.client.jobs.JobClient;
import io.millrace.client.jobs.JobFailedException;
import io.millrace.client.jobs.JobKind;
import io.millrace.client.jobs.JobOrder;
import io.millrace.http.message.HttpProblem;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.JobsException.JobStateException;
import io.millrace.server.jobs.JobsPart;
import io.millrace.store.environment.DurationText;
import io.millrace.work.Watch;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;

/** The jobs of a server in this process. */
record LocalJobClient(JobsPart jobs) implements JobClient {
  private static final int NOT_FOUND = 404;

  private JobRegistry registry() {
    return jobs.jobs().registry();
  }

  @Override
  public <P> SubmittedJob submit(JobKind<P, ?> kind, P payload, JobOrder order) {
    byte[] bytes = kind.writePayload(payload);
    try {
      JobsPart.Submitted submitted =
          jobs.submit(kind.name(), order.fields(), new ByteArrayInputStream(bytes));
      return new SubmittedJob(submitted.id().toString(), submitted.key(), submitted.duplicate());
    } catch (HttpProblem e) {
      throw new RejectedException(e.status(), e.message());
    } catch (InvalidJobException e) {
      throw new RejectedException(400, String.valueOf(e.getMessage()));
    }
  }

  private Job find(String job) {
    return registry().find(job).orElseThrow(() -> none(job));
  }

  private static RejectedException none(String job) {
    return new RejectedException(NOT_FOUND, "there is no job " + job);
  }

  @Override
  public <R> R await(JobKind<?, R> kind, String job, Duration timeout)
      throws InterruptedException, TimeoutException, JobFailedException, IOException {
    JobId id = find(job).id();
    long endNanos = System.nanoTime() + timeout.toNanos();
    try (Watch<JobId, Job> watch = jobs.jobs().watch(List.of(id))) {
      while (watch.pending() > 0) {
        long leftNanos = endNanos - System.nanoTime();
        if (leftNanos <= 0) {
          throw new TimeoutException(
              "job " + job + " has not ended in " + DurationText.show(timeout));
        }
        watch.await(Duration.ofNanos(leftNanos));
      }
    }
    Job ended = find(id.toString());
    if (ended.status() == JobStatus.FAILED) {
      List<Failure> failures = registry().failures(id);
      Failure last = failures.isEmpty() ? null : failures.getLast();
      String info = last == null ? null : last.info();
      throw new JobFailedException(
          info == null ? "the job has failed" : info, last == null ? null : last.logs());
    }
    try (InputStream result = registry().result(ended).orElseThrow(() -> none(job))) {
      return kind.readResult(result);
    }
  }

  @Override
  public void cancel(String job) {
    try {
      if (registry().cancel(job).isEmpty()) {
        throw none(job);
      }
    } catch (JobStateException e) {
      throw new RejectedException(409, String.valueOf(e.getMessage()));
    }
  }

  @Override
  public void close() {
    // The server is closed by its owner.
  }
}
