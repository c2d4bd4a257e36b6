package io.millrace.server.limits;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import io.millrace.server.TestServer;
import io.millrace.server.graph.Graphs;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A limit that queue tasks, jobs and nodes of the graph share. */
final class SharedLimitsTest {
  private static final Duration LEASE = Duration.ofMinutes(5);
  private static final int EACH = 15;

  @TempDir private Path folder;
  private Graphs graph;
  private TestServer server;
  private Queues queues;
  private Queue queue;
  private NodeRecord node;
  private Path log;

  @BeforeEach
  void start() throws Exception {
    graph =
        new Graphs(
            folder.resolve("data"),
            "graph.places",
            "6",
            "jobs.types.scan.settings",
            "limits=scanner");
    log = folder.resolve("log");
    server = graph.server();
    queues = Queues.in(server.server().store(), Clock.systemUTC(), new Random(7));
    limit(2);
    String settings =
        "{\"name\": \"scans\", \"plugin\": \"shell\", \"threads\": 9, \"limits\": \"scanner\"}";
    assertThat(server.post("/dci/queues", settings).statusCode()).isEqualTo(200);
    queue = queues.queues().find("scans").orElseThrow();
    node =
        queues
            .nodes()
            .take("n", null, new NodeIdentity("i", "h", "1 m", List.of("shell")))
            .orElseThrow();
  }

  @AfterEach
  void close() {
    graph.close();
  }

  private void limit(int running) throws Exception {
    assertThat(
            server
                .send("PUT", "/limits/scanner", "{\"running\": %d}".formatted(running))
                .statusCode())
        .isEqualTo(200);
  }

  private JsonNode get(String path) throws Exception {
    HttpResponse<String> response = server.get(path);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return Graphs.MAPPER.readTree(response.body());
  }

  private void submitTasks(int count) throws Exception {
    String tasks = Collections.nCopies(count, "{\"command\": \"true\"}").toString();
    assertThat(server.post("/dci/tasks/scans", tasks).statusCode()).isEqualTo(200);
  }

  private void submitJobs(int count) throws Exception {
    for (int i = 0; i < count; i++) {
      String[] form = {"Priority", "batch", "Payload", "x", "Key", "job" + i};
      assertThat(server.submit("/api/jobs/submit/scan", form).statusCode()).isEqualTo(202);
    }
  }

  private List<String> addNodes(int count) throws Exception {
    String node =
        ("{'metadata': {'type': 'shell command'}, 'data': {'limits': ['scanner'], 'command': 'echo"
                + " + >> %1$s; sleep 0.02; echo - >> %1$s'}}")
            .formatted(log);
    return graph.add(Collections.nCopies(count, node).toString());
  }

  private void say(String what) throws IOException {
    Files.writeString(log, what + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private boolean ranTask() throws IOException {
    List<Run> runs = queues.runs().claim(node, queue, 1, LEASE);
    if (runs.isEmpty()) {
      return false;
    }
    Run run = queues.runs().start(runs.getFirst(), "r", LEASE);
    say("+");
    say("-");
    queues.runs().finish(run, new Report(Status.SUCCEEDED, TaskOutput.NONE, List.of(), null));
    return true;
  }

  private boolean ranJob(String worker) throws Exception {
    HttpResponse<String> next =
        server.post(
            "/api/worker/scan/next?wait=1", "{\"name\": \"w\", \"id\": \"" + worker + "\"}");
    if (next.headers().firstValue("Millrace-Job-Id").isEmpty()) {
      return false;
    }
    say("+");
    say("-");
    String token = next.headers().firstValue("Millrace-Job-Token").orElseThrow();
    String id = next.headers().firstValue("Millrace-Job-Id").orElseThrow();
    assertThat(server.post("/api/jobs/" + id + "/result?token=" + token, "done").statusCode())
        .isEqualTo(200);
    return true;
  }

  private static Callable<Void> times(int count, Callable<Boolean> run) {
    return () -> {
      for (int done = 0; done < count; ) {
        done += run.call() ? 1 : 0;
      }
      return null;
    };
  }

  @Test
  void all_of_them_come_to_their_turn_and_never_more_than_the_limit_run() throws Exception {
    submitTasks(2 * EACH);
    submitJobs(2 * EACH);
    List<String> nodes = addNodes(2 * EACH);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Void>> all = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        String worker = "w" + i;
        all.add(threads.submit(times(EACH, this::ranTask)));
        all.add(threads.submit(times(EACH, () -> ranJob(worker))));
      }
      for (Future<Void> each : all) {
        each.get();
      }
    }
    for (String id : nodes) {
      assertThat(graph.settled(id)).isEqualTo("finished");
    }
    List<String> said = Files.readAllLines(log);
    int running = 0;
    int most = 0;
    for (String each : said) {
      running += each.equals("+") ? 1 : -1;
      most = Math.max(most, running);
    }
    assertThat(said).hasSize(12 * EACH);
    assertThat(most).isEqualTo(2);
    while (get("/limits/scanner").path("used").asInt() > 0) {
      LockSupport.parkNanos(5_000_000);
    }
    assertThat(get("/limits/scanner").path("nodes").asInt()).isZero();
  }

  @Test
  void jobs_take_turns_with_a_graph_that_always_has_more() throws Exception {
    limit(1);
    List<String> nodes = addNodes(80);
    submitJobs(5);
    int ran = 0;
    while (ran < 5) {
      ran += ranJob("w") ? 1 : 0;
    }
    // Each job waits for one node or two; without turns all nodes come first.
    assertThat(get("/v1/nodes?state=finished")).hasSizeLessThan(60);
    String kill = "/v1/scheduler/kill?id=" + String.join(",", nodes);
    assertThat(server.send("PUT", kill, "").statusCode()).isEqualTo(202);
    // A command that is still being killed writes into the folder of the test.
    for (String each : nodes) {
      graph.settled(each);
    }
  }

  @Test
  void why_names_what_uses_up_the_limit_whatever_it_is() throws Exception {
    submitTasks(1);
    Run run = queues.runs().claim(node, queue, 1, LEASE).getFirst();
    submitJobs(1);
    HttpResponse<String> given =
        server.post("/api/worker/scan/next", "{\"name\": \"w\", \"id\": \"w\"}");
    String job = given.headers().firstValue("Millrace-Job-Id").orElseThrow();
    String waiting = addNodes(1).getFirst();
    assertThat(holders(waiting))
        .containsExactlyInAnyOrder("job " + job, "task " + run.task().hex());
    JsonNode why = get("/why/" + waiting);
    assertThat(why.at("/reasons/0/message").asString())
        .isEqualTo("the shared limit scanner is reached (2 of 2 running): 1 job");
    assertThat(why.path("status").asString()).isEqualTo("ready");

    // The claim that waits in the store gets the room.
    limit(3);
    assertThat(graph.settled(waiting)).isEqualTo("finished");
    String gate = folder.resolve("gate").toString();
    String running =
        graph.add(
            "shell command",
            "root",
            "{'limits': 'scanner', 'command': 'until test -e " + gate + "; do sleep 0.05; done'}");
    while (!graph.state(running).equals("running")) {
      LockSupport.parkNanos(5_000_000);
    }
    String created = server.post("/dci/tasks/scans", "[{\"command\": \"true\"}]").body();
    String task = created.replaceAll("(?s).*?([0-9a-f]{24}).*", "$1");
    assertThat(holders(task))
        .containsExactlyInAnyOrder("job " + job, "task " + run.task().hex(), "node " + running);
    assertThat(get("/limits").at("/limits/0/nodes").asInt()).isEqualTo(1);
    Files.createFile(Path.of(gate));
    assertThat(graph.settled(running)).isEqualTo("finished");

    // Without the limit nothing waits.
    limit(2);
    String other = addNodes(1).getFirst();
    assertThat(server.send("DELETE", "/limits/scanner", "").statusCode()).isEqualTo(200);
    assertThat(graph.settled(other)).isEqualTo("finished");
  }

  private Set<String> holders(String id) throws Exception {
    Set<String> holders = new HashSet<>();
    for (JsonNode reason : get("/why/" + id).path("reasons")) {
      if (reason.path("code").asString().equals("limit")) {
        reason
            .at("/related/ids")
            .forEach(
                each -> holders.add(reason.at("/related/kind").asString() + " " + each.asString()));
      }
    }
    return holders;
  }
}
