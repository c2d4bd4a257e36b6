package io.millrace.server.jobs;

import io.millrace.blobs.BlobStore;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobsException;
import io.millrace.jobs.registry.Jobs;
import io.millrace.jobs.worker.PolledJobs;
import io.millrace.jobs.worker.Workers;
import io.millrace.server.http.Failures;
import io.millrace.server.http.HttpProblem;
import io.millrace.server.http.Routes;
import io.millrace.server.security.Pass;
import io.millrace.server.websocket.WebSocketLimits;
import java.time.Clock;

/** Mounts the job server under {@code /api}. */
public final class JobsApi {
  /** The longest text message of a worker. */
  private static final int MOST_TEXT_BYTES = 1 << 20;

  private JobsApi() {}

  /**
   * What is served.
   *
   * @param jobs the jobs
   * @param workers the workers
   * @param polled the jobs of workers that ask
   * @param blobs where payloads lie
   * @param maxBytes the longest payload and result
   */
  public record Served(
      Jobs jobs, Workers workers, PolledJobs polled, BlobStore blobs, long maxBytes) {}

  /** Adds the routes. */
  public static void mount(Routes routes, Served served, JobsSettings settings) {
    JobsSettings.Access access = settings.access();
    ApiMount mount = new ApiMount(routes, access.prefix(), keys(settings));
    JobRegistry registry = served.jobs().registry();
    Types types = new Types(served.jobs().types().all());
    Lookup lookup = new Lookup(registry);
    Shapes shapes = new Shapes(served.workers());

    types.mount(mount);
    new SubmitRoute(registry, types, served.blobs(), served.maxBytes()).mount(mount);
    new ListRoute(registry, shapes).mount(mount);
    new JobRoutes(registry, lookup, shapes).mount(mount);
    new BatchRoutes(registry, lookup, shapes).mount(mount);
    new WaitRoutes(served.jobs(), lookup, shapes).mount(mount);
    new EventsRoute(served.jobs(), served.workers(), shapes).mount(mount);
    new WorkerRoutes(served.workers()).mount(mount);
    new WorkerSocket(
            registry,
            served.workers(),
            types,
            new WebSocketLimits(
                settings.workers().maxFrameBytes(), MOST_TEXT_BYTES, served.maxBytes()))
        .mount(mount);
    new PollRoutes(
            served.polled(),
            new Delivery(registry, served.polled()),
            types,
            shapes,
            new PollRoutes.Bounds(served.maxBytes(), Clock.systemUTC()))
        .mount(mount);
  }

  /** Lets clients in by the API key alone and workers by the registration token alone. */
  public static Pass pass(JobsSettings settings) {
    return keys(settings).pass(settings.access().prefix());
  }

  private static Keys keys(JobsSettings settings) {
    return new Keys(settings.access().apiKey(), settings.workers().token());
  }

  /** Says what the failures of jobs mean to a client. */
  public static void explain(Failures failures) {
    failures.add(
        JobsException.class,
        e -> Problem.reply(HttpProblem.unavailable(String.valueOf(e.getMessage()), 1)));
  }
}
