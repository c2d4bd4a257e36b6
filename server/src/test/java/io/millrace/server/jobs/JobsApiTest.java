package io.millrace.server.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.Value;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.Advances.Advance;
import io.millrace.jobs.worker.Progress;
import io.millrace.jobs.worker.WorkerState;
import io.millrace.jobs.worker.WorkerView;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Jobs, batches, workers and the long poll over HTTP. */
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

  private String submit(String key, String priority) throws IOException, InterruptedException {
    HttpResponse<String> answer =
        server.submit(
            "/api/jobs/submit", "Key", key, "Payload", "p of " + key, "Priority", priority);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
    return Json.MAPPER.readTree(answer.body()).get("id").asString();
  }

  private List<String> keys(String path) throws IOException, InterruptedException {
    List<String> keys = new ArrayList<>();
    server.json(path).forEach(job -> keys.add(job.get("key").asString()));
    return keys;
  }

  private HttpResponse<String> next() throws IOException, InterruptedException {
    return server.post("/api/worker/next", WORKER);
  }

  private static String header(HttpResponse<String> answer, String name) {
    return answer.headers().firstValue(name).orElse("");
  }

  @Test
  void a_job_is_shown_with_all_its_fields() throws Exception {
    String id = submit("a", "batch");
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
            "parent",
            "child",
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
  void jobs_are_listed_by_filter_and_page() throws Exception {
    String id = submit("a", "batch");
    submit("b", "immediate");
    submit("c", "batch");
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
    submit("a", "batch");
    submit("b", "batch");
    submit("c", "batch");
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
    submit("a", "batch");
    assertThat(server.post("/api/jobs/a/retry", "").statusCode()).isEqualTo(409);
    assertThat(server.post("/api/jobs/a/cancel", "").body()).contains("\"status\":\"failed\"");
    assertThat(server.post("/api/jobs/a/cancel", "").statusCode()).isEqualTo(409);
    assertThat(server.json("/api/jobs/a/failures").size()).isEqualTo(1);
    assertThat(server.post("/api/jobs/a/retry", "").body()).contains("\"status\":\"pending\"");
    HttpResponse<String> deleted = server.post("/api/jobs/a/delete", "");
    assertThat(deleted.statusCode()).isEqualTo(202);
    assertThat(deleted.body()).isEqualTo("{\"deleted\":\"a\"}");
    assertThat(server.post("/api/jobs/a/delete", "").statusCode()).isEqualTo(404);
    submit("b", "batch");
    assertThat(server.send("DELETE", "/api/jobs/b", BodyPublishers.noBody()).statusCode())
        .isEqualTo(202);
  }

  @Test
  void a_worker_that_asks_gets_a_job_and_gives_its_result() throws Exception {
    submit("ü", "batch");
    HttpResponse<String> job = next();
    assertThat(job.statusCode()).isEqualTo(200);
    assertThat(job.body()).isEqualTo("p of ü");
    assertThat(header(job, "Millrace-Job-Key")).isEqualTo("%C3%BC");
    String path = "/api/jobs/" + header(job, "Millrace-Job-Id");
    String token = "?token=" + header(job, "Millrace-Job-Token");
    assertThat(next().statusCode()).isEqualTo(204);
    assertThat(server.post(path + "/progress" + token, "{\"percent\": 50}").statusCode())
        .isEqualTo(200);
    assertThat(server.post(path + "/progress" + token, "{}").statusCode()).isEqualTo(400);
    assertThat(server.post(path + "/progress" + token, "{\"percent\": 101}").statusCode())
        .isEqualTo(400);
    assertThat(server.post(path + "/result?token=1", "late").statusCode()).isEqualTo(409);
    assertThat(server.post(path + "/result", "no token").statusCode()).isEqualTo(400);
    HttpResponse<String> done = server.post(path + "/result" + token, "r".repeat(10_000));
    assertThat(done.body()).contains("\"status\":\"done\"").contains("\"resultSize\":10000");
    assertThat(server.get(path + "/result").body()).hasSize(10_000);
    assertThat(server.get(path + "/result", "Range", "bytes=0-4").body()).isEqualTo("rrrrr");
  }

  @Test
  void a_job_that_came_when_its_worker_went_is_offered_again() throws Exception {
    String id = submit("a", "batch");
    try (Socket worker = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      worker
          .getOutputStream()
          .write(
              ("POST /api/worker/next?wait=30 HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                      + WORKER.length()
                      + "\r\n\r\n"
                      + WORKER)
                  .getBytes(StandardCharsets.US_ASCII));
    }
    Assignment undelivered = server.polled.undelivered.poll(25, TimeUnit.SECONDS);
    assertThat(undelivered).isNotNull();
    assertThat(undelivered.job().id()).hasToString(id);
  }

  @Test
  void a_job_whose_payload_is_lost_is_told_apart_from_one_that_did_not_arrive() throws Exception {
    server.submit(
        "/api/jobs/submit", "Key", "k", "Priority", "batch", "Payload", "x".repeat(100_000));
    Job job = server.jobs.registry().find("k").orElseThrow();
    server.blobs.delete(JobRegistry.payloadName(job.id()));
    assertThat(server.post("/api/worker/next", WORKER).statusCode()).isEqualTo(204);
    assertThat(server.polled.missing).extracting(each -> each.job().key()).containsExactly("k");
    assertThat(server.polled.undelivered).isEmpty();
  }

  @Test
  void a_worker_that_asks_wrongly_is_told_so() throws Exception {
    for (String body : List.of("", "[]", "{}", "{\"name\": 1}", "{\"name\": \"w\"}", "{\"name\"")) {
      assertThat(server.post("/api/worker/next", body).statusCode()).as(body).isEqualTo(400);
    }
    assertThat(server.post("/api/worker/next", "{\"name\"").body())
        .contains("the body is not JSON", "line 1, column")
        .doesNotContain("Source");
    assertThat(server.post("/api/worker/next?wait=601", WORKER).statusCode()).isEqualTo(400);
    assertThat(server.post("/api/worker/x/next", WORKER).statusCode()).isEqualTo(400);
    assertThat(
            server
                .post("/api/worker/next", "{\"name\": \"w\", \"id\": \"w\", \"token\": \"wrong\"}")
                .statusCode())
        .isEqualTo(403);
  }

  @Test
  void a_wait_ends_with_the_job_and_with_its_time() throws Exception {
    submit("a", "batch");
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
  void changes_are_streamed_and_resumed() throws Exception {
    List<String> ids = new ArrayList<>();
    try (Stream<String> events = events()) {
      Iterator<String> lines = events.iterator();
      assertThat(find(lines, "event: ")).isEqualTo("event: start");
      submit("a", "batch");
      assertThat(find(lines, "event: ")).isEqualTo("event: job");
      ids.add(find(lines, "id: ").substring(4));
      assertThat(find(lines, "data: ")).contains("\"key\":\"a\"");
      server.post("/api/jobs/a/delete", "");
      assertThat(find(lines, "event: ")).isEqualTo("event: deleted");
    }
    try (Stream<String> events = events("Last-Event-ID", ids.getFirst())) {
      Iterator<String> lines = events.iterator();
      assertThat(find(lines, "event: ")).isEqualTo("event: start");
      assertThat(find(lines, "event: ")).isEqualTo("event: deleted");
    }
    assertThat(server.get("/api/events", "Last-Event-ID", "x").statusCode()).isEqualTo(400);
  }

  @Test
  void progress_is_streamed_as_it_stands_at_first_and_then_as_it_comes() throws Exception {
    submit("a", "immediate");
    submit("b", "batch");
    Job a = server.jobs.registry().find("a").orElseThrow();
    Job b = server.jobs.registry().find("b").orElseThrow();
    server.workers.said.add(new Advance(a, new Progress(25.0, null, 1_000)));
    try (Stream<String> events = eventsAt("/api/events?priority=immediate")) {
      Iterator<String> lines = events.iterator();
      assertThat(find(lines, "event: ")).isEqualTo("event: start");
      assertThat(find(lines, "event: ")).isEqualTo("event: progress");
      assertThat(lines.next())
          .isEqualTo(
              "data: {\"id\":\""
                  + a.id()
                  + "\",\"key\":\"a\",\"progress\":{\"percent\":25.0,\"info\":null,"
                  + "\"at\":\"1970-01-01T00:00:01Z\"}}");
      server.workers.said.add(new Advance(b, new Progress(1.0, "not wanted", 1_000)));
      server.workers.said.add(new Advance(a, new Progress(null, "nearly", 2_000)));
      assertThat(find(lines, "data: ")).contains("\"info\":\"nearly\"");
    }
  }

  private Stream<String> events(String... headers) throws IOException, InterruptedException {
    return eventsAt("/api/events", headers);
  }

  private Stream<String> eventsAt(String path, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http" + server.at(path)));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return server.client().send(request.build(), BodyHandlers.ofLines()).body();
  }

  private static String find(Iterator<String> lines, String start) {
    String line = lines.next();
    while (!line.startsWith(start)) {
      line = lines.next();
    }
    return line;
  }

  @Test
  void workers_are_listed() throws Exception {
    server.workers.listed.add(
        new WorkerView(
            new WorkerId("m/1"),
            "machine",
            "",
            WorkerState.READY,
            List.of(),
            new WorkerView.Tally(3, 1),
            new WorkerView.Seen(1_000, 2_000)));
    JsonNode worker = server.json("/api/workers/m%2F1");
    assertThat(worker).isEqualTo(server.json("/api/workers").get(0));
    assertThat(worker.get("state").asString()).isEqualTo("ready");
    assertThat(worker.get("succeeded").asInt()).isEqualTo(3);
    assertThat(worker.get("lastSeen").asString()).isEqualTo("1970-01-01T00:00:02Z");
    assertThat(server.get("/api/workers/x").statusCode()).isEqualTo(404);
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
    submit("a", "batch");
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
