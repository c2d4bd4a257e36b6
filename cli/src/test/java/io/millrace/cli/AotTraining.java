package io.millrace.cli;

import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.client.JsonCalls;
import io.millrace.client.jobs.JobClient;
import io.millrace.client.jobs.JobKind;
import io.millrace.client.jobs.JobWorker;
import io.millrace.client.jobs.JobWorkerOptions;
import io.millrace.client.queues.QueueClient;
import io.millrace.client.queues.TaskOrder;
import io.millrace.store.Claim;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Puts load on a server while the build records its AOT cache (JEP 483, 514). The cache then knows
 * which code is hot and how it is used, and a server that starts with it is compiled, and fast,
 * some seconds earlier. Started by build/record-caches.
 */
final class AotTraining {
  private static final int CLIENTS = 16;
  private static final int LIFECYCLES = 1_000;
  private static final int COMMANDS = 100;
  private static final int JOBS = 100;
  private static final int TASKS = 20_000;
  private static final int SEARCHES = 10;

  /** For each part: a slow machine or disk must not make the build wait. */
  private static final Duration LONGEST = Duration.ofSeconds(10);

  private static final Duration LEASE = Duration.ofMinutes(1);

  /** The type of the jobs, which the server has to know. */
  private static final JobKind<String, String> KIND =
      JobKind.of("training", String.class, String.class);

  private AotTraining() {}

  /** The only argument is the address of the server. */
  public static void main(String[] args) throws Exception {
    URI server = URI.create(args[0]);
    runLifecycles(server);
    runJobs(server);
    runGraph(server);
    runSearches(server);
  }

  /** What one of several clients does at the same time as the others. */
  private interface Part {
    void run() throws Exception;
  }

  /** Each client does its part again and again, for some time at most. */
  private static void together(int times, IntFunction<Part> partOf) {
    long end = System.nanoTime() + LONGEST.toNanos();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int client = 1; client <= CLIENTS; client++) {
        Part part = partOf.apply(client);
        var _ =
            threads.submit(() -> {
              for (int i = 0; i < times && System.nanoTime() - end < 0; i++) {
                part.run();
              }
              return null;
            });
      }
    }
  }

  private static void runLifecycles(URI server) {
    try (HttpTaskStore store = HttpTaskStore.open(server)) {
      together(
          LIFECYCLES,
          client -> {
            Owner owner = Owner.client(client);
            return () -> live(store, owner);
          });
    }
  }

  private static void live(HttpTaskStore store, Owner owner) {
    store.commit(Transaction.by(owner).add("training", "a task of some bytes").build()).done();
    for (Task task : store.claim(Claim.of(owner, "training", LEASE)).done().tasks()) {
      store.commit(Transaction.by(owner).delete(task.ref()).build()).done();
    }
  }

  private static void runJobs(URI server) throws Exception {
    JobWorkerOptions options = JobWorkerOptions.at(server, "training").withConcurrency(CLIENTS);
    try (JobClient jobs = JobClient.open(ClientOptions.at(server));
        JobWorker _ = JobWorker.start(options, KIND, (payload, _) -> payload)) {
      together(JOBS, _ -> () -> jobs.call(KIND, "a payload", LONGEST));
    }
  }

  /** Looks among tasks of a queue that runs none, in the ways in which a page of tasks does. */
  private static void runSearches(URI server) {
    try (QueueClient queues = QueueClient.open(ClientOptions.at(server))) {
      String queue = queues.create("searched", "shell", Map.of("threads", 0));
      queues.submitAll(
          queue,
          IntStream.range(0, TASKS).mapToObj(i -> Map.of("command", "echo " + i % 100)).toList(),
          TaskOrder.DEFAULT);
      long end = System.nanoTime() + LONGEST.toNanos();
      List<Map<String, ?>> filters =
          List.of(
              Map.of("queue", queue),
              Map.of("params.command", "date"),
              Map.of("params.command", "echo 7"),
              Map.of("params.command", Map.of("$contains", "date")),
              Map.of("params.size", Map.of("$gt", TASKS)),
              Map.of("ctime", Map.of("$lt", 0)));
      for (int i = 0; i < SEARCHES && System.nanoTime() - end < 0; i++) {
        filters.forEach(filter -> {
          var _ = queues.list(filter, null);
          var _ = queues.count(filter);
        });
      }
    }
  }

  private static void runGraph(URI server) {
    ClientOptions options = ClientOptions.at(server).withResponseTimeout(LONGEST.multipliedBy(2));
    try (JsonCalls calls = JsonCalls.open(options)) {
      String group = calls.post("/v1/nodes", graph()).path(0).path("id").asString();
      calls.get("/v1/scheduler/wait?until=settled&id=" + group + "&timeout=" + LONGEST.toSeconds());
      calls.get("/v1/nodes?start=");
    }
  }

  private static ArrayNode graph() {
    ArrayNode nodes = JsonNodeFactory.instance.arrayNode();
    nodes.addObject().putObject("metadata").put("type", "group").put("local", "all");
    for (int i = 0; i < COMMANDS; i++) {
      ObjectNode node = nodes.addObject();
      node.putObject("metadata").put("type", "shell command").put("parent", "local:all");
      node.putObject("data").put("command", i % 2 == 0 ? "exec true" : "echo " + i);
    }
    return nodes;
  }
}
