package io.millrace.server.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.blobs.FileBlobStore;
import io.millrace.blobs.Value;
import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Submission;
import io.millrace.jobs.registry.Jobs;
import io.millrace.queues.NodeRecord;
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
import io.millrace.store.TaskStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * A server that is killed while finished jobs, tasks and graphs move to the archive: each of them
 * is in the store or in the archive, and in one of the two only.
 */
@Timeout(600)
class ArchiveKillTest {
  private static final int KILLS = 3;
  private static final int A_ROUND = 60;
  private static final Duration LEASE = Duration.ofMinutes(10);
  private static final String GRAPH =
      """
      [{"metadata": {"type": "group", "local": "a"}},
       {"metadata": {"type": "group", "parent": "local:a"}}]
      """;

  @TempDir private Path folder;

  private ServerProcess start() throws IOException {
    return ServerProcess.start(
        "",
        "-Xmx256m",
        "store.data",
        folder.toString(),
        "jobs.keep-count",
        "0",
        "graph.keep-count",
        "0",
        "queues.keep-count",
        "0");
  }

  private static JsonCalls calls(ServerProcess server) {
    return JsonCalls.open(ClientOptions.at(server.address()));
  }

  /** What has ended, by the ids that the archive gives its rows. */
  private static final class Finished {
    private final Set<String> jobs = new HashSet<>();
    private final Set<String> tasks = new HashSet<>();
    private final Set<String> graphs = new HashSet<>();
  }

  @Test
  void what_has_ended_is_in_the_store_or_in_the_archive() throws Exception {
    Finished finished = new Finished();
    for (int kill = 0; kill < KILLS; kill++) {
      try (ServerProcess server = start();
          TaskStore store = server.connect();
          JsonCalls calls = calls(server)) {
        finish(finished, store, calls, kill);
        // In the midst of the batches of the archive, which begin as soon as something has ended.
        int wanted = finished.graphs.size() / 2;
        while (archived(calls, "graphs").size() < wanted) {
          LockSupport.parkNanos(1_000_000);
        }
        server.kill();
      }
    }
    try (ServerProcess server = start();
        TaskStore store = server.connect();
        JsonCalls calls = calls(server)) {
      Queues queues = Queues.in(store, Clock.systemUTC(), new Random(KILLS));
      Jobs jobs = jobs(store, KILLS);
      while (!jobs.registry().list(JobFilter.ALL, null, 1).isEmpty()
          || !live(queues).isEmpty()
          || !calls.get("/v1/nodes?metadata=state").isEmpty()) {
        LockSupport.parkNanos(1_000_000);
      }
      assertThat(archived(calls, "jobs")).containsExactlyInAnyOrderElementsOf(finished.jobs);
      assertThat(archived(calls, "tasks")).containsExactlyInAnyOrderElementsOf(finished.tasks);
      assertThat(archived(calls, "graphs")).containsExactlyInAnyOrderElementsOf(finished.graphs);
      server.kill();
    }
  }

  private Jobs jobs(TaskStore store, int seed) {
    return Jobs.open(
        store,
        FileBlobStore.open(folder.resolve("blobs")),
        JobTypes.NONE,
        Jobs.Options.DEFAULTS,
        new Jobs.Environment(Clock.systemUTC(), new Random(1_000 + seed)));
  }

  /** Ends jobs, tasks and graphs of two nodes. */
  private void finish(Finished finished, TaskStore store, JsonCalls calls, int round) {
    Queues queues = Queues.in(store, Clock.systemUTC(), new Random(round));
    Queue queue =
        queues
            .queues()
            .find("work")
            .orElseGet(() ->
                queues
                    .queues()
                    .create("work", "shell", Queue.Settings.DEFAULTS.withThreads(10_000)));
    NodeRecord node =
        queues
            .nodes()
            .take("n" + round, null, new NodeIdentity("i" + round, "host", "1", List.of("shell")))
            .orElseThrow();
    for (ObjectId task :
        queues
            .submission()
            .submit(
                queue,
                Collections.nCopies(A_ROUND, JsonNodeFactory.instance.objectNode()),
                Status.QUEUED)) {
      finished.tasks.add(task.hex());
    }
    List<Run> runs = queues.runs().claim(node, queue, A_ROUND, LEASE);
    assertThat(runs).hasSize(A_ROUND);
    Jobs jobs = jobs(store, round);
    for (Run run : runs) {
      queues
          .runs()
          .finish(
              queues.runs().start(run, "7 mark", LEASE),
              new Report(1, new TaskOutput(Output.none(), Output.none()), List.of(), null));
      JobId id = jobs.registry().newId();
      Submission order = new Submission("", Priority.BATCH, null, null);
      var _ = jobs.registry().submit(id, order, new Value.Inline(new byte[1]));
      var _ = jobs.registry().cancel(id.toString());
      finished.jobs.add(id.toString());
      JsonNode added = calls.post("/v1/nodes", GRAPH.getBytes(StandardCharsets.UTF_8));
      added.forEach(each -> finished.graphs.add(each.path("id").asString()));
    }
  }

  private static List<QueueTask> live(Queues queues) {
    List<QueueTask> live = new ArrayList<>();
    queues.tasks().each(live::add);
    return live;
  }

  private static List<String> archived(JsonCalls calls, String kind) {
    List<String> ids = new ArrayList<>();
    String after = "";
    do {
      JsonNode page = calls.get("/archive/" + kind + "?limit=1000" + after);
      page.path(kind).forEach(row -> ids.add(row.path("id").asString()));
      after = page.path("next").isNull() ? "" : "&after=" + page.path("next").asString();
    } while (!after.isEmpty());
    return ids;
  }
}
