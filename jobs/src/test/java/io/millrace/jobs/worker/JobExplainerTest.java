package io.millrace.jobs.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.jobs.Job;
import io.millrace.jobs.Job.Content;
import io.millrace.jobs.Job.FollowOn;
import io.millrace.jobs.Job.Hand;
import io.millrace.jobs.Job.Limits;
import io.millrace.jobs.Job.Line;
import io.millrace.jobs.Job.Place;
import io.millrace.jobs.Job.Times;
import io.millrace.jobs.Job.Waiting;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.WorkerView.Seen;
import io.millrace.jobs.worker.WorkerView.State;
import io.millrace.jobs.worker.WorkerView.Tally;
import io.millrace.work.Explanation;
import io.millrace.work.Explanation.Reason;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Why jobs wait. */
final class JobExplainerTest {
  private static final long NOW = Instant.parse("2026-01-02T03:04:05Z").toEpochMilli();
  private static final JobId ID = id(1);

  private static JobId id(int number) {
    return JobId.parse("00000000-0000-7000-8000-%012d".formatted(number)).orElseThrow();
  }

  private static Job job(JobStatus status, int failures, long notBefore, @Nullable String worker) {
    return job(status, failures, notBefore, worker, Line.NONE);
  }

  private static Job job(
      JobStatus status, int failures, long notBefore, @Nullable String worker, Line line) {
    return new Job(
        ID,
        new Submission("mail", Priority.BATCH, "letter", null),
        status,
        1,
        new Times(NOW - 1_000, null, null),
        failures,
        0,
        new Waiting(notBefore, 0, Limits.NONE),
        worker == null ? Hand.NOBODY : new Hand(new WorkerId(worker), null),
        line,
        new Content(1, null),
        new Place(1, 2, null, 0));
  }

  private static Job pending() {
    return job(JobStatus.PENDING, 0, 0, null);
  }

  private static WorkerView worker(String id, String type, State state, JobId... jobs) {
    return new WorkerView(
        new WorkerId(id), id, type, state, List.of(jobs), Tally.NONE, new Seen(NOW, NOW));
  }

  private static List<String> codes(Job job, WorkerView... workers) {
    Explanation explanation = JobExplainer.explain(job, List.of(workers), NOW, List::of);
    assertThat(explanation.waiting()).isEqualTo(job.status() == JobStatus.PENDING);
    return explanation.reasons().stream().map(Reason::code).toList();
  }

  private static Reason only(Job job, WorkerView... workers) {
    List<Reason> reasons = JobExplainer.explain(job, List.of(workers), NOW, List::of).reasons();
    return assertThat(reasons).singleElement().actual();
  }

  @Test
  void a_job_without_a_worker_of_its_type_says_so() {
    WorkerView other = worker("a", "image", State.READY);
    WorkerView gone = worker("b", "mail", State.DISCONNECTED);
    assertThat(only(pending(), other, gone).code()).isEqualTo("no_worker");
    assertThat(only(pending(), other, gone).message())
        .isEqualTo("no worker for jobs of type mail is connected");
    assertThat(codes(pending(), worker("c", "mail", State.READY))).containsExactly("turn");
  }

  @Test
  void a_job_waits_while_all_workers_of_its_type_are_busy() {
    WorkerView busy = worker("a", "mail", State.BUSY, id(2));
    WorkerView unknown = worker("b", "mail", State.UNKNOWN);
    Reason reason = only(pending(), busy, unknown);
    assertThat(reason.code()).isEqualTo("workers_busy");
    assertThat(reason.related().ids()).containsExactly(id(2).toString());
  }

  @Test
  void a_failed_job_waits_for_another_worker_than_the_one_on_which_it_failed() {
    Job failed = job(JobStatus.PENDING, 1, 0, "a");
    WorkerView same = worker("a", "mail", State.READY);
    Reason reason = only(failed, same);
    assertThat(reason.code()).isEqualTo("only_failed_worker");
    assertThat(reason.message()).contains("is a,");
    assertThat(reason.related().ids()).containsExactly("a");
    assertThat(codes(failed, same, worker("b", "mail", State.BUSY)))
        .containsExactly("workers_busy");
    assertThat(codes(failed, same, worker("b", "mail", State.READY))).containsExactly("turn");
    assertThat(codes(job(JobStatus.PENDING, 0, 0, "a"), same)).containsExactly("turn");
  }

  @Test
  void a_delayed_job_says_when_it_is_to_start_and_that_there_is_no_worker() {
    Job delayed = job(JobStatus.PENDING, 0, NOW + 60_000, null);
    assertThat(only(delayed, worker("a", "mail", State.READY)).message())
        .contains("2026-01-02T03:05:05Z");
    assertThat(codes(delayed, worker("a", "mail", State.BUSY))).containsExactly("scheduled");
    assertThat(codes(delayed)).containsExactly("no_worker", "scheduled");
  }

  @Test
  void a_job_that_runs_or_has_ended_says_so() {
    Reason running = only(job(JobStatus.RUNNING, 0, 0, "a"));
    assertThat(running.code()).isEqualTo("running");
    assertThat(running.related().ids()).containsExactly("a");
    assertThat(only(job(JobStatus.FAILED, 3, 0, "a")).message()).contains("3 failed attempts");
    assertThat(only(job(JobStatus.DONE, 0, 0, "a")).message()).isEqualTo("it is done");
    Line line = Line.NONE.with(null, new FollowOn("print", "the result is too large"));
    assertThat(only(job(JobStatus.DONE, 0, 0, "a", line)).message())
        .contains("type print", "too large");
  }
}
