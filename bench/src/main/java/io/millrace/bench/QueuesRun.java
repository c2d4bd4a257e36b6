package io.millrace.bench;

import io.millrace.bench.Measurement.Load;
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
import java.util.Map;
import java.util.Objects;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Queue tasks run by the execution node of one server: how many, how soon, and many at a time. The
 * times are those of the tasks themselves, so that nothing is polled while they run.
 */
final class QueuesRun extends Scenario {
  private static final int WARM_RUNNERS = 16;
  private static final int WARM_UP = 1_000;

  /**
   * How long a server runs tasks before they are measured: on two cores its compilers are at work
   * for most of that time, and take as much of them as the tasks.
   */
  private static final Duration WARMING = Duration.ofMinutes(1);

  /** What the plugins start for the command {@code true}. */
  private static final Map<String, List<String>> SPAWNED =
      Map.of("shell", List.of("bash", "-c", "true"), "exec", List.of("true"));

  private static final int TASKS_A_SECOND = 400;
  private static final int SAMPLES_A_SECOND = 8;
  private static final int AT_ONCE = 100;
  private static final double RATE = 600;
  private static final double START_MILLIS = 50;
  private static final int RUNNING = 0;
  private static final String FIRST = "0".repeat(24);

  QueuesRun() {
    super(
        "queues-run",
        "queue tasks run by a node: how many a second, how soon, and " + AT_ONCE + " at once");
  }

  @Override
  void run(Context context) throws IOException, InterruptedException {
    if (!MillraceProcess.isHere()) {
      context.say(name(), "left out, as the program with its node is not here");
      return;
    }
    Path folder = context.newFolder("run");
    try (NodeServer server = NodeServer.start(context, folder, WARM_RUNNERS)) {
      long warm = System.nanoTime() + (context.scale() == 1 ? WARMING.toNanos() : 0);
      BenchQueue shell = BenchQueue.create(server.calls(), "shell", WARM_RUNNERS);
      throughput(context, server, shell, "shell", warm);
      soon(context, shell);
      BenchQueue exec = BenchQueue.create(server.calls(), "exec", WARM_RUNNERS);
      throughput(context, server, exec, "exec", warm);
      atOnce(context, server);
    }
  }

  private static ObjectNode command(String words) {
    return JsonNodeFactory.instance.objectNode().put("command", words);
  }

  /**
   * Measures one plugin.
   *
   * @param warmNanos when the server has been under load for long enough
   */
  private void throughput(
      Context context, NodeServer server, BenchQueue queue, String plugin, long warmNanos)
      throws InterruptedException {
    List<String> program = Objects.requireNonNull(SPAWNED.get(plugin));
    String before;
    do {
      before = queue.submit(Math.max(20, WARM_UP / context.scale()), command("true"));
      queue.awaitNone();
    } while (System.nanoTime() < warmNanos);
    double alone = SpawnAlone.perSecond(program, WARM_RUNNERS, context.time().dividedBy(2));
    int tasks = (int) Math.max(20, TASKS_A_SECOND * context.time().toMillis() / 1000);
    MillraceProcess.Usage used = server.usage();
    queue.submit(tasks, command("true"));
    queue.awaitNone();
    used = server.usage().since(used);
    alone = (alone + SpawnAlone.perSecond(program, WARM_RUNNERS, context.time().dividedBy(2))) / 2;
    double rate = rate(queue.tasks(before));
    String what = plugin + " true, " + WARM_RUNNERS + " warm (" + used.describe(tasks) + ")";
    context.add(
        Measurement.of(name(), what, rate, "tasks/s")
            .withRatio(rate / alone, String.format(Locale.ROOT, "spawn's %,.0f", alone))
            .withTarget("≥ 600", rate >= RATE));
  }

  /** Tasks per second, without the first twentieth of the ends and the last one. */
  private static double rate(List<JsonNode> tasks) {
    long[] ends = tasks.stream().mapToLong(task -> millis(task.path("mtime"))).sorted().toArray();
    int from = ends.length / 20;
    int to = ends.length - 1 - from;
    return (to - from) * 1e3 / Math.max(1, ends[to] - ends[from]);
  }

  /** A time in the answer to a search, which has seconds with decimals. */
  private static long millis(JsonNode seconds) {
    return Math.round(seconds.asDouble() * 1e3);
  }

  /** The time from the creation of a task to its start, on an idle node. */
  private void soon(Context context, BenchQueue queue) throws InterruptedException {
    Histogram millis = new Histogram(3);
    int samples = (int) Math.max(3, SAMPLES_A_SECOND * context.time().toMillis() / 1000);
    for (int i = 0; i < samples; i++) {
      JsonNode task = running(queue, queue.submit(1, command("sleep 1")));
      if (task != null) {
        long waited = task.path("mtime").asLong() - task.path("ctime").asLong();
        millis.recordValue(Math.max(0, waited));
      }
      queue.awaitNone();
    }
    double p50 = millis.getValueAtPercentile(50);
    double p99 = millis.getValueAtPercentile(99);
    context.add(
        Measurement.of(name(), "from creation to running, idle node", p50, "ms")
            .withLatency(p50 * 1e3, p99 * 1e3)
            .withTarget("≤ 50 ms", p50 <= START_MILLIS));
  }

  /** The task while it runs, when its time of change is that of its start; null if it has ended. */
  private static @Nullable JsonNode running(BenchQueue queue, String id)
      throws InterruptedException {
    while (true) {
      Thread.sleep(200);
      JsonNode task = queue.task(id);
      int status = task.path("status").asInt();
      if (status >= RUNNING) {
        return status == RUNNING ? task : null;
      }
    }
  }

  private void atOnce(Context context, NodeServer server) throws IOException, InterruptedException {
    int tasks = Math.max(2, AT_ONCE / context.scale());
    BenchQueue queue = BenchQueue.create(server.calls(), "shell", AT_ONCE);
    queue.submit(tasks, command("sleep 3600"));
    queue.awaitRunning(tasks);
    List<JsonNode> running = queue.tasks(FIRST);
    long created = running.stream().mapToLong(task -> millis(task.path("ctime"))).min().orElse(0);
    long last = running.stream().mapToLong(task -> millis(task.path("mtime"))).max().orElse(0);
    String what = tasks + " sleeping tasks";
    context.add(
        Measurement.of(
            name(), what + ", from creation to all running", (last - created) / 1e3, "s"));
    List<ProcessHandle> runners = server.runners();
    double mebibytes = 0;
    for (ProcessHandle runner : runners) {
      mebibytes += proportionalKibibytes(runner.pid()) / 1024;
    }
    context.add(
        Measurement.of(
            name(), what + ", memory of each runner", mebibytes / runners.size(), "MiB"));
    for (JsonNode task : running) {
      queue.terminate(task.path("_id").path("$oid").asString());
    }
    queue.awaitRunning(0);
  }

  /**
   * Its memory, with its share of what it shares with others; zero if the system does not tell it.
   */
  private static double proportionalKibibytes(long pid) throws IOException {
    Path file = Path.of("/proc", Long.toString(pid), "smaps_rollup");
    if (!Files.isReadable(file)) {
      return 0;
    }
    return Files.readAllLines(file).stream()
        .filter(line -> line.startsWith("Pss:"))
        .mapToDouble(line -> Double.parseDouble(line.replaceAll("[^0-9]", "")))
        .sum();
  }

  /** A server with its execution node. */
  private static final class NodeServer implements AutoCloseable {
    private final MillraceProcess program;
    private final JsonCalls calls;

    private NodeServer(MillraceProcess program) {
      this.program = program;
      this.calls = JsonCalls.open(ClientOptions.at(program.address()));
    }

    /** Starts it with an empty folder and this many warm runners. */
    static NodeServer start(Context context, Path folder, int warm) throws IOException {
      String runners = Integer.toString(warm);
      return new NodeServer(MillraceProcess.server(context, folder, "--warm-runners", runners));
    }

    /** Calls to its API. */
    JsonCalls calls() {
      return calls;
    }

    /** Its task runners. */
    List<ProcessHandle> runners() {
      return program.runners();
    }

    /** The processor time that the server, its runners and their programs have used so far. */
    MillraceProcess.Usage usage() {
      MillraceProcess.Usage usage = program.usage();
      for (ProcessHandle runner : runners()) {
        usage = usage.plus(MillraceProcess.Usage.ofRunner(runner.pid()));
      }
      return usage;
    }

    /** Stops it with all processes that it has started. */
    @Override
    public void close() {
      calls.close();
      program.close();
    }
  }

  /** Creation of queue tasks in bulk through the command interface. */
  static final class QueuesCreate extends Scenario {
    private static final String QUEUE = "shell-0";
    private static final double TARGET = 50_000;

    QueuesCreate() {
      super(
          "queues-create",
          "queue tasks created over HTTP, " + Protocol.Repeated.BATCH + " in a request");
    }

    @Override
    void run(Context context) throws IOException {
      for (int connections : List.of(1, 4)) {
        CommandLoad.Clients clients = CommandLoad.Clients.ofOneThread(connections);
        Path folder = context.newFolder("queues");
        try (ServerProcess child = ServerProcess.store(context, folder, Journaling.STRICT)) {
          int port = child.port();
          createQueue(port);
          CommandLoad driven =
              CommandLoad.run(
                  context, child, clients, _ -> Protocol.Repeated.createTasks(port, QUEUE));
          Load load = driven.load();
          context.add(
              Measurement.of(
                      name(), driven.describe("strict, " + clients), load.perSecond(), "tasks/s")
                  .withLatency(load.micros(50), load.micros(99))
                  .withTarget("≥ 50,000", load.perSecond() >= TARGET));
        }
      }
    }

    private static void createQueue(int port) {
      URI server = URI.create("http://127.0.0.1:" + port);
      try (JsonCalls calls = JsonCalls.open(ClientOptions.at(server))) {
        var _ = BenchQueue.create(calls, "shell", 0);
      }
    }
  }
}
