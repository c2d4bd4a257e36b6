package io.millrace.queues.search;

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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Tasks of all kinds in a few queues, one of them deleted, drawn from a seed. */
final class Samples {
  private static final List<Integer> HELD = List.of(-3, -4, -5, -7, -8);

  /** Texts of which documents have another form, or whose lower case has. */
  static final List<String> ODD =
      List.of(
          "say \"{{x}}\" \\ or\n</b> 'n' Tab\tEnd",
          "\u212Aelvin, ΣΑΣ, \u0130ki und Straße\u0001",
          "{",
          "\uD83D\uDE00Smile");

  private static final Duration LEASE = Duration.ofMinutes(5);

  /** Numbers in other forms, and within lists and objects. */
  private static final List<String> NUMBERS =
      List.of("2E0", "20e-1", "-2", "-0", "3.0", "1e400", "36893488147419103232").stream()
          .flatMap(number -> Stream.of(number, "[" + number + ",4]", "{\"a\":" + number + "}"))
          .toList();

  private final Queues queues;
  private final Random random;
  final List<Queue> all = new ArrayList<>();

  Samples(Queues queues, Random random) {
    this.queues = queues;
    this.random = random;
  }

  /** Makes them. */
  List<QueueTask> make(int tasks) {
    Queue.Settings settings = Queue.Settings.DEFAULTS.withThreads(1_000);
    for (String name : List.of("one", "two", "three")) {
      all.add(queues.queues().create(name, "own", settings));
    }
    List<ObjectId> ids = new ArrayList<>();
    for (int i = 0; i < tasks; i++) {
      Queue queue = all.get(random.nextInt(all.size()));
      int status = random.nextInt(4) == 0 ? HELD.get(random.nextInt(HELD.size())) : Status.QUEUED;
      ids.addAll(queues.submission().submit(queue, List.of(params()), status));
    }
    run();
    queues.queues().delete(all.getLast().id());
    return ids.stream().map(id -> queues.tasks().find(id).orElseThrow()).toList();
  }

  private String pick(List<String> from) {
    return from.get(random.nextInt(from.size()));
  }

  private ObjectNode params() {
    ObjectNode params = JsonMapper.shared().createObjectNode().put("always", 1);
    switch (random.nextInt(7)) {
      case 5 -> params.set("a", JsonMapper.shared().readTree(pick(NUMBERS)));
      case 0 -> params.put("a", random.nextInt(5));
      case 1 -> params.put("a", random.nextInt(10) / 2.0);
      case 2 -> params.put("a", "text " + random.nextInt(3));
      case 3 -> params.putNull("a");
      case 4 -> params.put("a", pick(ODD));
      default -> {}
    }
    if (random.nextBoolean()) {
      params.putArray("list").add(random.nextInt(3)).add("x");
    }
    if (random.nextBoolean()) {
      params.putObject("deep").put("er", random.nextBoolean());
    }
    return params;
  }

  private void run() {
    var presence = new NodeIdentity("instance", "host", "7 mark", List.of("shell"));
    var node = queues.nodes().take("n1", null, presence).orElseThrow();
    for (Queue queue : all) {
      for (Run run : queues.runs().claim(node, queue, 40, LEASE)) {
        int fate = random.nextInt(5);
        if (fate > 0) {
          run = queues.runs().start(run, "8 mark", LEASE);
        }
        if (fate > 1) {
          TaskOutput output = new TaskOutput(new Output.Text("out"), Output.none());
          queues.runs().finish(run, new Report(fate - 1, output, List.of(), null));
        }
      }
    }
  }
}
