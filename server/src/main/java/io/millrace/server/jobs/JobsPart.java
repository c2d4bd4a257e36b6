package io.millrace.server.jobs;

import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.archive.Archive;
import io.millrace.archive.ArchiveSource;
import io.millrace.blobs.BlobStore;
import io.millrace.http.AccessCheck.Credentials;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Role;
import io.millrace.http.ErrorResponses;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.http.websocket.WebSocket;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobsException;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.JobsException.JobStateException;
import io.millrace.jobs.dispatch.JobDispatcher;
import io.millrace.jobs.registry.JobCounts;
import io.millrace.jobs.registry.JobSweeper;
import io.millrace.jobs.registry.Jobs;
import io.millrace.jobs.worker.JobExplainer;
import io.millrace.jobs.worker.PolledJobs;
import io.millrace.jobs.worker.PolledJobs.WrongTokenException;
import io.millrace.jobs.worker.PolledWorkers;
import io.millrace.jobs.worker.WorkerManager;
import io.millrace.jobs.worker.WorkerView;
import io.millrace.jobs.worker.Workers;
import io.millrace.server.Part;
import io.millrace.server.ServerException;
import io.millrace.server.metrics.JobFigures;
import io.millrace.server.security.ConfiguredPrincipal;
import io.millrace.server.traces.Traces;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StandbyStore.LeaderNeededException;
import io.millrace.store.TaskStore;
import io.millrace.work.Explanation;
import io.millrace.work.policy.LimitReasons.Running;
import io.millrace.work.policy.LimitReasons.Sharing;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.SharedLimits.Usage;
import java.io.InputStream;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The job server under {@code /api}. */
public final class JobsPart implements Part {
  private static final Logger LOG = LoggerFactory.getLogger(JobsPart.class);

  private static final int MAX_TEXT_BYTES = 1 << 20;

  /** Errors with {@code problem}, as in GridLike, and with {@code error}, as elsewhere. */
  private static final ErrorForm ERRORS =
      ErrorForm.named(
          "JobError",
          problem ->
              new Response.Whole(
                  problem.status(),
                  Response.JSON,
                  problem.headers(),
                  Json.bytes(
                      Json.object()
                          .put("problem", problem.message())
                          .put("error", problem.message()))));

  private final Jobs jobs;
  private final WorkerManager workers;
  private final JobsSettings settings;
  private final Served served;
  private final PolledWorkers local;
  private final Archive archive;
  private final EmbeddedTaskStore store;
  private @Nullable Dispatching dispatching;

  private JobsPart(
      Jobs jobs, WorkerManager workers, JobsSettings settings, PolledWorkers local, Base base) {
    this.archive = base.archive();
    this.store = base.store();
    this.jobs = jobs;
    this.workers = workers;
    this.settings = settings;
    this.local = local;
    this.served = new Served(jobs, workers, local, base.blobs(), base.maxBytes(), base.traces());
  }

  /**
   * What it is built on.
   *
   * @param store keeps the history of workers
   * @param requests the same store, for changes by requests
   * @param maxBytes the longest payload and result
   * @param archive holds the jobs that have left the store
   * @param traces to which the jobs of requests belong
   * @param here whether jobs of a type belong to this store
   */
  public record Base(
      EmbeddedTaskStore store,
      TaskStore requests,
      BlobStore blobs,
      long maxBytes,
      Archive archive,
      Traces traces,
      Predicate<String> here) {}

  /**
   * Opens the jobs. Jobs that ran when the server stopped are offered again, before any worker can
   * connect.
   *
   * @throws ServerException if the configured types are invalid, or contradict the stored ones
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
    return new JobsPart(jobs, workers, settings, new PolledWorkers(workers, jobs.registry()), base);
  }

  private static Jobs jobs(JobsSettings settings, Base base, RandomGenerator random) {
    try {
      Jobs jobs =
          Jobs.open(
              base.requests(),
              base.blobs(),
              settings.jobTypes(base.here()),
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

  /** Why a job waits, by its key or GUID; empty if there is none within the caller's reach. */
  public Optional<Explanation> explain(Request request, String key, Sharing sharing) {
    return jobs.registry()
        .find(key)
        .filter(job -> Types.reaches(request, job.type()))
        .map(job ->
            JobExplainer.explain(
                job,
                workers.list(),
                Clock.systemUTC().millis(),
                () -> jobs.limitReasons(job, type -> Types.reaches(request, type), sharing)));
  }

  /** The running jobs that count against a shared limit, as far as the caller may see them. */
  public Running sharing(Request request, Usage usage) {
    return jobs.sharing(usage, type -> Types.reaches(request, type));
  }

  /** The jobs. */
  public Jobs jobs() {
    return jobs;
  }

  /** The jobs of workers in this process, as those of workers that poll. */
  public PolledWorkers local() {
    return local;
  }

  /**
   * Submits a job of this process.
   *
   * @param type its type
   * @param fields the fields of the form of {@code POST /api/jobs/submit}, without the payload
   * @return the job and whether it was there already
   * @throws HttpProblem 400 if a field is wrong
   * @throws InvalidJobException if the type is unknown or the key is taken
   */
  public Submitted submit(String type, Map<String, String> fields, InputStream payload) {
    Types types = new Types(jobs.types().all(), jobs.counts(), jobs.typeSettings());
    return new SubmitRoute(
            jobs.registry(), types, served.blobs(), served.maxBytes(), served.traces())
        .submit(type, fields, payload);
  }

  /**
   * A job that was submitted.
   *
   * @param id its GUID
   * @param key its key; the GUID if it has none
   * @param duplicate whether it was there already, with the same unique key or request id
   */
  public record Submitted(JobId id, String key, boolean duplicate) {}

  /** What moves jobs that have ended to the archive. */
  public ArchiveSource retention() {
    return jobs.retention(settings.retention());
  }

  /** Who has the API key or the token of workers, as far as they are configured. */
  public List<ConfiguredPrincipal> principals() {
    return keys(settings).principals();
  }

  /** What clients show besides the server's token and keys. */
  public static Credentials clients(JobsSettings settings) {
    return keys(settings).clients();
  }

  private static Keys keys(JobsSettings settings) {
    return new Keys(settings);
  }

  @Override
  public List<Route> routes() {
    return routes(served, settings);
  }

  @Override
  public void addErrorResponses(ErrorResponses responses) {
    addErrors(responses);
  }

  @Override
  public Runnable measure(MeterRegistry registry) {
    return JobFigures.show(jobs, workers, store, registry)::refresh;
  }

  @Override
  public List<Level> levels() {
    long waiting = 0;
    long running = 0;
    for (Map.Entry<JobCounts.Kind, Long> count : jobs.counts().unfinished().entrySet()) {
      if (count.getKey().status() == JobStatus.PENDING) {
        waiting += count.getValue();
      } else {
        running += count.getValue();
      }
    }
    return List.of(new Level("jobs", waiting, running));
  }

  @Override
  public List<Activity> activities() {
    JobSweeper sweeper = jobs.sweeper(archive);
    return List.of(
        new Activity("job-sweeper", sweeper),
        new Activity("job-timeouts", jobs.timeouts()),
        new Activity("job-settings", jobs.typeSettings()));
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

  /**
   * What is served.
   *
   * @param jobs the jobs
   * @param workers the workers
   * @param polled the jobs of workers that poll
   * @param blobs holds the payloads
   * @param maxBytes the longest payload and result
   * @param traces to which the jobs of requests belong
   */
  record Served(
      Jobs jobs,
      Workers workers,
      PolledJobs polled,
      BlobStore blobs,
      long maxBytes,
      Traces traces) {}

  private static ApiRoutes below(JobsSettings settings) {
    String prefix = settings.access().prefix();
    return prefix.isEmpty() ? ApiRoutes.below("/api") : ApiRoutes.below("/api", prefix + "/api");
  }

  /**
   * The routes that only read the jobs of a store. The progress of running jobs is left out.
   *
   * @param blobs holds payloads and results
   */
  public static List<Route> reads(
      TaskStore store, BlobStore blobs, JobsSettings settings, RandomGenerator random) {
    Jobs jobs = Jobs.reading(store, blobs, new Jobs.Environment(Clock.systemUTC(), random));
    ApiRoutes api = below(settings);
    ApiRoutes clients = api.errors(ERRORS).credentials(keys(settings).clients());
    new Types.Reads(
            () ->
                jobs.storedTypes()
                    .orElseThrow(() ->
                        new LeaderNeededException("only the leader knows the settings of types")),
            jobs.counts(),
            jobs.typeSettings()::stored)
        .addTo(clients);
    new JobRoutes(jobs, jobs.registry(), new Shapes(null)).addReadsTo(clients);
    return api.routes();
  }

  /** The routes, also below the configured prefix. */
  static List<Route> routes(Served served, JobsSettings settings) {
    Keys keys = keys(settings);
    ApiRoutes api = below(settings);
    ApiRoutes clients = api.errors(ERRORS).credentials(keys.clients());
    ApiRoutes holders = api.errors(ERRORS).credentials(keys.holders()).role(Role.WORKER);
    ApiRoutes workers = api.errors(ERRORS).credentials(keys.workers()).role(Role.WORKER);
    JobRegistry registry = served.jobs().registry();
    Types types =
        new Types(
            served.jobs().types().all(), served.jobs().counts(), served.jobs().typeSettings());
    Shapes shapes = new Shapes(served.workers());

    types.addTo(clients);
    new SubmitRoute(registry, types, served.blobs(), served.maxBytes(), served.traces())
        .addTo(clients);
    new JobRoutes(served.jobs(), registry, shapes).addTo(clients);
    clients
        .limitable()
        .query("type", "status", "priority", "batch", "worker", "text", "after")
        .get(
            "/events",
            request -> JobEvents.response(request, served.jobs(), served.workers(), shapes));
    clients
        .limitable()
        .get("/workers", request -> workers(request, served.workers()))
        .get(
            "/workers/{id}",
            request -> Json.response(Shapes.of(worker(request, served.workers()))));
    new WorkerSocket(
            registry,
            served.workers(),
            types,
            settings.workers().token() != null,
            new WebSocket.Limits(
                settings.workers().maxFrameBytes(), MAX_TEXT_BYTES, served.maxBytes()))
        .addTo(workers);
    new PollRoutes(
            served.polled(),
            registry,
            types,
            shapes,
            new PollRoutes.Bounds(
                served.maxBytes(), settings.workers().token() != null, Clock.systemUTC()))
        .addTo(workers, holders);
    return api.routes();
  }

  /** The workers for types within the reach of the caller. */
  private static Response workers(Request request, Workers workers) {
    return Json.response(
        Json.array(
            workers.list().stream()
                .filter(worker -> Types.reaches(request, worker.type()))
                .toList(),
            Shapes::of));
  }

  private static WorkerView worker(Request request, Workers workers) {
    String id = request.parameter("id");
    return workers
        .find(id)
        .filter(worker -> Types.reaches(request, worker.type()))
        .orElseThrow(() -> HttpProblem.notFound("there is no worker " + id));
  }

  /** Defines the responses to failures of jobs. */
  public static void addErrors(ErrorResponses responses) {
    responses
        .add(InvalidJobException.class, 400)
        .add(PolicyException.class, 400)
        .add(WrongTokenException.class, 403)
        .add(JobStateException.class, 409)
        .addUnavailable(JobsException.class);
  }
}
