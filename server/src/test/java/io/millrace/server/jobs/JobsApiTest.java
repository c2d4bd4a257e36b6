package io.millrace.server.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.Value;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Submission;
import io.millrace.jobs.worker.Progress;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Jobs and batches over HTTP. */
final class JobsApiTest {
  private static final String WORKER = "{\"name\": \"w\", \"id\": \"w-1\", \"token\": \"\"}";

  @TempDir private Path folder;
  private ApiServer server;

  @BeforeEach
  void start() {
    server = new ApiServer(folder, "jobs.batch-size", "2");
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private List<String> keys(String path) throws IOException, InterruptedException {
    List<String> keys = new ArrayList<>();
    server.json(path).forEach(job -> keys.add(job.get("key").asString()));
    return keys;
  }

  @Test
  void a_job_is_shown_with_all_its_fields() throws Exception {
    String id = server.submitted("a", "batch");
    server.workers.progress.put(
        JobId.parse(id).orElseThrow(), new Progress(12.5, "reticulating", 1_000));
    JsonNode job = server.json("/api/jobs/" + id);
    assertThat(job.propertyNames())
        .containsExactly(
            "id",
            "key",
            "type",
            "status",
            "display",
            "priority",
            "batchId",
            "submitted",
            "started",
            "ended",
            "workerId",
            "failures",
            "returns",
            "parent",
            "child",
            "followOn",
            "payloadSize",
            "resultSize",
            "progress");
    assertThat(job.get("type").isNull()).isTrue();
    assertThat(job.get("status").asString()).isEqualTo("pending");
    assertThat(job.get("submitted").asString()).endsWith("Z");
    assertThat(job.get("progress").toString())
        .isEqualTo("{\"percent\":12.5,\"info\":\"reticulating\",\"at\":\"1970-01-01T00:00:01Z\"}");
    assertThat(server.get("/api/jobs/none").statusCode()).isEqualTo(404);
    assertThat(server.get("/api/jobs/a/result").statusCode()).isEqualTo(404);
  }

  @Test
  void a_job_shows_when_it_runs_and_its_settings() throws Exception {
    HttpResponse<String> taken =
        server.submit(
            "/api/jobs/submit",
            "Priority",
            "batch",
            "Key",
            "later",
            "At",
            "2027-01-01T01:00:00+01:00",
            "Attempts",
            "5",
            "retry_delay",
            "1s,1m",
            "Payload",
            "x");
    assertThat(taken.statusCode()).as(taken.body()).isEqualTo(202);
    JsonNode job = server.json("/api/jobs/later");
    assertThat(job.get("status").asString()).isEqualTo("pending");
    assertThat(job.get("notBefore").asString()).isEqualTo("2027-01-01T00:00:00Z");
    assertThat(job.get("attempts").asInt()).isEqualTo(5);
    assertThat(job.get("retry_delay").asString()).isEqualTo("1s,1m");
  }

  @ParameterizedTest
  @CsvSource({
    "Delay, soon, delay must be a duration",
    "At, tomorrow, at must be a date",
    "At, 9999-01-01T00:00:00Z, at must be at most 3650 days",
    "Attempts, 0, attempts must be an integer from 1",
    "retry_factor, none, retry_factor must be a number",
    "Retries, 3, unknown field retries",
  })
  void an_invalid_setting_is_refused_by_name(String field, String text, String problem)
      throws Exception {
    HttpResponse<String> answer =
        server.submit("/api/jobs/submit", "Priority", "batch", field, text, "Payload", "x");
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains(problem);
    assertThat(server.json("/api/jobs")).isEmpty();
  }

  @Test
  void jobs_are_listed_by_filter_and_page() throws Exception {
    String id = server.submitted("a", "batch");
    server.submitted("b", "immediate");
    server.submitted("c", "batch");
    assertThat(keys("/api/jobs")).containsExactly("a", "b", "c");
    assertThat(keys("/api/jobs?limit=2")).containsExactly("a", "b");
    assertThat(keys("/api/jobs?after=" + id)).containsExactly("b", "c");
    assertThat(keys("/api/jobs?after=b&limit=1")).containsExactly("c");
    assertThat(keys("/api/jobs?priority=immediate")).containsExactly("b");
    assertThat(keys("/api/jobs?batch=2")).containsExactly("c");
    assertThat(keys("/api/jobs?status=done")).isEmpty();
    for (String wrong : List.of("status=x", "priority=1", "batch=a", "limit=-1", "after=none")) {
      HttpResponse<String> answer = server.get("/api/jobs?" + wrong);
      assertThat(answer.statusCode()).isEqualTo(400);
      assertThat(answer.body()).contains("\"problem\"");
    }
  }

  @Test
  void long_lists_come_whole_and_in_order() throws Exception {
    try (ApiServer large = new ApiServer(folder.resolve("large"), "jobs.batch-size", "1500")) {
      JobRegistry registry = large.jobs.registry();
      List<String> ids = new ArrayList<>();
      for (int i = 0; i < 1_600; i++) {
        Priority priority = i % 4 == 0 ? Priority.IMMEDIATE : Priority.BATCH;
        Submission order = new Submission("", priority, null, null);
        Value payload = new Value.Inline(new byte[0]);
        ids.add(registry.submit(registry.newId(), order, payload).id().toString());
      }
      assertThat(ids(large, "/api/jobs")).isEqualTo(ids);
      assertThat(ids(large, "/api/jobs?limit=1200&after=" + ids.get(9)))
          .isEqualTo(ids.subList(10, 1_210));
      assertThat(ids(large, "/api/jobs?priority=immediate")).hasSize(400).isSubsetOf(ids);
      assertThat(ids(large, "/api/jobs?batch=1&limit=1001&after=" + ids.get(99)))
          .isEqualTo(ids.subList(100, 1_101));
      assertThat(ids(large, "/api/batches/1/jobs")).isEqualTo(ids.subList(0, 1_500));
      assertThat(large.json("/api/batches/1").get("jobs").get("pending").asInt()).isEqualTo(1_500);
    }
  }

  private static List<String> ids(ApiServer from, String path)
      throws IOException, InterruptedException {
    List<String> ids = new ArrayList<>();
    from.json(path).forEach(job -> ids.add(job.get("id").asString()));
    return ids;
  }

  @Test
  void batches_are_shown_with_their_jobs() throws Exception {
    server.submitted("a", "batch");
    server.submitted("b", "batch");
    server.submitted("c", "batch");
    assertThat(server.json("/api/batches").size()).isEqualTo(2);
    assertThat(server.json("/api/batches?after=1&limit=1").get(0).get("id").asLong()).isEqualTo(2);
    JsonNode batch = server.json("/api/batches/1");
    assertThat(batch.get("full").asBoolean()).isTrue();
    assertThat(batch.get("jobs").get("pending").asInt()).isEqualTo(2);
    assertThat(keys("/api/batches/1/jobs")).containsExactly("a", "b");
    assertThat(server.get("/api/batches/9").statusCode()).isEqualTo(404);
    assertThat(server.get("/api/batches/x").statusCode()).isEqualTo(404);
  }

  @Test
  void jobs_are_cancelled_retried_and_deleted() throws Exception {
    server.submitted("a", "batch");
    assertThat(server.post("/api/jobs/a/retry", "").statusCode()).isEqualTo(409);
    assertThat(server.post("/api/jobs/a/cancel", "").body()).contains("\"status\":\"failed\"");
    assertThat(server.post("/api/jobs/a/cancel", "").statusCode()).isEqualTo(409);
    assertThat(server.json("/api/jobs/a/failures").size()).isEqualTo(1);
    assertThat(server.post("/api/jobs/a/retry", "").body()).contains("\"status\":\"pending\"");
    HttpResponse<String> deleted = server.post("/api/jobs/a/delete", "");
    assertThat(deleted.statusCode()).isEqualTo(202);
    assertThat(deleted.body()).isEqualTo("{\"deleted\":\"a\"}");
    assertThat(server.post("/api/jobs/a/delete", "").statusCode()).isEqualTo(404);
    server.submitted("b", "batch");
    assertThat(server.send("DELETE", "/api/jobs/b", BodyPublishers.noBody()).statusCode())
        .isEqualTo(202);
  }

  @Test
  void a_wait_ends_with_the_job_and_with_its_time() throws Exception {
    server.submitted("a", "batch");
    assertThat(server.get("/api/jobs/a/wait?timeout=0").body()).contains("pending");
    CompletableFuture<HttpResponse<String>> job =
        server
            .client()
            .sendAsync(
                HttpRequest.newBuilder(URI.create("http" + server.at("/api/jobs/a/wait"))).build(),
                BodyHandlers.ofString());
    CompletableFuture<HttpResponse<String>> batch =
        server
            .client()
            .sendAsync(
                HttpRequest.newBuilder(URI.create("http" + server.at("/api/batches/1/wait")))
                    .build(),
                BodyHandlers.ofString());
    server.jobs.registry().cancel("a");
    assertThat(job.get(30, TimeUnit.SECONDS).body()).contains("\"status\":\"failed\"");
    assertThat(batch.get(30, TimeUnit.SECONDS).body()).contains("\"failed\":1");
    assertThat(server.get("/api/jobs/a/wait?timeout=x").statusCode()).isEqualTo(400);
  }

  @Test
  void keys_and_prefix_are_asked_for_where_they_are_set() throws Exception {
    try (ApiServer guarded =
        new ApiServer(
            folder.resolve("guarded"),
            "jobs.api-key",
            "schlüssel",
            "jobs.worker.token",
            "secret",
            "jobs.path-prefix",
            "grid/")) {
      assertThat(guarded.get("/api/jobs").statusCode()).isEqualTo(401);
      assertThat(guarded.get("/api/jobs", "X-API-KEY", "other").statusCode()).isEqualTo(403);
      assertThat(guarded.post("/api/jobs/x/result?token=1", "").statusCode()).isEqualTo(401);
      assertThat(
              guarded
                  .post("/api/jobs/x/result?token=1", "", "X-WORKER-TOKEN", "secret")
                  .statusCode())
          .isEqualTo(409);
      assertThat(guarded.get("/grid/api/workers").statusCode()).isEqualTo(401);
      assertThat(guarded.post("/grid/api/worker/next", WORKER).statusCode()).isEqualTo(204);
    }
  }

  @Test
  void garbage_is_never_answered_with_500() throws Exception {
    server.submitted("a", "batch");
    Job job = server.jobs.registry().find("a").orElseThrow();
    Random random = new Random(17);
    List<String> paths =
        List.of(
            "/jobs/submit",
            "/jobs/submit/x",
            "/jobs/" + job.id() + "/progress?token=1",
            "/jobs/a/failure?token=9",
            "/jobs/%00/result?token=" + Long.MAX_VALUE,
            "/worker/next?wait=0",
            "/worker/%F0%9F%92%A9/next",
            "/jobs//delete",
            "/jobs/%2F/cancel",
            "/jobs/" + "k".repeat(300) + "/retry");
    List<String> bodies =
        List.of(
            "",
            "null",
            "{\"percent\": 1e400}",
            "{\"percent\": 1" + "0".repeat(400) + "}",
            "{\"info\": \"\\ud800\"}",
            "{\"name\": \"\\ud800\", \"id\": \"x\"}",
            "{\"name\": \"x\", \"id\": \"" + "i".repeat(300) + "\"}",
            "[".repeat(2_000),
            ApiServer.form("\u0000", "\u0000", "Payload", "x"),
            ApiServer.form("Priority", "batch", "Payload", "x", "Key", "k".repeat(257)),
            ApiServer.form("Priority", "batch", "Payload", "x", "Key", "k".repeat(9_000)),
            "--" + ApiServer.BOUNDARY + "\r\n" + "H: x\r\n".repeat(5_000),
            "--" + ApiServer.BOUNDARY + "\r\n\r\n\r\n--" + ApiServer.BOUNDARY + "--");
    for (int i = 0; i < 300; i++) {
      String path = "/api" + paths.get(random.nextInt(paths.size()));
      String body = bodies.get(random.nextInt(bodies.size()));
      HttpResponse<String> answer =
          random.nextBoolean()
              ? server.post(path, body)
              : server.form(path, BodyPublishers.ofString(body));
      assertThat(answer.statusCode()).as("%s %s: %s", path, body, answer.body()).isLessThan(500);
    }
    for (String path :
        List.of(
            "/jobs/%ff",
            "/jobs?after=%00",
            "/jobs?worker=",
            "/jobs?type=%0A",
            "/jobs/a/wait?timeout=1e9",
            "/batches/99999999999999999999",
            "/batches?limit=0",
            "/workers/%00",
            "/worker",
            "/worker/x",
            "/events?after=-")) {
      assertThat(server.get("/api" + path).statusCode()).as(path).isLessThan(500);
    }
    assertThat(server.json("/api/jobs").isArray()).isTrue();
  }
}
