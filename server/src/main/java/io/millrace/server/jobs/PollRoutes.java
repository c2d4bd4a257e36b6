package io.millrace.server.jobs;

import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.PendingWait;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.LimitedBody;
import io.millrace.http.message.Response;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.PolledJobs;
import io.millrace.jobs.worker.PolledJobs.WrongTokenException;
import io.millrace.jobs.worker.Progress;
import io.millrace.jobs.worker.Registration;
import io.millrace.work.trace.TraceContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Workers that poll over HTTP instead of holding a connection. */
final class PollRoutes {
  private static final int MAX_WAIT_SECONDS = 600;
  private static final int MAX_NAME = 256;
  private static final BigDecimal WHOLE_PERCENT = BigDecimal.valueOf(100);

  private final PolledJobs jobs;
  private final JobRegistry registry;
  private final Delivery delivery;
  private final Types types;
  private final Shapes shapes;
  private final Bounds bounds;

  /**
   * What its work is bounded by.
   *
   * @param resultBytes the longest result
   * @param needsToken whether workers have a token, so that wrong ones slow their address down
   * @param clock for when something was said
   */
  record Bounds(long resultBytes, boolean needsToken, Clock clock) {}

  PollRoutes(PolledJobs jobs, JobRegistry registry, Types types, Shapes shapes, Bounds bounds) {
    this.jobs = jobs;
    this.registry = registry;
    this.delivery = new Delivery(registry, jobs);
    this.types = types;
    this.shapes = shapes;
    this.bounds = bounds;
  }

  void addTo(ApiRoutes workers, ApiRoutes holders) {
    workers
        .limitable()
        .query("wait")
        .body(Route.Body.JSON, Set.of("name", "id", "token"))
        .action("job.claim")
        .post("/worker/next", request -> next(request, types.none(request)))
        .post("/worker/next/next", request -> next(request, types.named(request, "next")))
        .post(
            "/worker/{type}/next",
            request -> next(request, types.named(request, request.parameter("type"))));
    ApiRoutes reporting = holders.limitable();
    reporting
        .query("token")
        .body(Route.Body.BYTES)
        .action("job.result")
        .post("/jobs/{key}/result", this::result);
    reporting
        .query("token")
        .body(Route.Body.JSON, Set.of("info", "logs", "failureCode", "retryAfter", "snooze"))
        .action("job.failure")
        .post("/jobs/{key}/failure", this::failure);
    reporting
        .query("token")
        .body(Route.Body.JSON, Set.of("percent", "info"))
        .action("job.progress")
        .post("/jobs/{key}/progress", this::progress);
  }

  private Response next(Request request, String type) throws IOException {
    Registration worker = registration(fields(request, WorkerSocket.MAX_REGISTRATION_BYTES));
    Duration wait = Duration.ofSeconds(request.query().integer("wait", 0, 0, MAX_WAIT_SECONDS));
    if (bounds.needsToken()) {
      request.checkPace();
    }
    Assignment assignment;
    try {
      assignment = await(request, type, worker, wait).orElse(null);
    } catch (WrongTokenException e) {
      request.wrongSecret(worker.token());
      throw e;
    }
    if (assignment == null) {
      request.changed(0, null, null);
      return Response.nothing();
    }
    note(request, assignment.job());
    return delivery.of(request, assignment);
  }

  /** The fields of the body that the route declares; others are ignored. */
  private static ObjectNode fields(Request request, int maxBytes) throws IOException {
    return Json.objectBody(request, maxBytes).retain(request.route().parameters().fields());
  }

  private Optional<Assignment> await(
      Request request, String type, Registration worker, Duration wait) {
    Thread thread = Thread.currentThread();
    try (PendingWait _ = request.beginWait(_ -> thread.interrupt())) {
      return jobs.next(type, worker, wait);
    } finally {
      // The watch may have spoken when the wait was over already.
      boolean _ = Thread.interrupted();
    }
  }

  private static Registration registration(ObjectNode body) {
    String name = Json.text("name", body.get("name"));
    String id = Json.text("id", body.get("id"));
    String token = Json.text("token", body.get("token"));
    if (name == null || name.isEmpty() || name.length() > MAX_NAME) {
      throw HttpProblem.malformed("name must be a string of 1 to " + MAX_NAME + " characters");
    }
    if (id == null) {
      throw HttpProblem.malformed("id must be a string");
    }
    return Registration.single(name, new WorkerId(id), token == null ? "" : token);
  }

  private Response result(Request request) throws IOException {
    long token = token(request);
    if (request.bodyLength() > bounds.resultBytes()) {
      throw tooLong();
    }
    LimitedBody body = new LimitedBody(request.bodyStream(), bounds.resultBytes());
    try {
      return settled(request, jobs.complete(key(request), token, body));
    } catch (IOException | RuntimeException e) {
      if (body.exceeded()) {
        throw tooLong();
      }
      throw e;
    }
  }

  private HttpProblem tooLong() {
    return HttpProblem.tooLarge("a result has at most " + bounds.resultBytes() + " bytes");
  }

  private Response failure(Request request) throws IOException {
    long token = token(request);
    ObjectNode body = request.hasBody() ? fields(request, Json.MAX_BYTES) : Json.object();
    Failure failure =
        new Failure(
            null,
            bounds.clock().millis(),
            Json.text("info", body.get("info")),
            Json.text("logs", body.get("logs")),
            Failure.Wish.of(
                Json.text("failureCode", body.get("failureCode")),
                seconds("retryAfter", body),
                seconds("snooze", body)));
    return settled(request, jobs.fail(key(request), token, failure));
  }

  private static @Nullable BigDecimal seconds(String name, ObjectNode body) {
    JsonNode value = body.get(name);
    if (value == null || value.isNull()) {
      return null;
    }
    if (!value.isNumber()) {
      throw HttpProblem.malformed(name + " must be a number of seconds, not " + value);
    }
    return value.decimalValue();
  }

  private Response progress(Request request) throws IOException {
    long token = token(request);
    ObjectNode body = fields(request, Json.MAX_BYTES);
    Double percent = percent(body.get("percent"));
    String info = Json.text("info", body.get("info"));
    if (percent == null && info == null) {
      throw HttpProblem.malformed("percent and info cannot both be null");
    }
    Progress progress = new Progress(percent, info, bounds.clock().millis());
    return settled(request, jobs.progress(key(request), token, progress));
  }

  private static @Nullable Double percent(@Nullable JsonNode value) {
    if (value == null || value.isNull()) {
      return null;
    }
    BigDecimal percent = value.isNumber() ? value.decimalValue() : BigDecimal.ONE.negate();
    if (percent.signum() >= 0 && percent.compareTo(WHOLE_PERCENT) <= 0) {
      return percent.doubleValue();
    }
    throw HttpProblem.malformed("percent must be null or a number from 0 to 100, not " + value);
  }

  /** Notes for the audit log which job it is about. */
  private static void note(Request request, Job job) {
    request.concerns(Area.TYPES, job.type());
    request.changed(1, job.id().toString(), job.id().toString());
  }

  /** The key in the path; a job out of reach of the caller is as if it were not there. */
  private String key(Request request) {
    String key = request.parameter("key");
    if (!request.caller().reach().coversEverything()
        && registry.find(key).filter(job -> Types.reaches(request, job.type())).isEmpty()) {
      throw HttpProblem.notFound("there is no job " + key);
    }
    return key;
  }

  private static long token(Request request) {
    if (request.query().text("token").isEmpty()) {
      throw HttpProblem.malformed("the parameter token must name the token of the claim");
    }
    return request.query().integer("token", 0, 0, Long.MAX_VALUE);
  }

  private Response settled(Request request, Settled settled) {
    return switch (settled) {
      case Settled.Accepted(Job job) -> {
        note(request, job);
        yield Json.response(shapes.of(job));
      }
      case Settled.Refused(String reason) -> throw new HttpProblem(409, reason);
      case Settled.Postponed(String reason) ->
          throw HttpProblem.unavailable("this cannot be stored now: " + reason, 1);
    };
  }

  /**
   * Brings a job to a worker that has asked. Where it is seen not to arrive, since the worker has
   * gone or its response cannot be written to the end, the job is offered again at once. What the
   * worker's system has taken counts as arrived.
   */
  private record Delivery(JobRegistry registry, PolledJobs jobs) {
    /** The response with the job; empty if its payload is missing, which is reported. */
    Response of(Request request, Assignment assignment) {
      Job job = assignment.job();
      InputStream payload;
      try {
        payload = registry.payload(job).orElse(null);
      } catch (RuntimeException | Error e) {
        jobs.undelivered(assignment, "its payload cannot be read: " + e.getMessage());
        throw e;
      }
      if (payload == null) {
        jobs.missing(assignment);
        return Response.nothing();
      }
      return new Response.Streamed(
          200,
          Response.BYTES,
          headers(assignment),
          job.content().payload(),
          target -> write(request, assignment, payload, target));
    }

    private void write(
        Request request, Assignment assignment, InputStream payload, OutputStream target)
        throws IOException {
      boolean arrived = false;
      NotingStream noting = new NotingStream(payload);
      try (noting) {
        if (isGone(request)) {
          throw new IOException("the worker has gone before its job could be sent");
        }
        Content.copy(noting, 0, assignment.job().content().payload(), target);
        target.flush();
        arrived = true;
      } finally {
        if (!arrived) {
          IOException unreadable = noting.failure();
          jobs.undelivered(
              assignment, unreadable == null ? null : "its payload cannot be read: " + unreadable);
        }
      }
    }

    /** Whether the worker has closed its connection while it waited. */
    private static boolean isGone(Request request) {
      AtomicBoolean gone = new AtomicBoolean();
      try (PendingWait _ =
          request.beginWait(cause -> gone.set(cause == PendingWait.Cause.CLIENT_GONE))) {
        return gone.get();
      }
    }

    private static Map<String, String> headers(Assignment assignment) {
      Map<String, String> headers = new LinkedHashMap<>();
      headers.put("Millrace-Job-Id", assignment.job().id().toString());
      headers.put(
          "Millrace-Job-Key",
          URLEncoder.encode(assignment.job().key(), StandardCharsets.UTF_8).replace("+", "%20"));
      headers.put("Millrace-Job-Token", Long.toString(assignment.claim().token()));
      if (!assignment.job().type().isEmpty()) {
        headers.put("Millrace-Job-Type", assignment.job().type());
      }
      TraceContext span = assignment.job().span(assignment.claim().token());
      if (span != null) {
        headers.putAll(span.headers());
      }
      Job.Scheduled run = assignment.job().line().scheduled();
      if (run != null) {
        headers.put("Millrace-Schedule", run.name());
        headers.put("Millrace-Nominal-Time", Instant.ofEpochMilli(run.nominalMillis()).toString());
        headers.put("Millrace-Started-At", Instant.ofEpochMilli(run.startedMillis()).toString());
      }
      return headers;
    }
  }
}
