package io.millrace.server.graph;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes whose work queues and workers do. */
final class GraphHandOnTest {
  private static final Duration LEASE = Duration.ofMinutes(5);
  private static final String WORKER = "{\"name\": \"w\", \"id\": \"w\", \"token\": \"\"}";

  @TempDir private Path folder;
  private @Nullable Graphs graph;

  private Graphs start(String... settings) {
    Graphs started = new Graphs(folder, settings);
    graph = started;
    return started;
  }

  @AfterEach
  void stop() {
    if (graph != null) {
      graph.close();
    }
  }

  /** An execution node that does nothing by itself. */
  private static final class Hand {
    final Queues queues;
    private final Queue queue;
    private int claims;

    Hand(Graphs graph) {
      queues = Queues.in(graph.server().server().store(), Clock.systemUTC(), new Random(5));
      queue =
          queues
              .queues()
              .find("q")
              .orElseGet(() ->
                  queues.queues().create("q", "exec", Queue.Settings.DEFAULTS.withThreads(10)));
    }

    int tasks() {
      int[] count = {0};
      queues.tasks().each(_ -> count[0]++);
      return count[0];
    }

    /** Waits for a task and starts it. */
    Run run() throws Exception {
      var seen = queues.nodes().find("n").orElse(null);
      NodeIdentity presence = new NodeIdentity("i" + claims++, "host", "7 mark", List.of("exec"));
      var node = queues.nodes().take("n", seen, presence).orElseThrow();
      while (true) {
        List<Run> claimed = queues.runs().claim(node, queue, 1, LEASE);
        if (!claimed.isEmpty()) {
          return queues.runs().start(claimed.getFirst(), "8 mark", LEASE);
        }
        LockSupport.parkNanos(1_000_000);
      }
    }

    void finish(Run run, int status, String stdout) {
      TaskOutput output = new TaskOutput(new Output.Text(stdout), new Output.Text(""));
      queues.runs().finish(run, new Report(status, output, List.of(), null));
    }
  }

  @Test
  void a_queue_task_gives_its_status_and_output_to_its_node() throws Exception {
    Graphs graph = start();
    Hand hand = new Hand(graph);
    String node = graph.add("queue task", "root", "{'queue': 'q', 'params': {'command': 'x'}}");
    Run run = hand.run();
    QueueTask task = hand.queues.tasks().find(run.task()).orElseThrow();
    assertThat(task.params().toString()).isEqualTo("{\"command\":\"x\"}");
    assertThat(graph.data(node, "task").asString()).isEqualTo(task.id().hex());
    hand.finish(run, Status.SUCCEEDED, "hello");
    assertThat(graph.settled(node)).isEqualTo("finished");
    assertThat(graph.data(node, "stdout").asString()).isEqualTo("hello");
    assertThat(graph.data(node, "status").intValue()).isEqualTo(1);
    assertThat(graph.data(node, "task").asString()).isEqualTo(task.id().hex());

    String failing = graph.add("queue task", "root", "{'queue': 'q'}");
    hand.finish(hand.run(), 17, "");
    assertThat(graph.settled(failing)).isEqualTo("failed");
    assertThat(graph.data(failing, "status").intValue()).isEqualTo(17);
    String nowhere = graph.add("queue task", "root", "{'queue': 'none'}");
    assertThat(graph.settled(nowhere)).isEqualTo("failed");
    assertThat(graph.get("/nodes/" + nowhere).required("reason").asString())
        .isEqualTo("there is no queue none");
    graph.refused(
        400, "POST", "/nodes", "[{'metadata': {'type': 'queue task'}, 'data': {'params': 1}}]");
  }

  @Test
  void a_restart_finds_the_task_again() throws Exception {
    Graphs graph = start();
    Hand hand = new Hand(graph);
    String node = graph.add("queue task", "root", "{'queue': 'q'}");
    Run run = hand.run();
    graph.close();
    graph = start();
    hand = new Hand(graph);
    assertThat(graph.state(node)).isEqualTo("running");
    hand.finish(run, Status.SUCCEEDED, "after all");
    assertThat(graph.settled(node)).isEqualTo("finished");
    assertThat(graph.data(node, "stdout").asString()).isEqualTo("after all");
    assertThat(hand.tasks()).isEqualTo(1);
  }

  @Test
  void a_task_that_waits_is_ended_by_a_kill() throws Exception {
    Graphs graph = start();
    Hand hand = new Hand(graph);
    String node = graph.add("queue task", "root", "{'queue': 'q'}");
    String task = "";
    while (task.isEmpty()) {
      LockSupport.parkNanos(1_000_000);
      task = graph.data(node, "task").asString();
    }
    graph.answer(202, "PUT", "/scheduler/kill?id=" + node, "");
    assertThat(graph.settled(node)).isEqualTo("killed");
    QueueTask ended = hand.queues.tasks().find(new ObjectId(task)).orElseThrow();
    assertThat(ended.status()).isEqualTo(Status.TERMINATED);
  }

  @Test
  void a_command_on_execution_nodes_is_a_task_of_the_queue_that_is_configured() throws Exception {
    Graphs graph = start("graph.commands", "q");
    Hand hand = new Hand(graph);
    String node = graph.script("root", "exit 2");
    Run run = hand.run();
    QueueTask task = hand.queues.tasks().find(run.task()).orElseThrow();
    assertThat(task.params().at("/command").asString()).isEqualTo("bash");
    assertThat(task.params().at("/env/MILLRACE_NODE_ID").asString()).isEqualTo(node);
    assertThat(task.params().at("/env/MILLRACE_GRAPH_TOKEN").asString()).startsWith("graph-");
    hand.finish(run, 3, "said");
    assertThat(graph.settled(node)).isEqualTo("failed");
    assertThat(graph.get("/nodes/" + node).required("reason").asString()).isEqualTo("exit code 2");
    assertThat(graph.data(node, "result").intValue()).isEqualTo(2);
    assertThat(graph.data(node, "stdout").asString()).isEqualTo("said");
  }

  private static HttpResponse<String> take(Graphs graph) throws Exception {
    return graph.server().send("POST", "/api/worker/next?wait=30", WORKER);
  }

  private static String of(HttpResponse<String> job, String header) {
    return job.headers().firstValue("Millrace-Job-" + header).orElseThrow();
  }

  @Test
  void a_job_gives_its_result_to_its_node() throws Exception {
    Graphs graph = start("jobs.max-failures", "1");
    String node =
        graph.add(
            "job",
            "root",
            "{'payload': {'n': 7}, 'priority': 'immediate', 'description': 'seven'}");
    HttpResponse<String> job = take(graph);
    assertThat(job.body()).isEqualTo("{\"n\":7}");
    assertThat(of(job, "Key")).isEqualTo("graph-" + node + "-1");
    String at = "/api/jobs/" + of(job, "Id");
    String token = "?token=" + of(job, "Token");
    String result = "x".repeat(10_000);
    assertThat(graph.server().send("POST", at + "/result" + token, result).statusCode())
        .isEqualTo(200);
    assertThat(graph.settled(node)).isEqualTo("finished");
    assertThat(graph.data(node, "result").asString()).isEqualTo(result);
    assertThat(graph.data(node, "job").asString()).isEqualTo("graph-" + node + "-1");

    String failing = graph.add("job", "root", "{'payload': 'text'}");
    job = take(graph);
    assertThat(job.body()).isEqualTo("text");
    graph
        .server()
        .send(
            "POST",
            "/api/jobs/" + of(job, "Id") + "/failure?token=" + of(job, "Token"),
            "{\"info\": \"too hot\"}");
    assertThat(graph.settled(failing)).isEqualTo("failed");
    assertThat(graph.get("/nodes/" + failing).required("reason").asString()).contains("too hot");
    String killed = graph.add("job", "root", "{}");
    graph.answer(202, "PUT", "/scheduler/kill?id=" + killed, "");
    assertThat(graph.settled(killed)).isEqualTo("killed");
    graph.refused(
        400, "POST", "/nodes", "[{'metadata':{'type':'job'},'data':{'job_type':'unknown'}}]");
    graph.refused(
        400, "POST", "/nodes", "[{'metadata':{'type':'job'},'data':{'priority':'never'}}]");
  }
}
