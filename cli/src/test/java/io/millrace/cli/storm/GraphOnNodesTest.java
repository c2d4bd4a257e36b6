package io.millrace.cli.storm;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.Program;
import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Commands of a graph on the execution node of a server, all of it real. */
@Timeout(600)
class GraphOnNodesTest {
  private static final JsonMapper JSON = new JsonMapper();

  @Test
  void a_command_on_an_execution_node_is_given_and_tells_all_that_one_on_the_server_does(
      @TempDir Path root) throws Exception {
    Program.Ready ready =
        Program.startReady(
            root.resolve("server.log"),
            List.of(
                "up",
                "--port",
                "0",
                "--data",
                root.resolve("data").toString(),
                "--set",
                "graph.commands=commands"));
    Program server = ready.program();
    int from = ready.line().indexOf("http://");
    URI address = URI.create(ready.line().substring(from, ready.line().indexOf(' ', from)));
    try (JsonCalls calls = JsonCalls.open(ClientOptions.at(address))) {
      createQueue(address);
      String node = tellsAll(calls);
      endsAndFails(calls, node);
      isKilled(calls);
      server.stop();
      // Runners end by themselves when they find that their node has.
      Program.awaitNone(root);
    } finally {
      server.kill();
      Program.killAll(root);
    }
  }

  private static void createQueue(URI address) {
    Shell.CommandResult ran =
        Shell.run(
            new byte[0],
            "queues",
            "create",
            "commands",
            "--server",
            address.toString(),
            "--plugin",
            "exec",
            "--threads",
            "4");
    assertThat(ran.code()).as(ran.err()).isZero();
  }

  private static String tellsAll(JsonCalls calls) {
    String node =
        add(
            calls,
            """
            cat
            echo "$GREETING, $MILLRACE_NODE_ID.$MILLRACE_ATTEMPT" >&2
            curl -sSf -H "Authorization: Bearer $MILLRACE_TOKEN" "$MILLRACE_URL/v1/nodes" -d '[{
              "metadata": {"type": "command", "parent": "'$MILLRACE_NODE_ID'", "name": "child"},
              "data": {"command": "sh", "args": ["-c", "exit $1", "sh", "7"]}}]' >/dev/null
            """);
    assertThat(settled(calls, node)).isEqualTo("finished");
    assertThat(data(calls, node, "stdout")).isEqualTo("given'\"\n$HOME ");
    assertThat(data(calls, node, "stderr")).isEqualTo("good day, " + node + ".1\n");
    assertThat(data(calls, node, "mixedout")).contains(data(calls, node, "stdout"));
    assertThat(data(calls, node, "mixedout")).contains(data(calls, node, "stderr"));
    assertThat(data(calls, node, "result")).isEqualTo("0");
    return node;
  }

  private static void endsAndFails(JsonCalls calls, String node) {
    JsonNode added = calls.get("/v1/nodes?below=" + node).get(1);
    assertThat(added.required("name").asString()).isEqualTo("child");
    String child = added.required("id").asString();
    assertThat(settled(calls, child)).isEqualTo("failed");
    assertThat(data(calls, child, "result")).isEqualTo("7");
    assertThat(calls.get("/v1/nodes/" + child).required("reason").asString())
        .isEqualTo("exit code 7");
  }

  private static void isKilled(JsonCalls calls) {
    String endless = add(calls, "echo begun; while :; do sleep 0.1; done");
    while (!data(calls, endless, "stdout").contains("begun")) {
      calls.get("/v1/scheduler/wait?timeout=1&id=" + endless);
    }
    calls.put("/v1/scheduler/kill?id=" + endless, JSON.createObjectNode());
    assertThat(settled(calls, endless)).isEqualTo("killed");
    assertThat(data(calls, endless, "stdout")).isEqualTo("begun\n");
  }

  private static String add(JsonCalls calls, String script) {
    ArrayNode nodes = JSON.createArrayNode();
    ObjectNode node = nodes.addObject();
    node.putObject("metadata").put("type", "shell command");
    ObjectNode data = node.putObject("data");
    data.put("command", script).put("stdin", "given'\"\n$HOME ");
    data.putObject("env").put("GREETING", "good day");
    return calls.post("/v1/nodes", nodes).get(0).required("id").asString();
  }

  private static String settled(JsonCalls calls, String id) {
    return calls
        .get("/v1/scheduler/wait?until=settled&timeout=120&id=" + id)
        .required(id)
        .asString();
  }

  private static String data(JsonCalls calls, String id, String key) {
    return calls.get("/v1/nodes/" + id + "/data/" + key).required("data").asString();
  }
}
