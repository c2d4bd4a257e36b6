package io.millrace.server.jobs;

import io.millrace.jobs.Batch;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.JobsException.JobStateException;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.registry.JobsAccess;
import io.millrace.server.TestServer;
import io.millrace.store.TaskStore.DocumentQuery.Order;
import io.millrace.work.policy.Policy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Jobs over HTTP, with workers that ask. */
final class HttpJobs implements JobsAccess {
  private static final JsonMapper MAPPER = new JsonMapper();

  private final TestServer server;

  HttpJobs(Path folder) {
    server =
        TestServer.in(
            folder,
            "jobs.batch-size",
            "3",
            "jobs.types.first.result-becomes",
            "second",
            "jobs.types.second.description",
            "the last");
  }

  /** A request; what a client has to change about it is thrown as the registry would. */
  private HttpResponse<String> ask(String method, String path, String body) {
    HttpResponse<String> answer;
    try {
      answer = server.send(method, "/api" + path, body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
    return checked(answer);
  }

  private static HttpResponse<String> checked(HttpResponse<String> answer) {
    return switch (answer.statusCode()) {
      case 200, 202, 204, 404, 409 -> answer;
      case 400 -> throw new InvalidJobException(problem(answer));
      default -> throw new AssertionError(answer.statusCode() + ": " + answer.body());
    };
  }

  private static String problem(HttpResponse<String> answer) {
    return json(answer).required("problem").asString();
  }

  private static JsonNode json(HttpResponse<String> answer) {
    return MAPPER.readTree(answer.body());
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static String at(JobId job, String what) {
    return "/jobs/" + job + what;
  }

  private Optional<String> content(String path) {
    HttpResponse<String> answer = ask("GET", path, "");
    return answer.statusCode() == 404 ? Optional.empty() : Optional.of(answer.body());
  }

  private Optional<Job> job(HttpResponse<String> answer) {
    if (answer.statusCode() == 409) {
      throw new JobStateException(problem(answer));
    }
    return answer.statusCode() == 404 ? Optional.empty() : Optional.of(job(json(answer)));
  }

  private static Job job(JsonNode json) {
    String id = json.required("id").asString();
    String key = json.required("key").asString();
    String worker = text(json, "workerId");
    Submission order =
        new Submission(
            json.required("type").asString(),
            Priority.named(json.required("priority").asString()).orElseThrow(),
            key.equals(id) ? null : key,
            text(json, "display"),
            0,
            json.has("tags")
                ? new Policy(Map.of("tags", json.path("tags").asString()))
                : Policy.NONE);
    return new Job(
        id(id),
        order,
        JobStatus.named(json.required("status").asString()).orElseThrow(),
        json.required("batchId").asLong(),
        new Job.Times(
            Instant.parse(json.required("submitted").asString()).toEpochMilli(),
            time(json, "started"),
            time(json, "ended")),
        json.required("failures").asInt(),
        json.required("returns").asInt(),
        new Job.Hand(worker == null ? null : new WorkerId(worker), null),
        new Job.Line(idOrNull(json, "parent"), idOrNull(json, "child"), null, null),
        new Job.Content(
            json.required("payloadSize").asLong(),
            json.required("resultSize").isNull() ? null : json.required("resultSize").asLong()),
        new Job.Place(0, 0, null, 0));
  }

  private static JobId id(String text) {
    return JobId.parse(text).orElseThrow();
  }

  private static @Nullable String text(JsonNode json, String field) {
    JsonNode value = json.required(field);
    return value.isNull() ? null : value.asString();
  }

  private static @Nullable Long time(JsonNode json, String field) {
    String text = text(json, field);
    return text == null ? null : (Long) Instant.parse(text).toEpochMilli();
  }

  private static @Nullable JobId idOrNull(JsonNode json, String field) {
    String text = text(json, field);
    return text == null ? null : id(text);
  }

  private static List<Job> jobs(HttpResponse<String> answer) {
    List<Job> jobs = new ArrayList<>();
    json(answer).forEach(each -> jobs.add(job(each)));
    return jobs;
  }

  @Override
  public Job submit(Submission order, String payload) {
    List<String> form = new ArrayList<>(List.of("Priority", order.priority().word()));
    if (order.key() != null) {
      form.addAll(List.of("Key", order.key()));
    }
    if (order.description() != null) {
      form.addAll(List.of("Description", order.description()));
    }
    order.policy().fields().forEach((field, text) -> form.addAll(List.of(field, text)));
    form.addAll(List.of("Payload", payload));
    String path = order.type().isEmpty() ? "" : "/" + order.type();
    try {
      HttpResponse<String> answer =
          checked(server.submit("/api/jobs/submit" + path, form.toArray(String[]::new)));
      return find(json(answer).required("id").asString()).orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  @Override
  public Optional<Job> find(String keyOrId) {
    return job(ask("GET", "/jobs/" + encoded(keyOrId), ""));
  }

  @Override
  public List<Job> list(JobFilter filter, @Nullable JobId after, int limit, Order order) {
    StringBuilder query = new StringBuilder("?limit=").append(limit);
    add(query, "order", order == Order.ASCENDING ? "oldest" : "newest");
    add(query, "text", filter.text());
    add(query, "after", after);
    add(query, "type", filter.type());
    add(query, "status", filter.status());
    add(query, "priority", filter.priority());
    add(query, "batch", filter.batch());
    add(query, "worker", filter.worker());
    return jobs(ask("GET", "/jobs" + query, ""));
  }

  private static void add(StringBuilder query, String name, @Nullable Object value) {
    if (value != null) {
      String text =
          value instanceof Enum<?> word ? word.name().toLowerCase(Locale.ROOT) : "" + value;
      query.append('&').append(name).append('=').append(encoded(text));
    }
  }

  @Override
  public Optional<String> payload(JobId job) {
    return content(at(job, "/payload"));
  }

  @Override
  public Optional<String> result(JobId job) {
    return content(at(job, "/result"));
  }

  @Override
  public List<Failure> failures(JobId job) {
    List<Failure> failures = new ArrayList<>();
    for (JsonNode each : json(ask("GET", at(job, "/failures"), ""))) {
      String worker = text(each, "workerId");
      failures.add(
          new Failure(
              worker == null ? null : new WorkerId(worker),
              Instant.parse(each.required("at").asString()).toEpochMilli(),
              text(each, "info"),
              text(each, "logs")));
    }
    return failures;
  }

  @Override
  public boolean delete(String keyOrId) {
    return ask("POST", "/jobs/" + encoded(keyOrId) + "/delete", "").statusCode() == 202;
  }

  @Override
  public Optional<Job> cancel(String keyOrId) {
    return job(ask("POST", "/jobs/" + encoded(keyOrId) + "/cancel", ""));
  }

  @Override
  public Optional<Job> retry(String keyOrId) {
    return job(ask("POST", "/jobs/" + encoded(keyOrId) + "/retry", ""));
  }

  @Override
  public Optional<Batch> batch(long id) {
    return content("/batches/" + id).map(MAPPER::readTree).map(HttpJobs::batch);
  }

  private static Batch batch(JsonNode json) {
    return new Batch(
        json.required("id").asLong(),
        json.required("type").asString(),
        json.required("size").asInt(),
        json.required("capacity").asInt());
  }

  @Override
  public List<Batch> batches(long after, int limit, Order order) {
    List<Batch> batches = new ArrayList<>();
    String query =
        "after="
            + after
            + "&limit="
            + limit
            + "&order="
            + (order == Order.ASCENDING ? "oldest" : "newest");
    json(ask("GET", "/batches?" + query, "")).forEach(each -> batches.add(batch(each)));
    return batches;
  }

  @Override
  public List<Job> jobsOf(long batch) {
    return jobs(ask("GET", "/batches/" + batch + "/jobs", ""));
  }

  @Override
  public Optional<Taken> take(String type, WorkerId worker) {
    String body =
        MAPPER
            .createObjectNode()
            .put("name", "a worker")
            .put("id", worker.text())
            .put("token", "")
            .toString();
    HttpResponse<String> answer = ask("POST", "/worker/" + type + "/next", body);
    return answer.statusCode() == 204
        ? Optional.empty()
        : Optional.of(
            new Taken(
                id(answer.headers().firstValue("Millrace-Job-Id").orElseThrow()),
                answer.headers().firstValueAsLong("Millrace-Job-Token").orElseThrow()));
  }

  private Settled settle(Taken attempt, String outcome, String body) {
    HttpResponse<String> answer =
        ask("POST", at(attempt.job(), outcome) + "?token=" + attempt.token(), body);
    return answer.statusCode() == 200
        ? new Settled.Accepted(job(json(answer)))
        : new Settled.Refused(problem(answer));
  }

  @Override
  public Settled complete(Taken attempt, String result) {
    return settle(attempt, "/result", result);
  }

  @Override
  public Settled fail(Taken attempt, String info, String logs) {
    return settle(
        attempt,
        "/failure",
        MAPPER.createObjectNode().put("info", info).put("logs", logs).toString());
  }

  @Override
  public long blobs() {
    try (var all = server.server().blobs().list("")) {
      return all.count();
    }
  }

  @Override
  public void close() {
    server.close();
  }
}
