package io.millrace.cli.queues;

import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.client.JsonCalls;
import io.millrace.queues.ObjectId;
import io.millrace.queues.registry.Queues;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A server and nodes as processes. Each of them can be killed and started again. */
final class KillFixture implements AutoCloseable {
  private static final Duration RETRY = Duration.ofSeconds(60);
  private static final Duration ROUND = Duration.ofSeconds(20);

  private final Path root;
  private final URI address;
  private final ClientOptions options;
  private final Map<String, Program> nodes = new LinkedHashMap<>();
  private Program server;

  KillFixture(Path root) throws IOException {
    this.root = root;
    Program.Ready ready = startServer("0");
    server = ready.program();
    String greeting = ready.line();
    int from = greeting.indexOf("http://");
    address = URI.create(greeting.substring(from, greeting.indexOf(' ', from)));
    options = ClientOptions.at(address).withRetryFor(RETRY);
  }

  private Program.Ready startServer(String port) throws IOException {
    return Program.startReady(
        words("server"),
        List.of("up", "--no-node", "--data", root.resolve("server").toString(), "--port", port));
  }

  private Path words(String name) {
    return root.resolve(name + ".log");
  }

  HttpTaskStore connect() {
    return HttpTaskStore.open(options);
  }

  static Queues queues(HttpTaskStore store) {
    return Queues.in(store, Clock.systemUTC(), new SecureRandom());
  }

  /** Kills the server; it starts again on the same folder and port. */
  void killServer() throws IOException {
    server.killAlive();
    server = startServer(String.valueOf(address.getPort())).program();
  }

  private Path folder(String node) {
    return root.resolve("nodes").resolve(node);
  }

  void startNode(String name) throws IOException {
    nodes.put(
        name,
        Program.start(
            words(name),
            List.of(
                "node",
                "--name",
                name,
                "--server",
                address.toString(),
                "--warm-runners",
                "3",
                "--data",
                folder(name).toString())));
  }

  /** Kills a node, and starts it again. */
  void killNode(String name) throws IOException {
    node(name).killAlive();
    startNode(name);
  }

  /** Kills a node, which does not come back. */
  void killNodeForGood(String name) {
    node(name).killAlive();
    nodes.remove(name);
  }

  /** How many claims wait in the store. */
  long claimsWaiting() throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest request = HttpRequest.newBuilder(address.resolve("/metrics")).build();
      String name = "millrace_store_claims_waiting ";
      return client
          .send(request, HttpResponse.BodyHandlers.ofLines())
          .body()
          .filter(line -> line.startsWith(name))
          .mapToLong(line -> (long) Double.parseDouble(line.substring(name.length())))
          .sum();
    }
  }

  /**
   * Kills a node with all its runners and those that watch over their tasks, so that these tasks
   * run alone; and starts it again.
   *
   * @return how many there were beside the node
   */
  int killNodeAndRunners(String name) throws IOException {
    node(name).killAlive();
    List<ProcessHandle> runners = Program.speakingOf(folder(name).resolve("runners"));
    runners.forEach(ProcessHandle::destroyForcibly);
    startNode(name);
    return runners.size();
  }

  private Program node(String name) {
    @Nullable Program node = nodes.get(name);
    if (node == null) {
      throw new IllegalArgumentException("no node " + name);
    }
    return node;
  }

  /** Waits until all of these have ended. */
  void awaitEnds(List<ObjectId> tasks) {
    ObjectNode question = JsonNodeFactory.instance.objectNode();
    ArrayNode ids = question.putArray("ids");
    tasks.forEach(task -> ids.add(task.hex()));
    question.put("timeout", ROUND.toMillis());
    try (JsonCalls calls = JsonCalls.open(options)) {
      JsonNode answer;
      do {
        answer = calls.ask("/dci/tasks/wait", question, ROUND);
      } while (answer.path("ended").asInt() < tasks.size());
    }
  }

  /** Stops all nodes and the server, and waits until none of their processes is left. */
  void stop() throws Exception {
    for (Program node : nodes.values()) {
      node.stop();
    }
    for (ProcessHandle left : Program.speakingOf(root)) {
      if (left.pid() != server.pid()) {
        left.onExit().get(60, TimeUnit.SECONDS);
      }
    }
    server.stop();
  }

  /** Kills whatever a failed test has left. */
  @Override
  public void close() throws IOException {
    nodes.values().forEach(Program::kill);
    server.kill();
    Program.killAll(root);
  }
}
