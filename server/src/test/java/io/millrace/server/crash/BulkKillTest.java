package io.millrace.server.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import io.millrace.client.jobs.JobClient;
import io.millrace.client.jobs.JobKind;
import io.millrace.graph.store.GraphRuns;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import io.millrace.store.Document;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.work.Watch;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A server that is killed in the middle of a bulk action: each task, node or job is changed once.
 */
@Timeout(600)
class BulkKillTest {
  private static final int KILLS = 2;
  private static final int TASKS = 6_000;
  private static final int NODES = 6_000;
  private static final int JOBS = 3_000;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static Queues queues(TaskStore store) {
    return Queues.in(store, Clock.systemUTC(), new Random(3));
  }

  @Test
  void a_server_that_is_killed_changes_each_task_once(@TempDir Path folder) throws Exception {
    String id = "";
    List<ObjectId> tasks = List.of();
    for (int kill = 0; kill < KILLS; kill++) {
      try (ServerProcess server = ServerProcess.start(folder, "strict");
          TaskStore store = server.connect()) {
        Queues queues = queues(store);
        if (kill == 0) {
          Queue queue = queues.queues().create("work", "shell", Queue.Settings.DEFAULTS);
          tasks =
              queues
                  .submission()
                  .submit(
                      queue,
                      Collections.nCopies(TASKS, JsonMapper.shared().createObjectNode()),
                      Status.QUEUED);
        }
        try (Watch.Changes<ObjectId, QueueTask> changes = queues.changes()) {
          if (kill == 0) {
            id =
                start(
                    server,
                    "{\"kind\": \"tasks\", \"action\": \"block\", \"filter\": {\"queue\":"
                        + " \"work\"}}");
          }
          if (isRunning(server, id)) {
            assertThat(changes.next(PATIENCE, _ -> true)).isNotEmpty();
          }
        }
        server.kill();
      }
    }
    try (ServerProcess server = ServerProcess.start(folder, "strict");
        TaskStore store = server.connect()) {
      JsonNode ended = done(server, store, id);
      // A task that is blocked is left alone, so a second visit would not count.
      assertThat(ended.path("done").asLong()).isEqualTo(TASKS);
      assertThat(ended.path("skipped").asLong()).isZero();
      Queues queues = queues(store);
      for (ObjectId task : tasks) {
        assertThat(queues.tasks().find(task).orElseThrow().status()).isEqualTo(Status.BLOCKED);
      }
      server.kill();
    }
  }

  @Test
  void a_server_that_is_killed_kills_each_node_once(@TempDir Path folder) throws Exception {
    String id = "";
    for (int kill = 0; kill < KILLS; kill++) {
      try (ServerProcess server = ServerProcess.start(folder, "strict");
          TaskStore store = server.connect();
          JsonCalls calls = JsonCalls.open(ClientOptions.at(server.address()))) {
        if (kill == 0) {
          String node =
              "{\"metadata\": {\"type\": \"command\"},"
                  + " \"data\": {\"command\": \"true\", \"delay\": \"1h\"}}";
          var _ =
              calls.post(
                  "/v1/nodes",
                  Collections.nCopies(NODES, node).toString().getBytes(StandardCharsets.UTF_8));
        }
        try (Watch.Changes<String, Document> changes =
            Watch.documents(store, GraphRuns.collection(), key -> key, node -> node)) {
          if (kill == 0) {
            id = start(server, "{\"kind\": \"nodes\", \"action\": \"kill\", \"all\": true}");
          }
          if (isRunning(server, id)) {
            assertThat(changes.next(PATIENCE, _ -> true)).isNotEmpty();
          }
        }
        server.kill();
      }
    }
    try (ServerProcess server = ServerProcess.start(folder, "strict");
        TaskStore store = server.connect();
        JsonCalls calls = JsonCalls.open(ClientOptions.at(server.address()))) {
      JsonNode ended = done(server, store, id);
      // A node that was killed is left alone, so a second visit would not count.
      assertThat(ended.path("done").asLong()).isEqualTo(NODES);
      assertThat(ended.path("skipped").asLong()).isZero();
      String killed =
          "{\"kind\": \"nodes\", \"action\": \"delete\", \"filter\": {\"state\": \"killed\"},"
              + " \"dry_run\": true}";
      assertThat(
              calls.post("/bulk", killed.getBytes(StandardCharsets.UTF_8)).path("total").asLong())
          .isEqualTo(NODES);
      server.kill();
    }
  }

  @Test
  void a_server_that_is_killed_moves_each_job_once(@TempDir Path folder) throws Exception {
    String id = "";
    for (int kill = 0; kill < KILLS; kill++) {
      try (ServerProcess server = withTypes(folder);
          TaskStore store = server.connect()) {
        if (kill == 0) {
          submitDrafts(server);
        }
        try (Watch.Changes<String, Document> progress =
            Watch.documents(store, "bulk.running", key -> key, running -> running)) {
          if (kill == 0) {
            id =
                start(
                    server,
                    "{\"kind\": \"jobs\", \"action\": \"move\", \"all\": true,"
                        + " \"options\": {\"type\": \"final\"}}");
          }
          if (isRunning(server, id)) {
            assertThat(progress.next(PATIENCE, id::equals)).isNotEmpty();
          }
        }
        server.kill();
      }
    }
    try (ServerProcess server = withTypes(folder);
        TaskStore store = server.connect()) {
      JsonNode ended = done(server, store, id);
      // A job that was moved is left alone, so a second visit would not count.
      assertThat(ended.path("done").asLong()).isEqualTo(JOBS);
      assertThat(ended.path("skipped").asLong()).isZero();
      assertThat(waiting(store, "jobs/draft/")).isZero();
      assertThat(waiting(store, "jobs/final/")).isEqualTo(JOBS);
      server.kill();
    }
  }

  private static ServerProcess withTypes(Path folder) throws IOException {
    return ServerProcess.start(
        "",
        "-Xmx256m",
        "store.data",
        folder.toString(),
        "store.snapshot-every",
        "400",
        "jobs.types.draft.description",
        "before",
        "jobs.types.final.description",
        "after");
  }

  private static void submitDrafts(ServerProcess server) throws InterruptedException {
    JobKind<Integer, Void> draft = JobKind.of("draft", Integer.class);
    try (JobClient client = JobClient.open(ClientOptions.at(server.address()))) {
      List<Thread> submitters = new ArrayList<>();
      List<Throwable> failures = new CopyOnWriteArrayList<>();
      for (int first = 0; first < JOBS; first += JOBS / 20) {
        int from = first;
        submitters.add(
            Thread.ofVirtual()
                .uncaughtExceptionHandler((_, failure) -> failures.add(failure))
                .start(() -> {
                  for (int number = from; number < from + JOBS / 20; number++) {
                    client.submit(draft, number);
                  }
                }));
      }
      for (Thread submitter : submitters) {
        submitter.join();
      }
      assertThat(failures).isEmpty();
    }
  }

  private static long waiting(TaskStore store, String prefix) {
    return store.groups().value().stream()
        .filter(group -> group.name().startsWith(prefix))
        .mapToLong(GroupSummary::waiting)
        .sum();
  }

  /** Waits for the end of a bulk action, which is to be done then. */
  private static JsonNode done(ServerProcess server, TaskStore store, String id) throws Exception {
    try (Watch.Changes<String, Document> ends =
        Watch.documents(store, "bulk.ended", key -> key, end -> end)) {
      while (isRunning(server, id)) {
        assertThat(ends.next(PATIENCE, id::equals)).isNotEmpty();
      }
    }
    JsonNode ended = show(server, id);
    assertThat(ended.path("state").asString()).isEqualTo("done");
    return ended;
  }

  private static boolean isRunning(ServerProcess server, String id) throws Exception {
    return show(server, id).path("state").asString().equals("running");
  }

  private static JsonNode show(ServerProcess server, String id) throws Exception {
    return send(HttpRequest.newBuilder(URI.create(server.address() + "/bulk/" + id)).build(), 200);
  }

  private static String start(ServerProcess server, String order) throws Exception {
    return send(
            HttpRequest.newBuilder(URI.create(server.address() + "/bulk"))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(order))
                .build(),
            202)
        .path("id")
        .asString();
  }

  private static JsonNode send(HttpRequest request, int status)
      throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
      return JsonMapper.shared().readTree(answer.body());
    }
  }
}
