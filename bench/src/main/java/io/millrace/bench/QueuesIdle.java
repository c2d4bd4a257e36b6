package io.millrace.bench;

import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The processor time of an execution node and of its server while nothing happens: a sleeping task
 * takes the only slot of a queue, first with an empty queue behind it, then with a long one.
 */
final class QueuesIdle extends Scenario {
  private static final int WAITING = 1_000_000;
  private static final double TARGET_PERCENT = 1;

  /** The shares of a core are small, and processor time is given in steps of 10 ms. */
  private static final int TIMES = 12;

  /** After it was filled, a server writes a snapshot, collects garbage and compiles for a while. */
  private static final int SETTLING = 6;

  QueuesIdle() {
    super(
        "queues-idle",
        String.format(
            Locale.ROOT,
            "a node and its server beside %,d waiting tasks, the slot taken",
            WAITING));
  }

  @Override
  void run(Context context) throws IOException, InterruptedException {
    if (!MillraceProcess.isHere()) {
      context.say(name(), "left out, as the program with its node is not here");
      return;
    }
    Path folder = context.newFolder("idle");
    try (MillraceProcess server = MillraceProcess.server(context, folder, "--no-node");
        MillraceProcess node = node(folder, server);
        JsonCalls calls = JsonCalls.open(ClientOptions.at(server.address()))) {
      BenchQueue queue = BenchQueue.create(calls, "shell", 1);
      String sleeping = queue.submit(1, command("sleep 86400"));
      queue.awaitRunning(1);
      measure(context, server, node, 0);
      int tasks = Math.max(1, WAITING / context.scale());
      queue.submit(tasks, command("true"));
      measure(context, server, node, tasks);
      queue.halt();
      queue.terminate(sleeping);
      queue.awaitRunning(0);
    }
  }

  private static MillraceProcess node(Path folder, MillraceProcess server) throws IOException {
    List<String> node =
        List.of(
            "node",
            "--name",
            "bench",
            "--server",
            server.address().toString(),
            "--data",
            folder.resolve("node").toString());
    return MillraceProcess.start(ServerProcess.command(), folder.resolve("node.log"), node);
  }

  private static ObjectNode command(String words) {
    return JsonNodeFactory.instance.objectNode().put("command", words);
  }

  private void measure(Context context, MillraceProcess server, MillraceProcess node, int waiting)
      throws InterruptedException {
    Thread.sleep(context.time().multipliedBy(SETTLING));
    MillraceProcess.Usage serverBefore = server.usage();
    MillraceProcess.Usage nodeBefore = node.usage();
    Duration time = context.time().multipliedBy(TIMES);
    long began = System.nanoTime();
    Thread.sleep(time);
    double millis = (System.nanoTime() - began) / 1e6;
    double ofNode = 100 * node.usage().since(nodeBefore).server() / millis;
    double ofServer = 100 * server.usage().since(serverBefore).server() / millis;
    String beside = String.format(Locale.ROOT, " beside %,d waiting tasks", waiting);
    context.add(
        Measurement.of(name(), "node" + beside, ofNode, "% of a core")
            .withTarget("< 1 %", ofNode < TARGET_PERCENT));
    context.add(Measurement.of(name(), "server" + beside, ofServer, "% of a core"));
  }
}
