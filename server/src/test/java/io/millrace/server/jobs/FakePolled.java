package io.millrace.server.jobs;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.Value;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.worker.PolledJobs;
import io.millrace.jobs.worker.PolledJobs.WrongTokenException;
import io.millrace.jobs.worker.Progress;
import io.millrace.jobs.worker.Registration;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Takes jobs from the registry without waiting. */
final class FakePolled implements PolledJobs {
  private final JobRegistry registry;
  private final BlobStore blobs;
  private final Map<Long, Assignment> held = new ConcurrentHashMap<>();

  /** The jobs that did not reach their workers. */
  final BlockingQueue<Assignment> undelivered = new LinkedBlockingQueue<>();

  /** The jobs whose payloads were not there. */
  final BlockingQueue<Assignment> missing = new LinkedBlockingQueue<>();

  FakePolled(JobRegistry registry, BlobStore blobs) {
    this.registry = registry;
    this.blobs = blobs;
  }

  @Override
  public Optional<Assignment> next(String type, Registration worker, Duration wait) {
    if (worker.token().equals("wrong")) {
      throw new WrongTokenException();
    }
    if (!wait.isZero()) {
      awaitEnd(wait);
    }
    List<Assignment> assigned = registry.assign(type, List.of(worker.id()));
    assigned.forEach(each -> held.put(each.claim().token(), each));
    return assigned.stream().findFirst();
  }

  /** A job comes in the very moment in which the worker is seen to go. */
  private static void awaitEnd(Duration wait) {
    try {
      boolean _ = new CountDownLatch(1).await(wait.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void undelivered(Assignment assignment, @Nullable String fault) {
    undelivered.add(assignment);
  }

  @Override
  public void missing(Assignment assignment) {
    missing.add(assignment);
  }

  @Override
  public Settled progress(String keyOrId, long token, Progress progress) {
    Assignment assignment = held.get(token);
    return assignment == null
        ? new Settled.Refused("the claim is not the latest")
        : new Settled.Accepted(assignment.job());
  }

  @Override
  public Settled fail(String keyOrId, long token, Failure failure) {
    Assignment assignment = held.get(token);
    return assignment == null
        ? new Settled.Refused("the claim is not the latest")
        : settle(new Report.Failed(assignment, failure));
  }

  @Override
  public Settled complete(String keyOrId, long token, InputStream result) {
    Assignment assignment = held.get(token);
    if (assignment == null) {
      return new Settled.Refused("the claim is not the latest");
    }
    Value kept = Value.keep(JobRegistry.resultName(assignment), result, blobs);
    return settle(new Report.Completed(assignment, kept));
  }

  private Settled settle(Report report) {
    return registry.settle(List.of(report)).getFirst();
  }
}
