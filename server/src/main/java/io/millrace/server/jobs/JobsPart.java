package io.millrace.server.jobs;

import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.blobs.BlobStore;
import io.millrace.http.ErrorReplies;
import io.millrace.http.Route;
import io.millrace.jobs.InvalidJobException;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.dispatch.JobDispatcher;
import io.millrace.jobs.registry.JobSweeper;
import io.millrace.jobs.registry.Jobs;
import io.millrace.jobs.worker.PolledWorkers;
import io.millrace.jobs.worker.WorkerManager;
import io.millrace.server.Part;
import io.millrace.server.ServerException;
import io.millrace.server.metrics.JobFigures;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.TaskStore;
import java.time.Clock;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The job server within a server. */
public final class JobsPart implements Part {
  private static final Logger LOG = LoggerFactory.getLogger(JobsPart.class);

  private final Jobs jobs;
  private final WorkerManager workers;
  private final JobsSettings settings;
  private final JobsApi.Served served;
  private @Nullable Dispatching dispatching;

  private JobsPart(Jobs jobs, WorkerManager workers, JobsSettings settings, JobsApi.Served served) {
    this.jobs = jobs;
    this.workers = workers;
    this.settings = settings;
    this.served = served;
  }

  /**
   * What it stands on.
   *
   * @param store that keeps the history of workers
   * @param requests the same store, for what requests change
   * @param maxBytes the longest payload and result
   */
  public record Base(EmbeddedTaskStore store, TaskStore requests, BlobStore blobs, long maxBytes) {}

  /**
   * Opens the jobs. Those that ran when the server stopped are offered again, before any worker can
   * come.
   *
   * @throws ServerException if the configured types cannot be, or contradict those stored
   */
  public static JobsPart open(JobsSettings settings, Base base, RandomGenerator random) {
    Jobs jobs = jobs(settings, base, random);
    WorkerManager workers =
        new WorkerManager(
            settings.workers().options(),
            base.store(),
            base.blobs(),
            Clock.systemUTC(),
            System::nanoTime);
    workers.recall();
    PolledWorkers polls = new PolledWorkers(workers, jobs.registry());
    return new JobsPart(
        jobs,
        workers,
        settings,
        new JobsApi.Served(jobs, workers, polls, base.blobs(), base.maxBytes()));
  }

  private static Jobs jobs(JobsSettings settings, Base base, RandomGenerator random) {
    try {
      JobTypes types = JobTypes.of(settings.types());
      Jobs jobs =
          Jobs.open(
              base.requests(),
              base.blobs(),
              settings.replaceTypes() ? types.replacingStored() : types,
              settings.options(),
              new Jobs.Environment(Clock.systemUTC(), random));
      int returned = jobs.registry().returnAll();
      if (returned > 0) {
        LOG.info("{} jobs that were running are offered again", returned);
      }
      return jobs;
    } catch (InvalidJobException e) {
      throw new ServerException("jobs.types: " + e.getMessage(), e);
    }
  }

  /** The jobs. */
  public Jobs jobs() {
    return jobs;
  }

  @Override
  public List<Route> routes() {
    return JobsApi.routes(served, settings);
  }

  @Override
  public void addErrorReplies(ErrorReplies replies) {
    JobsApi.addErrorReplies(replies);
  }

  @Override
  public Runnable measure(MeterRegistry registry) {
    return JobFigures.show(jobs, workers, registry)::refresh;
  }

  @Override
  public List<Activity> activities() {
    JobSweeper sweeper = jobs.sweeper();
    return List.of(new Activity("job-sweeper", sweeper));
  }

  @Override
  public void start(String url) {
    JobDispatcher dispatcher =
        new JobDispatcher(jobs.registry(), workers, settings.options().lease());
    dispatching = Dispatching.start(jobs, dispatcher, workers);
  }

  @Override
  public void close() {
    if (dispatching != null) {
      dispatching.close();
    }
  }
}
