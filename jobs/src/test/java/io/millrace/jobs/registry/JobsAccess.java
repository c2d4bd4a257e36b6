package io.millrace.jobs.registry;

import io.millrace.jobs.Batch;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.store.TaskStore.DocumentQuery.Order;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of a server with the types {@code first}, whose results become jobs of {@code second},
 * and {@code second}, with batches of three and three failures, as users and workers come to them.
 * Of what a {@link Job} has, claim and place may be missing.
 */
public interface JobsAccess extends AutoCloseable {
  /**
   * An attempt at a job.
   *
   * @param job which
   * @param token the fencing token of its claim
   */
  record Taken(JobId job, long token) {}

  /** Submits a job. */
  Job submit(Submission order, String payload);

  /** The job with this key or GUID. */
  Optional<Job> find(String keyOrId);

  /** Jobs in the order of their GUIDs, or in the opposite one. */
  List<Job> list(JobFilter filter, @Nullable JobId after, int limit, Order order);

  /** A payload; empty when the job is gone. */
  Optional<String> payload(JobId job);

  /** A result; empty where there is none. */
  Optional<String> result(JobId job);

  /** The failed attempts, oldest first. */
  List<Failure> failures(JobId job);

  /** Deletes a job; false where there is none. */
  boolean delete(String keyOrId);

  /** Fails a job for good. */
  Optional<Job> cancel(String keyOrId);

  /** Offers a failed job again. */
  Optional<Job> retry(String keyOrId);

  /** A batch. */
  Optional<Batch> batch(long id);

  /** Batches by number. */
  List<Batch> batches(long after, int limit, Order order);

  /** The jobs of a batch. */
  List<Job> jobsOf(long batch);

  /** A job for a worker, where one waits for it. */
  Optional<Taken> take(String type, WorkerId worker);

  /** Ends an attempt with a result. */
  Settled complete(Taken attempt, String result);

  /** Ends an attempt as failed. */
  Settled fail(Taken attempt, String info, String logs);

  /** How many payloads and results lie in blobs. */
  long blobs();

  @Override
  void close();
}
