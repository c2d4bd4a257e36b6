package io.millrace.cli.queues;

import io.millrace.cli.remote.RemoteCommand;
import io.millrace.client.JsonCalls;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** The calls about queues that several commands make. */
public final class QueueCalls {
  /** Where queues are. */
  static final String PATH = "/dci/queues";

  private QueueCalls() {}

  /** All queues, with how many tasks they have. */
  public static List<JsonNode> all(JsonCalls calls) {
    List<JsonNode> queues = new ArrayList<>();
    calls.get(PATH).forEach(queues::add);
    return queues;
  }

  /**
   * A queue by id or name.
   *
   * @throws io.millrace.cli.terminal.CommandException if it is not there
   */
  public static JsonNode find(JsonCalls calls, String idOrName) {
    return RemoteCommand.named(() -> calls.get(path(idOrName)));
  }

  /** What keeps a queue from being served, in a word; {@code ok} for nothing. */
  static String health(JsonNode queue) {
    if (queue.path("halted").isObject()) {
      return "halted";
    }
    int nodes = queue.path("suspended").size();
    return nodes == 0 ? "ok" : "suspended on " + nodes + (nodes == 1 ? " node" : " nodes");
  }

  /** The same with reasons, for every node that could not start a runner. */
  static String reasons(JsonNode queue) {
    List<String> reasons = new ArrayList<>();
    JsonNode halted = queue.path("halted");
    if (halted.isObject()) {
      reasons.add("threads were " + halted.path("threads").asInt() + ", " + reason(halted));
    }
    for (JsonNode each : queue.path("suspended")) {
      if (!each.path("node").equals(halted.path("node"))) {
        reasons.add(reason(each));
      }
    }
    return String.join("; ", reasons);
  }

  private static String reason(JsonNode trouble) {
    return "node %s at %s: %s"
        .formatted(
            trouble.path("node").asString(),
            Instant.ofEpochMilli(trouble.path("timestamp").asLong()),
            trouble.path("reason").asString());
  }

  /** Where a queue is. */
  static String path(String idOrName) {
    return PATH + "/" + JsonCalls.part(idOrName);
  }
}
