package io.millrace.bench;

import io.millrace.bench.Bench.BenchException;
import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import io.millrace.store.StoreOptions.Journaling;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A graph of many nodes: adding them, reading them in pages, running them, and commands that do
 * nothing.
 */
final class GraphRun extends Scenario {
  private static final int NODES = 100_000;
  private static final int WARM_UP = 20_000;
  private static final int COMMANDS_A_SECOND = 200;

  /** How long commands run before they are measured; see {@link QueuesRun}. */
  private static final Duration WARMING = Duration.ofMinutes(1);

  /** The default of the server. */
  private static final int PLACES = 16;

  /** How many pages are read after the first one. */
  private static final int PAGES = 5;

  private static final List<String> SPAWNED = List.of("/bin/true");

  private static final double ADDING_SECONDS = 10;
  private static final double PAGE_MILLIS = 50;
  private static final double NODE_MILLIS = 1;

  GraphRun() {
    super(
        "graph",
        "a graph of " + NODES + " nodes: added, read in pages and run; commands beside spawn");
  }

  @Override
  void run(Context context) throws IOException, InterruptedException {
    Path folder = context.newFolder("graph");
    try (ServerProcess child =
            ServerProcess.store(context, folder.resolve("data"), Journaling.STRICT);
        JsonCalls calls = BenchGraph.calls(child.port())) {
      Path file = folder.resolve("go");
      try (BenchGraph graph = BenchGraph.create(calls, file)) {
        graph.add(Math.max(1, WARM_UP / context.scale()), "wait for", past());
        graph.run();
      }
      try (BenchGraph graph = BenchGraph.create(calls, file)) {
        int nodes = Math.max(1, NODES / context.scale());
        adding(context, child, graph, nodes);
        pages(context, calls);
        scheduling(context, child, graph, nodes);
      }
      commands(context, child, calls, file);
    }
  }

  /** The data of a node that ends as soon as it starts. */
  private static ObjectNode past() {
    return JsonNodeFactory.instance.objectNode().put("time", "2000-01-01T00:00:00Z");
  }

  private void adding(Context context, ServerProcess child, BenchGraph graph, int nodes) {
    long began = System.nanoTime();
    Duration cpu = child.cpu();
    graph.add(nodes, "wait for", past());
    double seconds = (System.nanoTime() - began) / 1e9;
    String what =
        String.format(
            Locale.ROOT,
            "%,d nodes added over HTTP (server %.3f ms each)",
            nodes,
            millis(child.cpu().minus(cpu)) / nodes);
    context.add(
        Measurement.of(name(), what, seconds, "s").withTarget("≤ 10 s", seconds <= ADDING_SECONDS));
  }

  private static double millis(Duration time) {
    return time.toNanos() / 1e6;
  }

  private void pages(Context context, JsonCalls calls) {
    read(calls, context.time(), new Histogram(3), new Histogram(3));
    Histogram first = new Histogram(3);
    Histogram next = new Histogram(3);
    read(calls, context.time(), first, next);
    report(context, "GET /v1/nodes, a first page: p99", first);
    report(context, "GET /v1/nodes, a page behind it: p99", next);
  }

  /** Reads the first pages of the graph again and again, each time as it is then. */
  private static void read(JsonCalls calls, Duration time, Histogram first, Histogram next) {
    long end = System.nanoTime() + time.toNanos();
    do {
      JsonNode pagination = page(calls, "/v1/nodes?start=", first).path("pagination");
      for (int i = 0; i < PAGES && pagination.path("next").isString(); i++) {
        String rest =
            "/v1/nodes?start="
                + pagination.path("next").asString()
                + "&pid="
                + pagination.path("pid").asString();
        pagination = page(calls, rest, next).path("pagination");
      }
    } while (System.nanoTime() < end);
  }

  private static JsonNode page(JsonCalls calls, String path, Histogram micros) {
    long began = System.nanoTime();
    JsonNode page = calls.get(path);
    micros.recordValue((System.nanoTime() - began) / 1_000);
    return page;
  }

  private void report(Context context, String what, Histogram micros) {
    double p99 = (double) micros.getValueAtPercentile(99);
    context.add(
        Measurement.of(name(), what, p99 / 1e3, "ms")
            .withLatency((double) micros.getValueAtPercentile(50), p99)
            .withTarget("≤ 50 ms", p99 <= PAGE_MILLIS * 1e3));
  }

  private void scheduling(Context context, ServerProcess child, BenchGraph graph, int nodes)
      throws IOException {
    Duration cpu = child.cpu();
    Duration took = graph.run();
    double each = millis(child.cpu().minus(cpu)) / nodes;
    String what =
        String.format(
            Locale.ROOT,
            "processor time of a node without work (by the clock %.3f)",
            millis(took) / nodes);
    context.add(Measurement.of(name(), what, each, "ms").withTarget("< 1 ms", each < NODE_MILLIS));
  }

  private void commands(Context context, ServerProcess child, JsonCalls calls, Path file)
      throws IOException, InterruptedException {
    int count = (int) Math.max(20, COMMANDS_A_SECOND * context.time().toMillis() / 1000);
    ObjectNode nothing = JsonNodeFactory.instance.objectNode().put("command", "true");
    Duration warming = context.scale() == 1 ? WARMING : context.time();
    long warm = System.nanoTime() + warming.toNanos();
    do {
      commands(calls, file, count, nothing);
    } while (System.nanoTime() < warm);
    double alone = SpawnAlone.perSecond(SPAWNED, PLACES, context.time().dividedBy(2));
    Duration cpu = child.cpu();
    double rate = commands(calls, file, count, nothing);
    double each = millis(child.cpu().minus(cpu)) / count;
    alone = (alone + SpawnAlone.perSecond(SPAWNED, PLACES, context.time().dividedBy(2))) / 2;
    String what =
        String.format(
            Locale.ROOT, "commands true, %d at a time (server %.1f ms each)", PLACES, each);
    context.add(
        Measurement.of(name(), what, rate, "nodes/s")
            .withRatio(rate / alone, String.format(Locale.ROOT, "spawn's %,.0f", alone)));
  }

  private static double commands(JsonCalls calls, Path file, int count, ObjectNode data)
      throws IOException {
    try (BenchGraph graph = BenchGraph.create(calls, file)) {
      graph.add(count, "command", data);
      return count * 1e3 / Math.max(1, graph.run().toMillis());
    }
  }

  /**
   * Nodes of a server's graph that are released together: a group below a node that waits for a
   * file. Their times are those that the nodes have.
   *
   * @param gate the id of the node that waits for the file
   * @param group the id of the group that all are in
   * @param file the file
   */
  private record BenchGraph(JsonCalls calls, String gate, String group, Path file)
      implements AutoCloseable {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    /** The most nodes of a request. */
    private static final int REQUEST = 10_000;

    /** A client of the server at a port; an answer with ten thousand nodes may take some time. */
    static JsonCalls calls(int port) {
      return JsonCalls.open(
          ClientOptions.at(URI.create("http://127.0.0.1:" + port))
              .withResponseTimeout(Duration.ofMinutes(10)));
    }

    /** Adds the node that holds them back; the file must not exist. */
    static BenchGraph create(JsonCalls calls, Path file) {
      ArrayNode nodes = JSON.arrayNode();
      ObjectNode gate = nodes.addObject();
      gate.putObject("metadata").put("type", "wait for").put("local", "gate");
      gate.putObject("data").put("file", file.toString()).put("interval", 0.1);
      nodes.addObject().putObject("metadata").put("type", "group").put("parent", "local:gate");
      JsonNode added = calls.post("/v1/nodes", nodes);
      return new BenchGraph(calls, id(added.path(0)), id(added.path(1)), file);
    }

    private static String id(JsonNode node) {
      return node.path("id").asString();
    }

    /** Adds this many nodes of a type with the same data. */
    void add(int count, String type, ObjectNode data) {
      byte[] whole = request(REQUEST, type, data);
      for (int left = count; left > 0; left -= REQUEST) {
        calls.post("/v1/nodes", left >= REQUEST ? whole : request(left, type, data));
      }
    }

    private byte[] request(int count, String type, ObjectNode data) {
      ArrayNode nodes = JSON.arrayNode();
      for (int i = 0; i < count; i++) {
        ObjectNode node = nodes.addObject();
        node.putObject("metadata").put("type", type).put("parent", group);
        node.set("data", data);
      }
      return JsonMapper.shared().writeValueAsBytes(nodes);
    }

    /**
     * Releases them, and waits until all have ended.
     *
     * @return how long they took
     * @throws BenchException if one of them failed
     */
    Duration run() throws IOException {
      Files.createFile(file);
      String state =
          calls.get("/v1/scheduler/wait?until=settled&id=" + group).path(group).asString();
      if (!state.equals("finished")) {
        throw new BenchException("a group of nodes is " + state);
      }
      JsonNode told = calls.get("/v1/nodes/" + group);
      return Duration.ofMillis(told.path("ended").asLong() - told.path("started").asLong());
    }

    /** Removes all nodes. */
    @Override
    public void close() throws IOException {
      calls.delete("/v1/nodes/" + gate + "?below=true");
      Files.deleteIfExists(file);
    }
  }
}
