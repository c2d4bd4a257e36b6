package io.millrace.server.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.graph.store.GraphRuns;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.Retries;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.RetryWish;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import io.millrace.store.Document;
import io.millrace.store.TaskStore;
import io.millrace.work.Watch;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.RetryPolicy.Failed;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server that is killed while retries are pending: neither attempts nor pauses get lost. */
@Timeout(600)
class RetryKillTest {
  private static final Duration LEASE = Duration.ofMinutes(5);

  private final HttpClient client = HttpClient.newHttpClient();

  private JsonNode send(ServerProcess server, String method, String path, String type, String body)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(server.address() + path))
            .header("Content-Type", type)
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(path + ": " + answer.body()).isBetween(200, 299);
    return answer.body().startsWith("{") || answer.body().startsWith("[")
        ? JsonMapper.shared().readTree(answer.body())
        : JsonMapper.shared().missingNode();
  }

  private static Queues queues(TaskStore store) {
    return Queues.in(store, Clock.systemUTC(), new Random(3));
  }

  /** Starts the only task that can be claimed, and reports that it failed. */
  private static Retries fail(Queues queues, Queue queue) {
    NodeIdentity identity = new NodeIdentity("i", "host", "1 mark", List.of("shell"));
    NodeRecord node =
        queues
            .nodes()
            .find("n1")
            .orElseGet(() -> queues.nodes().take("n1", null, identity).orElseThrow());
    Run run = queues.runs().claim(node, queue, 1, LEASE).getFirst();
    Report report =
        new Report(
            Status.FAILED,
            new TaskOutput(Output.none(), Output.none()),
            List.of(),
            "exit code 1",
            new RetryWish.IfFailed(new Failed("1", null)));
    return queues
        .runs()
        .finish(queues.runs().start(run, "7 mark", LEASE), report)
        .progress()
        .retries();
  }

  private static Queue create(Queues queues, String name, String delay) {
    Policy policy = new Policy(Map.of("attempts", "3", "retry_delay", delay, "retry_jitter", "0"));
    return queues
        .queues()
        .create(name, "shell", Queue.Settings.DEFAULTS.withThreads(1).withPolicy(policy));
  }

  private static ObjectId submit(Queues queues, Queue queue) {
    return queues
        .submission()
        .submit(queue, List.of(JsonMapper.shared().createObjectNode()), Status.QUEUED)
        .getFirst();
  }

  @Test
  void of_queue_tasks_attempts_and_pauses_survive(@TempDir Path folder) throws Exception {
    ObjectId slow;
    ObjectId quick;
    Retries paused;
    try (ServerProcess server = ServerProcess.start(folder, "strict");
        TaskStore store = server.connect()) {
      Queues queues = queues(store);
      Queue later = create(queues, "later", "1h");
      Queue again = create(queues, "again", "0s");
      slow = submit(queues, later);
      quick = submit(queues, again);
      paused = fail(queues, later);
      assertThat(paused.failed()).isEqualTo(1);
      assertThat(Instant.ofEpochMilli(paused.notBeforeMillis()))
          .isAfter(Instant.now().plus(Duration.ofMinutes(50)));
      assertThat(fail(queues, again).failed()).isEqualTo(1);
      server.kill();
    }
    for (int attempt = 2; attempt <= 3; attempt++) {
      try (ServerProcess server = ServerProcess.start(folder, "strict");
          TaskStore store = server.connect()) {
        Queues queues = queues(store);
        QueueTask waiting = queues.tasks().find(slow).orElseThrow();
        assertThat(waiting.status()).isEqualTo(Status.QUEUED);
        assertThat(waiting.progress().retries()).isEqualTo(paused);
        Queue later = queues.queues().find("later").orElseThrow();
        NodeRecord node = queues.nodes().find("n1").orElseThrow();
        assertThat(queues.runs().claim(node, later, 1, LEASE)).isEmpty();
        assertThat(fail(queues, queues.queues().find("again").orElseThrow()).failed())
            .isEqualTo(attempt);
        server.kill();
      }
    }
    try (ServerProcess server = ServerProcess.start(folder, "strict");
        TaskStore store = server.connect()) {
      assertThat(queues(store).tasks().find(quick).orElseThrow().status())
          .as("the third attempt was the last")
          .isEqualTo(Status.FAILED);
      server.kill();
    }
  }

  @Test
  void of_jobs_attempts_and_pauses_survive(@TempDir Path folder) throws Exception {
    String job = "";
    long notBefore = 0;
    for (int attempt = 1; attempt <= 3; attempt++) {
      try (ServerProcess server = ServerProcess.start(folder, "strict")) {
        if (attempt == 1) {
          StringBuilder body = new StringBuilder();
          Map.of(
                  "Priority", "batch",
                  "Payload", "x",
                  "attempts", "3",
                  "retry_delay", "2s",
                  "retry_factor", "1",
                  "retry_jitter", "0")
              .forEach((name, value) ->
                  body.append("--b\r\nContent-Disposition: form-data; name=\"")
                      .append(name)
                      .append("\"\r\n\r\n")
                      .append(value)
                      .append("\r\n"));
          job =
              send(
                      server,
                      "POST",
                      "/api/jobs/submit",
                      "multipart/form-data; boundary=b",
                      body + "--b--\r\n")
                  .get("id")
                  .asString();
        } else {
          JsonNode pending = show(server, job);
          assertThat(pending.get("status").asString()).isEqualTo("pending");
          assertThat(pending.get("failures").asInt()).isEqualTo(attempt - 1);
          assertThat(millis(pending)).isEqualTo(notBefore);
        }
        String token = claim(server, "w" + attempt);
        assertThat(System.currentTimeMillis()).isGreaterThanOrEqualTo(notBefore);
        JsonNode failed =
            send(
                server,
                "POST",
                "/api/jobs/" + job + "/failure?token=" + token,
                "application/json",
                "{\"info\": \"it broke\"}");
        assertThat(failed.get("failures").asInt()).isEqualTo(attempt);
        assertThat(failed.get("status").asString()).isEqualTo(attempt < 3 ? "pending" : "failed");
        notBefore = attempt < 3 ? millis(failed) : 0;
        server.kill();
      }
    }
    try (ServerProcess server = ServerProcess.start(folder, "strict")) {
      assertThat(show(server, job).get("status").asString()).isEqualTo("failed");
      assertThat(send(server, "GET", "/api/jobs/" + job + "/failures", "text/plain", ""))
          .hasSize(3);
      server.kill();
    }
  }

  private JsonNode show(ServerProcess server, String job) throws Exception {
    return send(server, "GET", "/api/jobs/" + job, "text/plain", "");
  }

  private static long millis(JsonNode job) {
    return Instant.parse(job.get("notBefore").asString()).toEpochMilli();
  }

  /**
   * Waits for the job as a worker, another one each time; gives the token of its claim. The one on
   * which it has failed would not get it again.
   */
  private String claim(ServerProcess server, String worker) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(server.address() + "/api/worker/next?wait=60"))
            .header("Content-Type", "application/json")
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "{\"name\": \"w\", \"id\": \"%s\"}".formatted(worker)))
            .build();
    return client
        .send(request, HttpResponse.BodyHandlers.ofString())
        .headers()
        .firstValue("Millrace-Job-Token")
        .orElseThrow();
  }

  @Test
  void of_nodes_attempts_and_pauses_survive(@TempDir Path folder) throws Exception {
    String path;
    JsonNode paused;
    try (ServerProcess server = ServerProcess.start(folder, "strict");
        TaskStore store = server.connect();
        Watch.Changes<String, Document> changes =
            Watch.documents(store, GraphRuns.collection(), key -> key, node -> node)) {
      path =
          "/v1/nodes/"
              + send(
                      server,
                      "POST",
                      "/v1/nodes",
                      "application/json",
                      """
                      [{"metadata": {"type": "command"},
                        "data": {"command": "false", "attempts": 3, "retry_delay": "1h"}}]
                      """)
                  .get(0)
                  .get("id")
                  .asString();
      paused = send(server, "GET", path, "text/plain", "");
      while (!paused.has("notBefore")) {
        // The graph may answer a little later than the change is known here.
        var _ = changes.next(Duration.ofMillis(100), _ -> true);
        paused = send(server, "GET", path, "text/plain", "");
      }
      assertThat(paused.get("attempt").asInt()).isEqualTo(1);
      server.kill();
    }
    try (ServerProcess server = ServerProcess.start(folder, "strict")) {
      JsonNode after = send(server, "GET", path, "text/plain", "");
      assertThat(after.get("notBefore")).isEqualTo(paused.get("notBefore"));
      assertThat(after.get("attempt")).isEqualTo(paused.get("attempt"));
      assertThat(after.get("state")).isEqualTo(paused.get("state"));
      server.kill();
    }
  }
}
