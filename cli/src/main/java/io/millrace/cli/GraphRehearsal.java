package io.millrace.cli;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import java.net.URI;
import java.time.Duration;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Lets a server run a small graph of commands, so that those of a fresh one start sooner. */
final class GraphRehearsal {
  private static final int COMMANDS = 100;

  /** A slow machine must not make the build wait. */
  private static final Duration LONGEST = Duration.ofSeconds(10);

  private GraphRehearsal() {}

  /** Runs it and reads it; the exit code. */
  static int play(URI server) {
    ClientOptions options = ClientOptions.at(server).withAnswerTimeout(LONGEST.multipliedBy(2));
    try (JsonCalls calls = JsonCalls.open(options)) {
      String group = calls.post("/v1/nodes", nodes()).path(0).path("id").asString();
      // Where it takes longer, what has run until then is what was rehearsed.
      calls.get("/v1/scheduler/wait?until=settled&id=" + group + "&timeout=" + LONGEST.toSeconds());
      calls.get("/v1/nodes?start=");
    }
    return ExitCode.OK;
  }

  private static ArrayNode nodes() {
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
