package io.millrace.server.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.registry.Queues;
import io.millrace.store.TaskStore;
import io.millrace.work.Watch;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server that is killed while schedules start runs every second: each second has one run. */
@Timeout(600)
class ScheduleKillTest {
  private static final int KILLS = 3;
  private static final int SCHEDULES = 20;
  private static final int GRAPHS = 3;
  private static final String GRAPH =
      """
      {"graph": {"nodes": [{"metadata": {"type": "group", "local": "a"}},
        {"metadata": {"type": "group", "parent": "local:a"}}]}}
      """;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static Queues queues(TaskStore store) {
    return Queues.in(store, Clock.systemUTC(), new Random(3));
  }

  @Test
  void a_server_that_is_killed_starts_each_run_once(@TempDir Path folder) throws Exception {
    for (int kill = 0; kill < KILLS; kill++) {
      try (ServerProcess server = ServerProcess.start(folder, "strict");
          TaskStore store = server.connect()) {
        Queues queues = queues(store);
        if (kill == 0) {
          var _ = queues.queues().create("work", "shell", Queue.Settings.DEFAULTS);
          for (int i = 0; i < SCHEDULES; i++) {
            create(server, "s" + i, "{\"queue\": \"work\"}");
          }
          for (int i = 0; i < GRAPHS; i++) {
            create(server, "g" + i, GRAPH);
          }
        }
        // In the midst of the runs of a second.
        awaitTasks(queues, SCHEDULES * 3 / 2);
        server.kill();
      }
    }
    try (ServerProcess server = ServerProcess.start(folder, "strict");
        TaskStore store = server.connect()) {
      Queues queues = queues(store);
      awaitTasks(queues, SCHEDULES);
      check(queues);
      checkGraph(server);
      server.kill();
    }
  }

  private static void create(ServerProcess server, String name, String target)
      throws IOException, InterruptedException {
    String form =
        """
        {"times": [{"every": "1s"}], "overlap": "allow", "missed": "all", "window": "1d",
         "target": %s}
        """
            .formatted(target);
    String _ =
        send(
            server,
            "/schedules/" + name,
            request ->
                request
                    .header("Content-Type", "application/json")
                    .PUT(HttpRequest.BodyPublishers.ofString(form)));
  }

  private static String send(
      ServerProcess server, String path, UnaryOperator<HttpRequest.Builder> kind)
      throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.address() + path));
      HttpResponse<String> answer =
          client.send(kind.apply(request).build(), HttpResponse.BodyHandlers.ofString());
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      return answer.body();
    }
  }

  /** The group of a run has the name of the schedule and the nominal time. */
  private static void checkGraph(ServerProcess server) throws IOException, InterruptedException {
    Map<String, NavigableSet<Long>> seconds = new HashMap<>();
    List<JsonNode> nodes = new ArrayList<>();
    for (List<JsonNode> page = nodesAfter(server, 0); !page.isEmpty(); ) {
      nodes.addAll(page);
      page = nodesAfter(server, page.getLast().path("id").asLong());
    }
    for (JsonNode node : nodes) {
      String[] words = node.path("name").asString("").split(" ", -1);
      if (words.length == 2) {
        boolean first =
            seconds
                .computeIfAbsent(words[0], _ -> new TreeSet<>())
                .add(Instant.parse(words[1]).toEpochMilli());
        assertThat(first).as("one run of %s at %s", words[0], words[1]).isTrue();
      }
    }
    assertThat(seconds).hasSize(GRAPHS);
    checkComplete(seconds);
  }

  private static List<JsonNode> nodesAfter(ServerProcess server, long newest)
      throws IOException, InterruptedException {
    String path = "/v1/nodes?metadata=name&timeout=0&new=" + newest;
    JsonNode page = JsonMapper.shared().readTree(send(server, path, HttpRequest.Builder::GET));
    return (page.isArray() ? page : page.path("nodes")).valueStream().toList();
  }

  private static void awaitTasks(Queues queues, int count) throws InterruptedException {
    try (Watch.Changes<ObjectId, QueueTask> changes = queues.changes()) {
      Set<ObjectId> seen = new HashSet<>();
      while (seen.size() < count) {
        Set<ObjectId> more = changes.next(PATIENCE, _ -> true).keySet();
        assertThat(more).isNotEmpty();
        seen.addAll(more);
      }
    }
  }

  private static void check(Queues queues) {
    Map<String, NavigableSet<Long>> seconds = new HashMap<>();
    queues
        .tasks()
        .each(task -> {
          QueueTask.Scheduled run = Objects.requireNonNull(task.scheduled());
          boolean first =
              seconds.computeIfAbsent(run.name(), _ -> new TreeSet<>()).add(run.nominalMillis());
          assertThat(first).as("one run of %s at %s", run.name(), run.nominalMillis()).isTrue();
        });
    assertThat(seconds).hasSize(SCHEDULES);
    checkComplete(seconds);
  }

  private static void checkComplete(Map<String, NavigableSet<Long>> seconds) {
    seconds.forEach((name, times) -> {
      List<Long> all =
          LongStream.iterate(times.first(), time -> time <= times.last(), time -> time + 1_000)
              .boxed()
              .toList();
      assertThat(times).as("no second is lost of %s", name).containsExactlyElementsOf(all);
    });
  }
}
