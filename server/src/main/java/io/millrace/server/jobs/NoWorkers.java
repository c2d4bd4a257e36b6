package io.millrace.server.jobs;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.JobId;
import io.millrace.jobs.Settled;
import io.millrace.jobs.worker.PolledJobs;
import io.millrace.jobs.worker.Progress;
import io.millrace.jobs.worker.Registration;
import io.millrace.jobs.worker.WorkerConnection;
import io.millrace.jobs.worker.WorkerLink;
import io.millrace.jobs.worker.WorkerView;
import io.millrace.jobs.worker.Workers;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A server without a dispatcher: workers are sent away, and jobs wait. */
public final class NoWorkers implements Workers, PolledJobs {
  private static final int TRY_LATER = 1013;
  private static final Settled.Refused REFUSED = new Settled.Refused("nobody has this job");

  @Override
  public WorkerConnection connect(String type, WorkerLink link) {
    link.close(TRY_LATER, "this server gives no jobs to workers");
    return new Gone();
  }

  /** A worker that was sent away. */
  private static final class Gone implements WorkerConnection {
    @Override
    public void hear(String text) {}

    @Override
    public void receive(InputStream result) {}

    @Override
    public void alive() {}

    @Override
    public void disconnected() {}
  }

  @Override
  public List<WorkerView> list() {
    return List.of();
  }

  @Override
  public Optional<WorkerView> find(String id) {
    return Optional.empty();
  }

  @Override
  public Optional<Progress> progress(JobId job) {
    return Optional.empty();
  }

  @Override
  public Optional<Assignment> next(String type, Registration worker, Duration wait) {
    return Optional.empty();
  }

  @Override
  public Settled progress(String keyOrId, long token, Progress progress) {
    return REFUSED;
  }

  @Override
  public Settled fail(String keyOrId, long token, Failure failure) {
    return REFUSED;
  }

  @Override
  public Settled complete(String keyOrId, long token, InputStream result) {
    return REFUSED;
  }
}
