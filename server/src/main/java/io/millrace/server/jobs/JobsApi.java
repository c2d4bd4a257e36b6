package io.millrace.server.jobs;

import io.millrace.blobs.BlobStore;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Role;
import io.millrace.http.ErrorReplies;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.Reply;
import io.millrace.http.websocket.WebSocket;
import io.millrace.jobs.InvalidJobException;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobStateException;
import io.millrace.jobs.JobsException;
import io.millrace.jobs.registry.Jobs;
import io.millrace.jobs.worker.PolledJobs;
import io.millrace.jobs.worker.Workers;
import io.millrace.jobs.worker.WrongTokenException;
import java.time.Clock;
import java.util.List;

/** The job server under {@code /api}. */
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

  /** Errors as GridLike has them, {@code problem}, and as elsewhere, {@code error}. */
  private static final ErrorForm ERRORS =
      problem ->
          new Reply.Whole(
              problem.status(),
              Reply.JSON,
              problem.headers(),
              Json.bytes(
                  Json.object().put("problem", problem.message()).put("error", problem.message())));

  /** The routes, below the configured prefix too. */
  public static List<Route> routes(Served served, JobsSettings settings) {
    JobsSettings.Access access = settings.access();
    Keys keys = new Keys(access.apiKey(), settings.workers().token());
    ApiRoutes api =
        access.prefix().isEmpty()
            ? ApiRoutes.below("/api")
            : ApiRoutes.below("/api", access.prefix() + "/api");
    ApiRoutes clients = api.errors(ERRORS).credentials(keys.clients());
    ApiRoutes holders = api.errors(ERRORS).credentials(keys.holders()).role(Role.WORKER);
    ApiRoutes workers = api.errors(ERRORS).credentials(keys.workers()).role(Role.WORKER);
    JobRegistry registry = served.jobs().registry();
    Types types = new Types(served.jobs().types().all());
    Lookup lookup = new Lookup(registry);
    Shapes shapes = new Shapes(served.workers());

    types.addTo(clients);
    new SubmitRoute(registry, types, served.blobs(), served.maxBytes()).addTo(clients);
    new JobRoutes(registry, lookup, shapes).addTo(clients);
    new BatchRoutes(registry, lookup, shapes).addTo(clients);
    new WaitRoutes(served.jobs(), lookup, shapes).addTo(clients);
    clients
        .query("type", "status", "priority", "batch", "worker", "after")
        .get(
            "/events",
            request -> JobEvents.reply(request, served.jobs(), served.workers(), shapes));
    new WorkerRoutes(served.workers()).addTo(clients);
    new WorkerSocket(
            registry,
            served.workers(),
            types,
            new WebSocket.Limits(
                settings.workers().maxFrameBytes(), MOST_TEXT_BYTES, served.maxBytes()))
        .addTo(workers);
    new PollRoutes(
            served.polled(),
            new Delivery(registry, served.polled()),
            types,
            shapes,
            new PollRoutes.Bounds(served.maxBytes(), Clock.systemUTC()))
        .addTo(workers, holders);
    return api.routes();
  }

  /** Says what the failures of jobs mean to a client. */
  public static void addErrorReplies(ErrorReplies replies) {
    replies
        .add(InvalidJobException.class, 400)
        .add(WrongTokenException.class, 403)
        .add(JobStateException.class, 409)
        .addUnavailable(JobsException.class);
  }
}
