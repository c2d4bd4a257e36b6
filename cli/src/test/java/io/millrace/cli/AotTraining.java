package io.millrace.cli;

import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.client.JsonCalls;
import io.millrace.store.Claim;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
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

  /** For each part: a slow machine or disk must not make the build wait. */
  private static final Duration LONGEST = Duration.ofSeconds(10);

  private static final Duration LEASE = Duration.ofMinutes(1);

  private AotTraining() {}

  /** The only argument is the address of the server. */
  public static void main(String[] args) {
    URI server = URI.create(args[0]);
    runLifecycles(server);
    runGraph(server);
  }

  private static void runLifecycles(URI server) {
    long end = System.nanoTime() + LONGEST.toNanos();
    try (HttpTaskStore store = HttpTaskStore.open(server);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      CompletableFuture<?>[] clients =
          IntStream.rangeClosed(1, CLIENTS)
              .mapToObj(Owner::client)
              .map(owner -> CompletableFuture.runAsync(() -> live(store, owner, end), threads))
              .toArray(CompletableFuture[]::new);
      CompletableFuture.allOf(clients).join();
    }
  }

  private static void live(HttpTaskStore store, Owner owner, long end) {
    for (int i = 0; i < LIFECYCLES && System.nanoTime() - end < 0; i++) {
      store.commit(Transaction.by(owner).add("training", "a task of some bytes").build()).done();
      for (Task task : store.claim(Claim.of(owner, "training", LEASE)).done().tasks()) {
        store.commit(Transaction.by(owner).delete(task.ref()).build()).done();
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
