package io.millrace.cli.storm;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.graph.view.GraphCalls;
import io.millrace.cli.queues.Program;
import io.millrace.cli.storm.CommandGraph.Command;
import io.millrace.cli.storm.CommandGraph.RandomNode;
import io.millrace.cli.storm.CommandGraph.Wait;
import io.millrace.cli.storm.CommandLog.Run;
import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * A server that is killed in the middle of a graph. {@code -Dmillrace.graphkill.nodes=1000} makes
 * it as large as is promised, {@code -Dmillrace.graphkill.commands=1000} makes all of them
 * commands, {@code -Dmillrace.graphkill.kills=N} kills more often, {@code
 * -Dmillrace.graphkill.seed=N} draws the same graph again.
 */
@Timeout(1_800)
class GraphKillTest {
  private static final int NODES = Integer.getInteger("millrace.graphkill.nodes", 350);
  private static final int COMMANDS = Integer.getInteger("millrace.graphkill.commands", 100);
  private static final int KILLS = Integer.getInteger("millrace.graphkill.kills", 1);
  private static final long SEED = Long.getLong("millrace.graphkill.seed", System.nanoTime());

  /** So many nodes are waited for in one request. */
  private static final int AT_ONCE = 500;

  @Test
  void each_attempt_begins_once_and_after_its_parents_though_the_server_is_killed(
      @TempDir Path root, TestReporter reporter) throws Exception {
    reporter.publishEntry("seed", String.valueOf(SEED));
    Path file = root.resolve("runs");
    CommandGraph graph = CommandGraph.draw(NODES, COMMANDS, new SplittableRandom(SEED));
    try (StormServer server = new StormServer(root);
        JsonCalls calls = JsonCalls.open(ClientOptions.at(server.at("/")))) {
      List<String> ids = new ArrayList<>();
      long begin = System.currentTimeMillis();
      calls
          .post("/v1/nodes", graph.request(file, begin))
          .forEach(node -> ids.add(node.required("id").asString()));
      Set<Run> cut = new HashSet<>();
      for (int kill = 1; kill <= KILLS; kill++) {
        settled(calls, List.of(ids.get(NODES * kill / (KILLS + 1))));
        // What is under way may end before the server does: then the kill hit no command.
        do {
          while (CommandLog.read(file).underWay().isEmpty()) {
            calls.get("/v1/scheduler/wait?timeout=0.05&id=" + ids.getLast());
          }
          server.killAndStart(() -> cut.addAll(CommandLog.read(file).underWay()));
        } while (cut.isEmpty());
      }
      Map<String, String> states = settled(calls, ids);
      reporter.publishEntry("commands that ran over a kill", String.valueOf(cut.size()));
      assertThat(cut).as("commands that ran over a kill").isNotEmpty();
      CommandLog log = CommandLog.read(file);
      cut.forEach(log::end);
      Map<String, JsonNode> told = told(calls);
      int attempts = 0;
      for (RandomNode node : graph.nodes()) {
        String id = ids.get(node.number());
        assertThat(states.get(id)).as("node %s, seed %s", id, SEED).isEqualTo(node.state());
        checkTimes(told, node, ids);
        switch (node.work()) {
          case Wait wait ->
              assertThat(ended(told, id)).isGreaterThanOrEqualTo(begin + wait.millis());
          case Command command -> {
            attempts += node.attempts();
            checkRuns(log, graph, node, ids);
            checkData(calls, command, id);
          }
        }
      }
      assertThat(log.begun()).hasSize(attempts).containsAll(cut);
      server.stop();
    }
    Program.awaitNone(root);
  }

  /** The states of nodes once all of them have settled. */
  private static Map<String, String> settled(JsonCalls calls, List<String> ids) {
    Map<String, String> states = new TreeMap<>();
    for (int from = 0; from < ids.size(); from += AT_ONCE) {
      String some = String.join(",", ids.subList(from, Math.min(ids.size(), from + AT_ONCE)));
      JsonNode answer;
      do {
        answer = calls.get("/v1/scheduler/wait?until=settled&timeout=20&id=" + some);
      } while (answer
          .valueStream()
          .anyMatch(state -> Set.of("incipient", "ready", "running").contains(state.asString())));
      answer.properties().forEach(each -> states.put(each.getKey(), each.getValue().asString()));
    }
    return states;
  }

  /** All metadata, by id. */
  private static Map<String, JsonNode> told(JsonCalls calls) {
    Map<String, JsonNode> told = new TreeMap<>();
    new GraphCalls(calls)
        .nodes("", node -> node)
        .forEach(node -> told.put(node.required("id").asString(), node));
    return told;
  }

  private static long ended(Map<String, JsonNode> told, String id) {
    return Objects.requireNonNull(told.get(id)).required("ended").longValue();
  }

  /** It was tried as often as it should be, and at last when its parents had ended. */
  private static void checkTimes(Map<String, JsonNode> told, RandomNode node, List<String> ids) {
    JsonNode metadata = Objects.requireNonNull(told.get(ids.get(node.number())));
    assertThat(metadata.required("attempt").intValue()).isEqualTo(node.attempts());
    for (int parent : node.parents()) {
      assertThat(metadata.required("started").longValue())
          .as("%s after its parent %s", metadata, ids.get(parent))
          .isGreaterThanOrEqualTo(ended(told, ids.get(parent)));
    }
  }

  /** Each attempt began once, after the one before and after all that it was to wait for. */
  private static void checkRuns(
      CommandLog log, CommandGraph graph, RandomNode node, List<String> ids) {
    List<Run> before = new ArrayList<>();
    for (int number : node.parents()) {
      RandomNode parent = graph.nodes().get(number);
      if (parent.isCommand()) {
        before.add(new Run(ids.get(number), parent.attempts()));
      }
    }
    for (int attempt = 1; attempt <= node.attempts(); attempt++) {
      Run run = new Run(ids.get(node.number()), attempt);
      for (Run earlier : before) {
        assertThat(log.begin(run)).as("%s after %s", run, earlier).isGreaterThan(log.end(earlier));
      }
      before.add(run);
    }
    log.end(before.getLast());
  }

  /** What its last attempt wrote is there, and its exit code. */
  private static void checkData(JsonCalls calls, Command command, String id) {
    String path = "/v1/nodes/" + id;
    assertThat(data(calls, path, "stdout")).isEqualTo("begun " + id + "\n");
    assertThat(data(calls, path, "stderr")).isEqualTo("ended " + id + "\n");
    assertThat(data(calls, path, "result")).isEqualTo(String.valueOf(command.exit()));
  }

  private static String data(JsonCalls calls, String path, String key) {
    return calls.get(path + "/data/" + key).required("data").asString();
  }
}
