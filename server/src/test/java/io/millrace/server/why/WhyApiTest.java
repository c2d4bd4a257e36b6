package io.millrace.server.why;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.http.json.Json;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import io.millrace.server.TestServer;
import io.millrace.server.graph.Graphs;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Why tasks, jobs and nodes of a graph wait, over HTTP. */
final class WhyApiTest {
  private static final Duration LEASE = Duration.ofMinutes(5);

  @TempDir private Path folder;
  private Graphs graph;
  private TestServer server;
  private Queues queues;

  @BeforeEach
  void start() {
    graph =
        new Graphs(
            folder,
            "graph.places",
            "1",
            "jobs.types.mail.description",
            "mail",
            "jobs.types.image.description",
            "images",
            "jobs.types.scan.settings",
            "running=2 key_running=1 limits=scanner",
            "jobs.types.copy.settings",
            "starts=1/1h");
    server = graph.server();
    queues = Queues.in(server.server().store(), Clock.systemUTC(), new Random(7));
  }

  @AfterEach
  void close() {
    graph.close();
  }

  private static JsonNode json(HttpResponse<String> response) {
    assertThat(response.statusCode()).as(response.body()).isIn(200, 201);
    return Json.read(response.body().getBytes(StandardCharsets.UTF_8));
  }

  private JsonNode why(String id) throws IOException, InterruptedException {
    return json(server.get("/why/" + id));
  }

  private JsonNode why(String key, String id) throws IOException, InterruptedException {
    return json(server.get("/why/" + id, "Authorization", "Bearer " + key));
  }

  private static List<String> codes(JsonNode why) {
    return why.path("reasons").valueStream().map(each -> each.path("code").asString()).toList();
  }

  private static JsonNode first(JsonNode why) {
    return why.path("reasons").path(0);
  }

  private static List<String> related(JsonNode why) {
    return first(why).path("related").path("ids").valueStream().map(JsonNode::asString).toList();
  }

  private Queue queue(String name, int threads, String settings)
      throws IOException, InterruptedException {
    json(
        server.post(
            "/dci/queues",
            "{\"name\": \"%s\", \"plugin\": \"shell\", \"threads\": %d%s}"
                .formatted(name, threads, settings)));
    return queues.queues().find(name).orElseThrow();
  }

  private String submit(String queue) throws IOException, InterruptedException {
    String created = server.post("/dci/tasks/" + queue, "[{\"command\": \"true\"}]").body();
    return created.replaceAll("(?s).*?([0-9a-f]{24}).*", "$1");
  }

  /** Claims the next task of a queue, for a node that does nothing else. */
  private Run claim(Queue queue) {
    NodeRecord node =
        queues
            .nodes()
            .find("n")
            .or(() ->
                queues.nodes().take("n", null, new NodeIdentity("i", "h", "1 m", List.of("shell"))))
            .orElseThrow();
    return queues.runs().claim(node, queue, 1, LEASE).getFirst();
  }

  private String job(String type, String key) throws IOException, InterruptedException {
    HttpResponse<String> submitted =
        server.submit("/api/jobs/submit/" + type, "Priority", "batch", "Payload", "x", "Key", key);
    assertThat(submitted.statusCode()).as(submitted.body()).isEqualTo(202);
    return key;
  }

  private String key(String name, String role, String reach)
      throws IOException, InterruptedException {
    return json(server.post(
            "/access/principals",
            "{\"name\": \"%s\", \"roles\": [\"%s\"], \"key\": {}%s}".formatted(name, role, reach)))
        .path("key")
        .path("key")
        .asString();
  }

  @Test
  void a_task_says_that_its_queue_is_paused_and_that_no_node_takes_it() throws Exception {
    queue("demo", 0, "");
    String task = submit("demo");
    JsonNode why = why(task);
    assertThat(why.path("kind").asString()).isEqualTo("task");
    assertThat(why.path("id").asString()).isEqualTo(task);
    assertThat(why.path("status").asString()).isEqualTo("queued");
    assertThat(why.path("waiting").asBoolean()).isTrue();
    assertThat(codes(why)).containsExactly("no_threads", "no_node");
    assertThat(first(why).path("message").asString())
        .isEqualTo("queue demo is paused: its number of threads is 0");
    assertThat(first(why).has("related")).isFalse();
  }

  @Test
  void a_task_names_those_that_take_the_threads_and_these_say_that_they_run() throws Exception {
    Queue queue = queue("demo", 1, "");
    String running = submit("demo");
    String task = submit("demo");
    Run run = claim(queue);
    assertThat(codes(why(task))).containsExactly("threads");
    assertThat(related(why(task))).containsExactly(running);
    assertThat(first(why(task)).path("related").path("kind").asString()).isEqualTo("task");
    assertThat(codes(why(running))).containsExactly("running");
    assertThat(why(running).path("waiting").asBoolean()).isFalse();
    queues.runs().giveBack(run);
    queues.tasks().hold(run.task(), Status.CANCELLED, "by hand");
    assertThat(codes(why(running))).containsExactly("ended");
    assertThat(codes(why(task))).containsExactly("turn");
  }

  @Test
  void asking_for_a_limit_on_starts_starts_nothing() throws Exception {
    Queue queue = queue("demo", 9, ", \"starts\": \"1/1h\"");
    submit("demo");
    claim(queue);
    String task = submit("demo");
    String viewer = key("eve", "viewer", "");
    for (int i = 0; i < 3; i++) {
      JsonNode why = why(viewer, task);
      assertThat(codes(why)).containsExactly("limit");
      assertThat(first(why).path("message").asString()).contains("at most 1/1h for queue demo");
    }
    assertThat(codes(why(task))).containsExactly("limit");
    assertThat(queues.runs().all()).hasSize(1);
  }

  @Test
  void a_job_says_that_no_worker_is_connected() throws Exception {
    JsonNode why = why(job("mail", "letter"));
    assertThat(why.path("kind").asString()).isEqualTo("job");
    assertThat(why.path("id").asString()).isEqualTo("letter");
    assertThat(why.path("status").asString()).isEqualTo("pending");
    assertThat(codes(why)).containsExactly("no_worker");
  }

  @Test
  void a_job_says_that_it_has_failed_on_the_only_worker() throws Exception {
    job("mail", "letter");
    String worker = "{\"name\": \"w\", \"id\": \"w1\"}";
    HttpResponse<String> given = server.post("/api/worker/mail/next", worker);
    assertThat(codes(why("letter"))).containsExactly("running");
    assertThat(related(why("letter"))).containsExactly("w1");
    HttpResponse<String> failed =
        server.post(
            "/api/jobs/letter/failure?token="
                + given.headers().firstValue("Millrace-Job-Token").orElseThrow(),
            "{\"info\": \"no stamps\"}");
    assertThat(failed.statusCode()).as(failed.body()).isEqualTo(200);
    assertThat(codes(why("letter"))).containsExactly("no_worker");
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<HttpResponse<String>> next =
          threads.submit(() -> server.post("/api/worker/mail/next?wait=60", worker));
      while (!codes(why("letter")).equals(List.of("only_failed_worker"))) {
        LockSupport.parkNanos(5_000_000);
      }
      assertThat(related(why("letter"))).containsExactly("w1");
      assertThat(server.post("/api/jobs/letter/cancel", "").statusCode()).isEqualTo(200);
      assertThat(codes(why("letter"))).containsExactly("ended");
      job("mail", "other");
      assertThat(next.get().body()).isEqualTo("x");
    }
  }

  /** Submits a job and returns its GUID. */
  private String submitted(String type, String... namesAndValues) throws Exception {
    String[] form = new String[namesAndValues.length + 4];
    form[0] = "Priority";
    form[1] = "batch";
    System.arraycopy(namesAndValues, 0, form, 2, namesAndValues.length);
    form[form.length - 2] = "Payload";
    form[form.length - 1] = "x";
    HttpResponse<String> response = server.submit("/api/jobs/submit/" + type, form);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(202);
    return Json.read(response.body().getBytes(StandardCharsets.UTF_8)).path("id").asString();
  }

  private String taken(String type, String worker) throws Exception {
    return server
        .post(
            "/api/worker/" + type + "/next",
            "{\"name\":\"%s\",\"id\":\"%s\",\"token\":\"\"}".formatted(worker, worker))
        .headers()
        .firstValue("Millrace-Job-Id")
        .orElse("");
  }

  private static List<String> messages(JsonNode why) {
    return why.path("reasons").valueStream().map(each -> each.path("message").asString()).toList();
  }

  @Test
  void a_job_names_the_limits_that_are_reached_and_the_jobs_that_use_them_up() throws Exception {
    String ann = submitted("scan", "limit_key", "ann");
    assertThat(taken("scan", "one")).isEqualTo(ann);
    String second = submitted("scan", "limit_key", "ann");
    JsonNode ofKey = why(second);
    assertThat(messages(ofKey))
        .contains("the limit of key ann in job type scan is reached (1 of 1 running)");
    JsonNode limit =
        ofKey
            .path("reasons")
            .valueStream()
            .filter(reason -> reason.path("code").asString().equals("limit"))
            .findFirst()
            .orElseThrow();
    assertThat(limit.at("/related/kind").asString()).isEqualTo("job");
    assertThat(limit.at("/related/ids/0").asString()).isEqualTo(ann);

    String bob = submitted("scan", "limit_key", "bob");
    assertThat(taken("scan", "two")).isEqualTo(bob);
    assertThat(server.send("PUT", "/limits/scanner", "{\"running\": 1}").statusCode())
        .isEqualTo(200);
    assertThat(messages(why(submitted("scan", "limit_key", "cid"))))
        .contains(
            "the limit of job type scan is reached (2 of 2 running)",
            "the shared limit scanner is reached (2 of 1 running)");
  }

  @Test
  void a_job_that_waits_for_a_limit_on_starts_says_so_and_is_not_started() throws Exception {
    String first = submitted("copy");
    assertThat(taken("copy", "one")).isEqualTo(first);
    String second = submitted("copy");
    assertThat(messages(why(second)))
        .contains("too many jobs have started lately: at most 1/1h for job type copy");
    assertThat(why(second).path("status").asString()).isEqualTo("pending");
  }

  @Test
  void a_node_names_what_it_waits_for() throws Exception {
    String gate = graph.add("wait for", "root", "{'file': '" + folder.resolve("gate") + "'}");
    String below = graph.add("group", gate, "{}");
    JsonNode why = why(below);
    assertThat(why.path("kind").asString()).isEqualTo("node");
    assertThat(why.path("status").asString()).isEqualTo("incipient");
    assertThat(codes(why)).containsExactly("above");
    assertThat(related(why)).containsExactly(gate);
    assertThat(first(why).path("message").asString()).contains(gate + " (r");
    Files.createFile(folder.resolve("gate"));
    assertThat(graph.settled(below)).isEqualTo("finished");
    assertThat(codes(why(below))).containsExactly("ended");
  }

  @Test
  void a_blocked_node_names_the_node_that_failed_far_above() throws Exception {
    String failing = graph.script("root", "exit 3");
    String middle = graph.script(failing, "true");
    String below = graph.script(middle, "true");
    assertThat(graph.settled(below)).isEqualTo("blocked");
    JsonNode why = why(below);
    assertThat(codes(why)).containsExactly("blocked");
    assertThat(related(why)).containsExactly(failing);
    assertThat(first(why).path("message").asString()).contains(failing + " (failed)");
    assertThat(codes(why(failing))).containsExactly("ended");
    assertThat(first(why(failing)).path("message").asString()).contains("failed", "3");
  }

  @Test
  void a_ready_node_waits_for_a_place_of_the_scheduler() throws Exception {
    String gate = folder.resolve("gate").toString();
    String running = graph.script("root", "until test -e " + gate + "; do sleep 0.05; done");
    while (!graph.state(running).equals("running")) {
      LockSupport.parkNanos(5_000_000);
    }
    String ready = graph.script("root", "true");
    assertThat(codes(why(ready))).containsExactly("places");
    assertThat(related(why(ready))).containsExactly(running);
    Files.createFile(folder.resolve("gate"));
    assertThat(graph.settled(ready)).isEqualTo("finished");
  }

  @Test
  void a_node_that_runs_as_a_task_or_job_says_why_that_waits() throws Exception {
    queue("demo", 0, "");
    String node = graph.add("queue task", "root", "{'queue': 'demo', 'params': {'command': 'x'}}");
    String other = graph.add("job", "root", "{'job_type': 'mail'}");
    String task;
    do {
      LockSupport.parkNanos(5_000_000);
      task = graph.data(node, "task").asString("");
    } while (task.isEmpty() || queues.tasks().find(new ObjectId(task)).isEmpty());
    JsonNode why = why(node);
    assertThat(why.path("waiting").asBoolean()).isTrue();
    assertThat(codes(why)).containsExactly("handed_on", "no_threads", "no_node");
    assertThat(why.path("reasons").path(0).path("related").path("ids").path(0).asString())
        .isEqualTo(task);
    while (!why(other).path("waiting").asBoolean()) {
      LockSupport.parkNanos(5_000_000);
    }
    assertThat(codes(why(other))).containsExactly("handed_on", "no_worker");
  }

  @Test
  void unknown_ids_and_wrong_questions_are_refused_as_problems() throws Exception {
    for (String id :
        List.of("none", "123456789012345678901234", "99999", "%20", "%F0%9F%A6%86", "a%2Fb")) {
      HttpResponse<String> unknown = server.get("/why/" + id);
      assertThat(unknown.statusCode()).as(id).isEqualTo(404);
      assertThat(unknown.headers().firstValue("Content-Type").orElse(""))
          .startsWith("application/problem+json");
    }
    assertThat(server.get("/why/1?kind=queue").statusCode()).isEqualTo(400);
    assertThat(server.get("/why/1?kind=queue").body()).contains("job, node, task");
    assertThat(server.get("/why/1?kin=task").statusCode()).isEqualTo(400);
    assertThat(server.post("/why/1", "{}").statusCode()).isEqualTo(405);
  }

  @Test
  void an_id_of_several_things_needs_its_kind() throws Exception {
    String node = graph.add("group", "root", "{}");
    job("mail", node);
    HttpResponse<String> both = server.get("/why/" + node);
    assertThat(both.statusCode()).isEqualTo(400);
    assertThat(both.body()).contains("job, node");
    assertThat(why(node + "?kind=job").path("kind").asString()).isEqualTo("job");
    assertThat(why(node + "?kind=node").path("kind").asString()).isEqualTo("node");
    assertThat(server.get("/why/" + node + "?kind=task").statusCode()).isEqualTo(404);
  }

  @Test
  void a_caller_of_limited_reach_sees_what_is_in_it_and_a_count_of_the_rest() throws Exception {
    json(server.send("PUT", "/limits/api", "{\"running\": 1}"));
    Queue mail = queue("mail", 9, ", \"limits\": \"api\"");
    Queue other = queue("other", 9, ", \"limits\": \"api\"");
    String out = submit("other");
    claim(other);
    String in = submit("mail");
    job("mail", "letter");
    job("image", "photo");
    String gate = graph.add("wait for", "root", "{'time': '2999-01-01T00:00:00Z'}");
    String top = graph.add("wait for", "root", "{'time': '2999-01-01T00:00:00Z'}");
    String below =
        graph
            .add(
                "[{'metadata': {'type': 'group', 'parent': '"
                    + top
                    + "', 'after': ['"
                    + gate
                    + "']}, 'data': {}}]")
            .getFirst();
    String key =
        key(
            "ann",
            "viewer",
            ", \"reach\": {\"queues\": [\"mail\"], \"types\": [\"mail\"], \"graph\": [\""
                + top
                + "\"]}");

    JsonNode limited = first(why(key, in));
    assertThat(limited.path("message").asString()).contains("shared limit api", "1 of 1");
    assertThat(limited.path("related").path("ids")).isEmpty();
    assertThat(limited.path("related").path("more").asInt()).isEqualTo(1);
    assertThat(limited.toString()).doesNotContain(out);
    assertThat(related(why(in))).containsExactly(out);
    assertThat(mail.name()).isEqualTo("mail");

    assertThat(codes(why(key, "letter"))).containsExactly("no_worker");
    JsonNode node = first(why(key, below));
    assertThat(node.path("code").asString()).isEqualTo("above");
    assertThat(node.path("related").path("ids").path(0).asString()).isEqualTo(top);
    assertThat(node.path("related").path("more").asInt()).isEqualTo(1);
    assertThat(node.path("message").asString()).endsWith(top + " (running), 1 more");
    for (String hidden : List.of(out, "photo", gate)) {
      HttpResponse<String> answer = server.get("/why/" + hidden, "Authorization", "Bearer " + key);
      assertThat(answer.statusCode()).as(hidden).isEqualTo(404);
    }
    String worker = key("wim", "worker", "");
    assertThat(server.get("/why/" + in, "Authorization", "Bearer " + worker).statusCode())
        .isEqualTo(403);
  }

  @Test
  void a_task_that_has_ended_says_so() throws Exception {
    Queue queue = queue("demo", 1, "");
    String task = submit("demo");
    Run run = queues.runs().start(claim(queue), "7 mark", LEASE);
    TaskOutput output = new TaskOutput(Output.none(), Output.none());
    queues.runs().finish(run, new Run.Report(Status.SUCCEEDED, output, List.of(), null));
    assertThat(codes(why(task))).containsExactly("ended");
    assertThat(why(task).path("status").asString()).isEqualTo("succeeded");
  }
}
