package io.millrace.server.schedules;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import io.millrace.server.TestServer;
import io.millrace.server.queues.Dci;
import io.millrace.store.Document;
import io.millrace.work.Watch;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Schedules over HTTP, with a queue that no node serves. */
final class SchedulesApiTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @TempDir private Path folder = Path.of("");
  private TestServer server;
  private Queues queues;

  @BeforeEach
  void start() {
    open();
    var _ = queues.queues().create("work", "own", Queue.Settings.DEFAULTS);
  }

  private void open() {
    server = TestServer.in(folder);
    queues = Queues.in(server.server().store(), Clock.systemUTC(), new Random(7));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private HttpResponse<String> send(String method, String path, String body)
      throws IOException, InterruptedException {
    return server.send(
        method, "/schedules" + path, body.replace('\'', '"'), "Content-Type", Dci.JSON);
  }

  private JsonNode ok(String method, String path, String body)
      throws IOException, InterruptedException {
    return Dci.ok(send(method, path, body));
  }

  private static String daily(String more) {
    return "{'times': [{'cron': '30 2 * * *'}], 'zone': 'Europe/Berlin',"
        + " 'target': {'queue': 'work', 'params': {'command': 'true'}}"
        + more
        + "}";
  }

  /** The first task of the queue, once there is one. */
  private QueueTask firstTask() throws InterruptedException {
    try (Watch.Changes<ObjectId, QueueTask> changes = queues.changes()) {
      QueueTask[] found = new QueueTask[1];
      queues.tasks().each(task -> found[0] = task);
      while (found[0] == null) {
        changes.next(PATIENCE, _ -> true).values().forEach(task -> found[0] = task);
      }
      return found[0];
    }
  }

  /** The schedule, once its first result is there. */
  private JsonNode withResult(String name) throws IOException, InterruptedException {
    return withResults(name, 1);
  }

  /** The schedule, once it has so many results. */
  private JsonNode withResults(String name, int count) throws IOException, InterruptedException {
    try (Watch.Changes<String, Document> changes =
        Watch.documents(server.server().store(), "schedules.states", key -> key, state -> state)) {
      JsonNode shown = ok("GET", "/" + name, "");
      while (shown.path("results").size() < count) {
        assertThat(changes.next(PATIENCE, name::equals)).isNotEmpty();
        shown = ok("GET", "/" + name, "");
      }
      return shown;
    }
  }

  @Test
  void a_schedule_is_created_shown_changed_and_deleted() throws IOException, InterruptedException {
    JsonNode created = ok("PUT", "/nightly", daily(""));
    assertThat(created.path("missed").asString()).isEqualTo("last");
    assertThat(created.path("overlap").asString()).isEqualTo("skip");
    assertThat(created.path("next")).hasSize(10);
    assertThat(created.path("due")).isEqualTo(created.path("next").path(0));
    assertThat(created.path("paused").isNull()).isTrue();
    ok("PUT", "/nightly", daily(", 'overlap': 'allow', 'jitter': '30s'"));
    JsonNode shown = ok("GET", "/nightly", "");
    assertThat(shown.path("overlap").asString()).isEqualTo("allow");
    assertThat(shown.path("created")).isEqualTo(created.path("created"));
    assertThat(ok("DELETE", "/nightly", "").path("deleted").asString()).isEqualTo("nightly");
    assertThat(send("GET", "/nightly", "").statusCode()).isEqualTo(404);
    assertThat(send("DELETE", "/nightly", "").statusCode()).isEqualTo(404);
  }

  @Test
  void times_are_shown_in_the_zone_of_the_schedule() throws IOException, InterruptedException {
    ok("PUT", "/nightly", daily(""));
    JsonNode next = ok("GET", "/nightly/next?count=3&after=2026-03-27T12:00:00Z", "").path("next");
    assertThat(next.toString().replace('"', '\''))
        .isEqualTo("['2026-03-28T02:30+01:00','2026-03-29T03:00+02:00','2026-03-30T02:30+02:00']");
    JsonNode preview =
        ok(
                "POST",
                "/preview?count=1&after=2026-03-27T12:00:00Z",
                "{'times': [{'cron': '@daily'}], 'zone': 'Asia/Tokyo'}")
            .path("next");
    assertThat(preview.path(0).asString()).isEqualTo("2026-03-28T00:00+09:00");
  }

  @Test
  void a_task_of_a_queue_runs_with_its_nominal_time_and_its_end_is_noted()
      throws IOException, InterruptedException {
    ok(
        "PUT",
        "/often",
        "{'times': [{'every': '1s'}], 'target': {'queue': 'work', 'params': {'n': 1}}}");
    QueueTask task = firstTask();
    ok("POST", "/often/pause", "{'note': 'enough'}");
    assertThat(task.params().path("n").asInt()).isEqualTo(1);
    QueueTask.Scheduled scheduled = Objects.requireNonNull(task.scheduled());
    assertThat(scheduled.name()).isEqualTo("often");
    assertThat(scheduled.startedMillis()).isGreaterThanOrEqualTo(scheduled.nominalMillis());
    JsonNode shown = Dci.ok(server.get("/dci/tasks/id/" + task.id()));
    assertThat(shown.path("schedule").path("name").asString()).isEqualTo("often");
    JsonNode schedule = ok("GET", "/often", "");
    assertThat(schedule.path("active").path(0).path("id").asString()).isEqualTo(task.id().hex());
    assertThat(schedule.path("paused").path("note").asString()).isEqualTo("enough");
    var _ = queues.tasks().hold(task.id(), Status.CANCELLED, "not today");
    JsonNode result = withResult("often").path("results").path(0);
    assertThat(result.path("ending").asString()).isEqualTo("cancelled");
    assertThat(result.path("reason").asString()).isEqualTo("not today");
    JsonNode metrics = Dci.MAPPER.valueToTree(server.get("/metrics").body());
    assertThat(metrics.asString()).contains("millrace_schedules_runs_started_total 1.0");
  }

  @Test
  void a_schedule_goes_on_after_a_restart() throws IOException, InterruptedException {
    ok("PUT", "/nightly", daily(""));
    JsonNode run = ok("POST", "/nightly/run", "");
    server.close();
    open();
    JsonNode shown = ok("GET", "/nightly", "");
    assertThat(shown.path("active").path(0)).isEqualTo(run);
    var _ = queues.tasks().terminate(new ObjectId(run.path("id").asString()));
    assertThat(withResult("nightly").path("results").path(0).path("cause").asString())
        .isEqualTo("manual");
  }

  @Test
  void a_job_runs_with_its_nominal_time_and_its_end_is_noted()
      throws IOException, InterruptedException {
    ok(
        "PUT",
        "/jobs",
        "{'times': [{'cron': '@yearly'}], 'overlap': 'allow', 'target': {'job': {'priority':"
            + " 'batch', 'description': 'yearly', 'payload': {'n': 1}}}}");
    for (int i = 0; i < 3; i++) {
      ok("POST", "/jobs/run", "");
    }
    JsonNode backfill =
        ok(
            "POST",
            "/jobs/backfill",
            "{'from': '2020-01-01T00:00:00Z', 'until': '2024-01-01T00:00:00Z'}");
    assertThat(backfill.path("runs").asInt()).isEqualTo(5);
    String id = ok("GET", "/jobs", "").path("active").path(0).path("id").asString();
    JsonNode job = Dci.ok(server.get("/api/jobs/" + id));
    assertThat(job.path("schedule").path("name").asString()).isEqualTo("jobs");
    assertThat(job.path("schedule").path("nominal"))
        .isEqualTo(job.path("schedule").path("started"));
    assertThat(job.path("display").asString()).isEqualTo("yearly");
    assertThat(job.path("priority").asString()).isEqualTo("batch");
    HttpResponse<String> polled =
        server.send(
            "POST",
            "/api/worker/next",
            "{\"name\": \"w\", \"id\": \"w\", \"token\": \"\"}",
            "Content-Type",
            Dci.JSON);
    assertThat(polled.body()).isEqualTo("{\"n\":1}");
    assertThat(polled.headers().firstValue("Millrace-Schedule")).hasValue("jobs");
    assertThat(polled.headers().firstValue("Millrace-Nominal-Time")).isPresent();
    assertThat(server.send("POST", "/api/jobs/" + id + "/cancel", "").statusCode()).isLessThan(300);
    JsonNode result = withResult("jobs").path("results").path(0);
    assertThat(result.path("id").asString()).isEqualTo(id);
    assertThat(result.path("ending").asString()).isEqualTo("failed");
  }

  @Test
  void the_payload_of_a_job_may_be_long() throws IOException, InterruptedException {
    String payload = "x".repeat(100_000);
    ok(
        "PUT",
        "/long",
        "{'times': [{'cron': '@yearly'}], 'target': {'job': {'payload': '" + payload + "'}}}");
    ok("POST", "/long/run", "");
    HttpResponse<String> polled =
        server.send(
            "POST",
            "/api/worker/next",
            "{\"name\": \"w\", \"id\": \"w\", \"token\": \"\"}",
            "Content-Type",
            Dci.JSON);
    assertThat(polled.body()).isEqualTo(payload);
  }

  @Test
  void a_graph_runs_in_a_group_of_its_own_and_its_commands_know_the_times()
      throws IOException, InterruptedException {
    ok(
        "PUT",
        "/graph",
        """
        {'times': [{'cron': '@yearly'}], 'overlap': 'allow', 'target': {'graph': {'nodes': [
          {'metadata': {'type': 'command', 'local': 'run', 'name': 'first'}, 'data': {'command': 'sh',
            'args': ['-c', 'echo $MILLRACE_SCHEDULE $MILLRACE_NOMINAL_TIME $OWN'], 'env': {'OWN': 'x'}}},
          {'metadata': {'type': 'shell command', 'parent': 'local:run'}, 'data': {'command': 'exit 3'}}
        ]}}}
        """);
    JsonNode backfill =
        ok(
            "POST",
            "/graph/backfill",
            "{'from': '2020-01-01T00:00:00Z', 'until': '2025-01-01T00:00:00Z'}");
    assertThat(backfill.path("runs").asInt()).isEqualTo(6);
    JsonNode results = withResults("graph", 6);
    for (JsonNode result : results.path("results")) {
      assertThat(result.path("ending").asString()).isEqualTo("failed");
      assertThat(result.path("reason").asString()).isEqualTo("1 of the nodes in it did not finish");
    }
    JsonNode last = results.path("results").path(0);
    String group = last.path("id").asString();
    JsonNode nodes = Dci.ok(server.get("/v1/nodes?below=" + group));
    assertThat(nodes.valueStream().map(node -> node.path("state").asString()))
        .containsExactly("failed", "finished", "failed");
    String command = nodes.path(1).path("id").asString();
    String nominal =
        Dci.ok(server.get("/v1/nodes/" + group + "/data/nominal")).path("data").asString();
    assertThat(Dci.ok(server.get("/v1/nodes/" + command + "/data/stdout")).path("data").asString())
        .isEqualTo("graph " + nominal + " x\n");
    assertThat(Dci.ok(server.get("/v1/nodes")).size()).isEqualTo(18);
  }

  @Test
  void tasks_and_jobs_of_a_graph_know_the_times() throws IOException, InterruptedException {
    var _ = queues.queues().create("parts", "shell", Queue.Settings.DEFAULTS);
    ok(
        "PUT",
        "/parts",
        """
        {'times': [{'cron': '@yearly'}], 'target': {'graph': {'nodes': [
          {'metadata': {'type': 'queue task'}, 'data': {'queue': 'parts'}},
          {'metadata': {'type': 'job'}, 'data': {'payload': 'p'}}]}}}
        """);
    String group = ok("POST", "/parts/run", "").path("id").asString();
    String nominal =
        Dci.ok(server.get("/v1/nodes/" + group + "/data/nominal")).path("data").asString();
    JsonNode nodes = Dci.ok(server.get("/v1/nodes?below=" + group));
    // A node notes the id first, and submits then.
    ObjectId task = new ObjectId(awaitData(nodes.path(1), "task"));
    Optional<QueueTask> submitted = queues.tasks().find(task);
    while (submitted.isEmpty()) {
      LockSupport.parkNanos(5_000_000);
      submitted = queues.tasks().find(task);
    }
    assertThat(
            Instant.ofEpochMilli(
                    Objects.requireNonNull(submitted.get().scheduled()).nominalMillis())
                .toString())
        .isEqualTo(nominal);
    String path = "/api/jobs/" + awaitData(nodes.path(2), "job");
    while (server.get(path).statusCode() == 404) {
      LockSupport.parkNanos(5_000_000);
    }
    JsonNode job = Dci.ok(server.get(path));
    assertThat(job.path("schedule").path("name").asString()).isEqualTo("parts");
    assertThat(job.path("schedule").path("nominal").asString()).isNotEmpty();
  }

  /** What a node that runs has written, once it has. */
  private String awaitData(JsonNode node, String key) throws IOException, InterruptedException {
    String path = "/v1/nodes/" + node.path("id").asString() + "/data/" + key;
    String text = "";
    while (text.isEmpty()) {
      LockSupport.parkNanos(5_000_000);
      text = Dci.ok(server.get(path)).path("data").asString("");
    }
    return text;
  }

  @Test
  void a_run_of_a_graph_is_cancelled_and_a_group_that_has_ended_takes_no_run()
      throws IOException, InterruptedException {
    ok(
        "PUT",
        "/graph",
        """
        {'times': [{'cron': '@yearly'}], 'target': {'graph': {'nodes': [
          {'metadata': {'type': 'wait for'}, 'data': {'file': '/nowhere/to/be/found'}}]}}}
        """);
    String killed = ok("POST", "/graph/run", "").path("id").asString();
    assertThat(server.send("PUT", "/v1/scheduler/kill?id=" + killed, "").statusCode())
        .isEqualTo(202);
    JsonNode result = withResult("graph").path("results").path(0);
    assertThat(result.path("ending").asString()).isEqualTo("cancelled");
    assertThat(result.path("id").asString()).isEqualTo(killed);
    String removed = ok("POST", "/graph/run", "").path("id").asString();
    ok("DELETE", "/graph", "");
    ok(
        "PUT",
        "/graph",
        "{'times': [{'cron': '@yearly'}], 'target': {'graph': {'parent': '"
            + removed
            + "', 'nodes': [{'metadata': {'type': 'group'}}]}}}");
    server.send("PUT", "/v1/scheduler/kill?id=" + removed, "");
    Dci.ok(server.get("/v1/scheduler/wait?id=" + removed));
    HttpResponse<String> refused = send("POST", "/graph/run", "");
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("group " + removed + " has ended");
  }

  @Test
  void a_backfill_names_the_times_that_it_runs() throws IOException, InterruptedException {
    ok("PUT", "/nightly", daily(""));
    JsonNode backfill =
        ok(
            "POST",
            "/nightly/backfill",
            "{'from': '2026-01-01T00:00:00Z', 'until': '2026-01-03T00:00:00Z'}");
    assertThat(backfill.path("runs").asInt()).isEqualTo(2);
    assertThat(backfill.path("times").path(0).asString()).isEqualTo("2026-01-01T02:30+01:00");
    QueueTask task = firstTask();
    assertThat(Objects.requireNonNull(task.scheduled()).nominalMillis())
        .isEqualTo(1_767_231_000_000L);
  }

  @Test
  void schedules_are_listed_in_pages() throws IOException, InterruptedException {
    for (String name : new String[] {"a", "b", "c"}) {
      ok("PUT", "/" + name, daily(""));
    }
    ok("POST", "/b/pause", "");
    JsonNode page = ok("GET", "?limit=2", "");
    assertThat(page.path("schedules")).hasSize(2);
    assertThat(page.path("next").asString()).isEqualTo("b");
    assertThat(ok("GET", "?limit=2&after=b", "").path("next").isNull()).isTrue();
    assertThat(ok("GET", "?paused=true", "").path("schedules")).hasSize(1);
    ok("POST", "/b/resume", "");
    assertThat(ok("GET", "?paused=true", "").path("schedules")).isEmpty();
  }

  @Test
  void schedules_are_listed_by_a_text_and_by_when_they_are_due() throws Exception {
    ok("PUT", "/yearly", every("365d", "Anna"));
    ok("PUT", "/daily", every("1d", "anna"));
    ok("PUT", "/weekly", every("7d", "berta"));
    ok("PUT", "/also-daily", every("1d", "berta"));
    ok(
        "PUT",
        "/over",
        "{'times': [{'at': ['2020-01-01T00:00:00Z']}], 'target': {'queue': 'work'}}");
    assertThat(names(ok("GET", "?text=ANNA", ""))).containsExactly("daily", "yearly");
    assertThat(names(ok("GET", "?text=eekl", ""))).containsExactly("weekly");
    assertThat(names(ok("GET", "?text=nobody", ""))).isEmpty();
    List<String> found = new ArrayList<>();
    String after = "";
    do {
      JsonNode page = ok("GET", "?order=due&limit=2&after=" + after, "");
      found.addAll(names(page));
      after = page.path("next").asString("");
    } while (!after.isEmpty());
    assertThat(found).containsExactly("also-daily", "daily", "weekly", "yearly", "over");
    assertThat(send("GET", "?order=size", "").statusCode()).isEqualTo(400);
    assertThat(send("GET", "?order=due&after=daily", "").statusCode()).isEqualTo(400);
  }

  private static String every(String time, String user) {
    return "{'times': [{'every': '%s', 'from': '2026-01-01T00:00:00Z'}], 'target': {'queue': 'work', 'params': {'user': '%s'}}}"
        .formatted(time, user);
  }

  private static List<String> names(JsonNode page) {
    return page.path("schedules").valueStream().map(each -> each.path("name").asString()).toList();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "PUT; /x; {}; 400; times",
        "PUT; /x; []; 400; object",
        "PUT; /x; {'times': [{'cron': '61 * * * *'}]}; 400; times[0].cron",
        "PUT; /x; {'times': [{'cron': '@daily'}], 'target': {}}; 400; target",
        "PUT; /x; {'times': [{'cron': '@daily'}], 'target': {'queue': 'none'}}; 400; 'none'",
        "PUT; /x; {'times': [{'cron': '@daily'}], 'target': {'queue': 'work', 'q': 1}}; 400;"
            + " target.q",
        "PUT; /x; {'times': [{'cron': '@daily'}], 'target': {'queue': 'work', 'params': 1}}; 400;"
            + " target.params",
        "PUT; /x; {'times': [{'cron': '@daily'}], 'target': {'job': 1}}; 400; target.job",
        "PUT; /x; {'times': [{'cron': '@daily'}], 'target': {'job': {'key': 'k'}}}; 400;"
            + " target.job.key",
        "PUT; /x; {'times': [{'cron': '@daily'}], 'target': {'job': {'type': 'none'}}}; 400; none",
        "PUT; /x; {'times': [{'cron': '@daily'}], 'target': {'job': {'priority': 'high'}}}; 400;"
            + " target.job.priority",
        "PUT; /x; {'times': [{'cron': '@daily'}], 'target': {'job': {}, 'queue': 'work'}}; 400;"
            + " either",
        "PUT; /x; {'times': [{'cron': '@daily'}], 'target': {'graph': []}}; 400; target.graph",
        "PUT; /x; {'times': [{'cron': '@daily'}], 'target': {'graph': {'nodes': []}}}; 400; 400"
            + " nodes",
        "PUT; /x; {'times': [{'cron': '@daily'}], 'target': {'graph': {'node': 1}}}; 400;"
            + " target.graph.node",
        "PUT; /x; {'times': [{'cron': '@daily'}], 'target': {'graph': {'nodes': [{}]}}}; 400;"
            + " new node 1",
        "PUT; /x; {'times': [{'cron': '@daily'}], 'target': {'graph': {'nodes': [{'metadata':"
            + " {'type': 'command'}}]}}}; 400; new node 1: command is missing",
        "PUT; /x; {'times': [{'cron': '@daily'}], 'target': {'graph': {'nodes': [{'metadata':"
            + " {'type': 'group', 'parent': '1'}}]}}}; 400; local:NAME",
        "PUT; /x; {'times': [{'cron': '@daily'}], 'target': {'graph': {'nodes': [{'metadata':"
            + " {'type': 'group', 'parent': 'local:a'}}]}}}; 400; there is no node local:a",
        "PUT; /x; {'times': [{'cron': '@daily'}], 'target': {'graph': {'parent': 7, 'nodes':"
            + " [{'metadata': {'type': 'group'}}]}}}; 400; there is no node 7",
        "PUT; /a%20b; {}; 400; letters",
        "POST; /none/run; ; 404; no schedule",
        "POST; /none/pause; ; 404; no schedule",
        "POST; /nightly/pause; {'notes': 1}; 400; notes",
        "POST; /nightly/backfill; {'from': 'x', 'until': 'y'}; 400; from",
        "POST; /nightly/backfill; {'from': '2026-01-02T00:00:00Z', 'until':"
            + " '2026-01-01T00:00:00Z'}; 400; until",
        "GET; /nightly/next?count=0; ; 400; count",
        "GET; /nightly/next?after=now; ; 400; after",
        "GET; ?sort=name; ; 400; sort",
        "GET; ?paused=maybe; ; 400; paused"
      })
  void what_is_wrong_is_said_as_problem_details(
      String method, String path, String body, int status, String says)
      throws IOException, InterruptedException {
    ok("PUT", "/nightly", daily(""));
    HttpResponse<String> answer = send(method, path, body == null ? "" : body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/problem+json");
    assertThat(Dci.MAPPER.readTree(answer.body()).path("detail").asString()).contains(says);
  }
}
