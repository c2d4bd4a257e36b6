package io.millrace.server.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.archive.Archive;
import io.millrace.archive.ArchiveRow;
import io.millrace.archive.ArchiveTable;
import io.millrace.database.DatabaseAddress;
import io.millrace.http.json.Json;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.registry.Jobs;
import io.millrace.queues.Queue;
import io.millrace.queues.registry.Queues;
import io.millrace.server.TestServer;
import io.millrace.work.DocumentChanges;
import io.millrace.work.DocumentChanges.Changed;
import java.io.ByteArrayInputStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The routes under /archive, and that finished jobs get there by themselves. */
final class ArchiveApiTest {
  private static final long NOON = Instant.parse("2026-06-01T12:00:00Z").toEpochMilli();
  private static final String LARGE = "019b0000-0000-7000-8000-00000000000f";

  @TempDir private Path folder;
  private TestServer server;
  private Queue mail;

  @BeforeEach
  void start() {
    server =
        TestServer.in(
            folder,
            "jobs.types.mail.settings",
            "keep_count=0",
            "jobs.types.image.description",
            "i");
    Queues queues = Queues.in(server.server().store(), Clock.systemUTC(), new Random(7));
    mail = queues.queues().create("mail", "shell", Queue.Settings.DEFAULTS);
    server.server().blobs().put(LARGE + ".job", stream("in the blob"));
    try (Archive archive = Archive.at(DatabaseAddress.file(folder.resolve("store/archive.db")))) {
      List<ArchiveRow> jobs = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        jobs.add(
            job("019b0000-0000-7000-8000-00000000000" + i, i)
                .put("job_key", i < 2 ? "same key" : "key-" + i)
                .put("payload", ("in " + i).getBytes(StandardCharsets.UTF_8))
                .put("payload_bytes", 4L)
                .put("document", "{\"description\": \"no " + i + "\"}")
                .build());
      }
      jobs.add(job(LARGE, 9).put("payload_bytes", 11L).put("type", "image").build());
      archive.put(jobs);
      archive.put(
          List.of(
              node(1, "1", "finished", "[]"),
              node(2, "1", "failed", "[\"1\"]"),
              node(3, "1", "blocked", "[\"2\"]"),
              node(4, "4", "finished", "[]")));
      archive.put(List.of(task(1, mail.id().hex(), "mail"), task(2, "b".repeat(24), "gone")));
    }
  }

  private static ByteArrayInputStream stream(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  private static ArchiveRow.Builder job(String id, int number) {
    return ArchiveRow.of(ArchiveTable.JOBS, id)
        .put("type", "mail")
        .put("status", number % 2 == 0 ? "done" : "failed")
        .put("priority", "batch")
        .put("batch", 1L + number / 3)
        .put("finished", NOON + number)
        .put("archived", NOON);
  }

  private static ArchiveRow task(int number, String queue, String name) {
    return ArchiveRow.of(ArchiveTable.TASKS, "a".repeat(23) + number)
        .put("queue_id", queue)
        .put("queue", name)
        .put("status", (long) number)
        .put("finished", NOON + number)
        .put("archived", NOON)
        .put("document", "{\"params\": {\"n\": " + number + "}}")
        .build();
  }

  private static ArchiveRow node(int id, String graph, String state, String parents) {
    return ArchiveRow.of(ArchiveTable.GRAPHS, Integer.toString(id))
        .put("graph", graph)
        .put("name", "node " + id)
        .put("type", id == 4 ? "group" : "command")
        .put("state", state)
        .put("finished", NOON + id)
        .put("archived", NOON)
        .put("parents", parents)
        .put(
            "document",
            "{\"data\": {\"note\": {\"value\": \"text " + id + "\", \"view\": \"v1\"}}}")
        .build();
  }

  @AfterEach
  void close() {
    server.close();
  }

  private JsonNode get(String path) throws Exception {
    HttpResponse<String> response = server.get("/archive" + path);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return json(response);
  }

  private static JsonNode json(HttpResponse<String> response) {
    return Json.read(response.body().getBytes(StandardCharsets.UTF_8));
  }

  private List<String> ids(String path) throws Exception {
    JsonNode answer = get(path);
    JsonNode rows =
        answer.path(answer.has("jobs") ? "jobs" : answer.has("tasks") ? "tasks" : "graphs");
    return rows.valueStream()
        .map(row -> row.path("id").asString())
        .map(id -> id.substring(id.length() - 1))
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    "/jobs, f43210",
    "/jobs?order=oldest, 01234f",
    "/jobs?limit=2, f4",
    "/jobs?status=failed, f31",
    "/jobs?status=failed&type=mail, 31",
    "/jobs?type=image&type=mail&batch=2, 43",
    "/jobs?key=same+key, 10",
    "/jobs?since=2026-06-01T12:00:00.003Z&until=2026-06-01T12:00:00.009Z, 43",
    "/jobs?worker=w, ''",
    "/graphs, 4321",
    "/graphs?graph=1&order=oldest, 123",
    "/graphs?below=2, 32",
    "/graphs?below=2&state=failed, 2",
    "/graphs?below=1&limit=2, 32",
    "/graphs?below=9, ''",
    "/graphs?type=group, 4",
    "/graphs?name=node+3, 3",
    "/graphs?since=2026-06-01T12:00:00.003Z, 43",
    "/tasks, 21",
    "/tasks?queue=mail, 1",
    "/tasks?queue=gone, 2",
    "'/tasks?status=2,7', 2"
  })
  void filters_choose_what_is_listed(String path, String expected) throws Exception {
    assertThat(String.join("", ids(path))).isEqualTo(expected);
  }

  @Test
  void pages_follow_one_another() throws Exception {
    List<String> read = new ArrayList<>(ids("/jobs?limit=4"));
    String next = get("/jobs?limit=4").path("next").asString();
    read.addAll(ids("/jobs?limit=4&after=" + next));
    assertThat(read).containsExactly("f", "4", "3", "2", "1", "0");
    assertThat(get("/jobs?limit=4&after=" + next).path("next").isNull()).isTrue();
  }

  @Test
  void one_is_shown_with_its_document_and_its_bytes() throws Exception {
    JsonNode shown = get("/jobs/same%20key");
    assertThat(shown.path("id").asString()).endsWith("1");
    assertThat(shown.path("finished").asString()).isEqualTo("2026-06-01T12:00:00.001Z");
    assertThat(shown.at("/document/description").asString()).isEqualTo("no 1");
    assertThat(shown.has("payload")).isFalse();
    assertThat(
            get("/jobs?full=true&limit=1&key=key-4").at("/jobs/0/document/description").asString())
        .isEqualTo("no 4");
    assertThat(server.get("/archive/jobs/key-4/payload").body()).isEqualTo("in 4");
    assertThat(server.get("/archive/jobs/" + LARGE + "/payload").body()).isEqualTo("in the blob");
    assertThat(server.get("/archive/jobs/key-4/result").statusCode()).isEqualTo(404);
    assertThat(get("/tasks/" + "a".repeat(23) + "2").at("/document/params/n").asInt()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({
    "/jobs?colour=red, 400, unknown parameter",
    "/jobs?status=pending, 400, done or failed",
    "/jobs?priority=x, 400, immediate or batch",
    "/jobs?batch=x, 400, whole number",
    "/jobs?since=yesterday, 400, since must be",
    "/jobs?after=1, 400, the field next",
    "/jobs?order=up, 400, newest or oldest",
    "/jobs?limit=1001, 400, from 1 to 1000",
    "/jobs?full=true&limit=101, 400, from 1 to 100",
    "/tasks?status=done, 400, whole numbers",
    "/tasks/x, 404, no archived task",
    "/jobs/x, 404, no archived job",
    "/graphs?state=running, 400, nodes that have ended",
    "/graphs?queue=x, 400, unknown parameter",
    "/graphs/9, 404, no archived node",
    "/graphs/2/data/none, 404, none",
    "/graphs/2/data/note?slot=-1, 400, slot",
    "/graphs/x/y, 404, ''"
  })
  void what_is_wrong_is_named(String path, int status, String message) throws Exception {
    HttpResponse<String> response = server.get("/archive" + path);
    assertThat(response.statusCode()).isEqualTo(status);
    assertThat(response.body()).contains(message);
  }

  @Test
  void a_node_is_shown_with_its_data() throws Exception {
    JsonNode shown = get("/graphs/3");
    assertThat(shown.path("state").asString()).isEqualTo("blocked");
    assertThat(shown.at("/parents/0").asString()).isEqualTo("2");
    assertThat(shown.at("/document/data/note/value").asString()).isEqualTo("text 3");
    JsonNode page = get("/graphs/3/data/note");
    assertThat(page.path("data").asString()).isEqualTo("text 3");
    assertThat(page.path("next").isNull()).isTrue();
  }

  @Test
  @Timeout(60)
  void a_graph_that_has_ended_moves_to_the_archive_by_itself() throws Exception {
    HttpResponse<String> added =
        server.post(
            "/v1/nodes",
            """
            [{"metadata": {"type": "group"}, "data": {"keep_finished": "0s", "note": "mine"}},
             {"metadata": {"type": "group"}, "data": {"keep_finished": "1d"}}]
            """);
    String gone = json(added).at("/0/id").asString();
    String stays = json(added).at("/1/id").asString();
    while (server.get("/v1/nodes/" + gone).statusCode() != 404) {
      LockSupport.parkNanos(5_000_000);
    }
    assertThat(get("/graphs/" + gone).path("state").asString()).isEqualTo("finished");
    assertThat(get("/graphs/" + gone + "/data/note").path("data").asString()).isEqualTo("mine");
    assertThat(server.get("/v1/nodes/" + stays).statusCode()).isEqualTo(200);
    assertThat(get("/graphs?since=2026-06-02T00:00:00Z").path("graphs")).hasSize(1);
  }

  @Test
  void how_long_jobs_of_a_type_stay_is_set_while_the_server_runs() throws Exception {
    JsonNode listed = json(server.get("/retention/jobs")).path("types");
    assertThat(listed.valueStream().map(each -> each.path("type").asString()))
        .containsExactly("image", "mail");
    HttpResponse<String> set = put("image", "{\"keep_finished\": \"7d\", \"keep_count\": 10}");
    assertThat(set.statusCode()).as(set.body()).isEqualTo(200);
    assertThat(json(server.get("/retention/jobs")).at("/types/0/keep_count").asInt()).isEqualTo(10);
    assertThat(put("image", "{\"keep_finished\": \"soon\"}").statusCode()).isEqualTo(400);
    assertThat(put("image", "{\"keep_count\": -1}").statusCode()).isEqualTo(400);
    assertThat(put("image", "{\"keep_count\": \"1\"}").statusCode()).isEqualTo(400);
    assertThat(put("image", "{}").statusCode()).isEqualTo(400);
    assertThat(put("image", "{\"colour\": 1}").statusCode()).isEqualTo(400);
    assertThat(put("none", "{\"keep_count\": 1}").statusCode()).isEqualTo(404);
    assertThat(server.send("DELETE", "/retention/jobs/image", "").statusCode()).isEqualTo(200);
    assertThat(server.send("DELETE", "/retention/jobs/image", "").statusCode()).isEqualTo(404);
  }

  private HttpResponse<String> put(String type, String body) throws Exception {
    return server.send("PUT", "/retention/jobs/" + type, body, "Content-Type", "application/json");
  }

  @Test
  void a_caller_with_a_reach_sees_what_is_within_it() throws Exception {
    String key =
        json(server.post(
                "/access/principals",
                """
                {"name": "ann", "roles": ["viewer"], "key": {},
                 "reach": {"queues": ["mail"], "types": ["mail"], "graph": ["2"]}}
                """))
            .at("/key/key")
            .asString();
    String[] header = {"Authorization", "Bearer " + key};
    assertThat(json(server.get("/archive/jobs", header)).path("jobs")).hasSize(5);
    assertThat(server.get("/archive/jobs/" + LARGE, header).statusCode()).isEqualTo(404);
    assertThat(server.get("/archive/jobs/" + LARGE + "/payload", header).statusCode())
        .isEqualTo(404);
    assertThat(json(server.get("/archive/graphs", header)).path("graphs")).hasSize(2);
    assertThat(server.get("/archive/graphs/1", header).statusCode()).isEqualTo(404);
    assertThat(server.get("/archive/graphs/3/data/note", header).statusCode()).isEqualTo(200);
    assertThat(json(server.get("/archive/tasks", header)).path("tasks")).hasSize(1);
    assertThat(server.get("/archive/tasks/" + "a".repeat(23) + "2", header).statusCode())
        .isEqualTo(404);
  }

  @Test
  void a_job_that_has_ended_moves_to_the_archive_by_itself() throws Exception {
    Jobs jobs =
        Jobs.open(
            server.server().store(),
            server.server().blobs(),
            JobTypes.of(List.of(new JobType("mail", null, null), new JobType("image", "i", null))),
            Jobs.Options.DEFAULTS,
            new Jobs.Environment(Clock.systemUTC(), new Random(8)));
    try (DocumentChanges<JobChange> changes = jobs.changes(null)) {
      assertThat(
              server
                  .submit(
                      "/api/jobs/submit/mail", "Priority", "batch", "Key", "new", "Payload", "p")
                  .body())
          .contains("created");
      assertThat(server.post("/api/jobs/new/cancel", "").statusCode()).isEqualTo(200);
      boolean gone = false;
      while (!gone) {
        Changed<JobChange> changed =
            Objects.requireNonNull(changes.next(Duration.ofSeconds(30)), "no change");
        gone = changed.events().stream().anyMatch(change -> change.present() == null);
      }
    }
    assertThat(server.get("/api/jobs/new").statusCode()).isEqualTo(404);
    assertThat(get("/jobs/new").path("status").asString()).isEqualTo("failed");
    assertThat(server.get("/archive/jobs/new/payload").body()).isEqualTo("p");
    assertThat(server.get("/metrics").body())
        .contains(
            "millrace_archive_items_total{kind=\"jobs\"} 1.0", "millrace_archive_available 1.0");
  }
}
