package io.millrace.server.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * A graph that grows by itself to 10,000 nodes: a command adds commands below itself, each of which
 * adds groups and waits. {@code -Dmillrace.growth.first=N} and {@code -Dmillrace.growth.second=N}
 * say how many, and with {@code -Dmillrace.growth.commands=true} a third of the last are commands.
 */
@Timeout(1_800)
final class GraphGrowthTest {
  private static final int FIRST = Integer.getInteger("millrace.growth.first", 99);
  private static final int SECOND = Integer.getInteger("millrace.growth.second", 100);
  private static final String LAST =
      Boolean.getBoolean("millrace.growth.commands")
          ? "'command', 'group', 'wait for'"
          : "'group', 'wait for'";

  /** So many nodes can be waited for in one request. */
  private static final int AT_ONCE = 1_000;

  /**
   * Adds so many nodes below its own, each of which adds so many of its own where the second number
   * says so; nodes of the types given in turn otherwise. What it may not do it tries too. Bash
   * speaks to the server itself, since nothing else need be there, and without another process for
   * each node.
   */
  private static final String GROW =
      """
      post() {
        local address=${MILLRACE_URL#http://}
        exec 3<>"/dev/tcp/${address%:*}/${address##*:}"
        printf '%s\\r\\n' "POST /v1/nodes HTTP/1.1" "Host: $address" "Connection: close" \\
          "Authorization: Bearer $MILLRACE_TOKEN" "Content-Length: ${#1}" "" >&3
        printf '%s' "$1" >&3
        read -r _ status _ <&3
        exec 3>&-
      }
      node() {
        nodes+='{"metadata":{"type":"'$1'","parent":"'$2'"},"data":'$3'},'
      }
      declare -A data=(["command"]='{"command":"true"}' ["group"]='{}'
        ["wait for"]='{"time":"2000-01-01T00:00:00Z"}')
      script=$0 count=$1 next=$2
      shift 2
      kinds=("$@")
      nodes=
      for ((i = 0; i < count; i++)); do
        if [ "$next" -gt 0 ]; then
          printf -v types ',"%s"' "${kinds[@]}"
          node command $MILLRACE_NODE_ID '{"command":"bash","args":["'$script'","'$next'","0"'"$types"']}'
        else
          kind=${kinds[i % ${#kinds[@]}]}
          node "$kind" $MILLRACE_NODE_ID "${data[$kind]}"
        fi
      done
      post "[${nodes%,}]"
      [ "$status" = 201 ] || exit 1
      for other in root $((MILLRACE_NODE_ID - 1)); do
        nodes=
        node group $other '{}'
        post "[${nodes%,}]"
        [ "$status" = 403 ] || exit 2
      done
      """;

  @Test
  void a_graph_grows_by_itself_and_all_of_it_runs(@TempDir Path folder) throws Exception {
    Path script = Files.writeString(folder.resolve("grow.sh"), GROW);
    try (Graphs graph = new Graphs(folder)) {
      // For the first one to try what is not its own.
      finish(graph, List.of(graph.add("command", "root", "{'command': 'true'}")));
      String root =
          graph.add(
              "command",
              "root",
              "{'command': 'bash', 'args': ['%s', '%d', '%d', %s]}"
                  .formatted(script, FIRST, SECOND, LAST));
      finish(graph, List.of(root));
      List<String> children = newer(graph, root).subList(0, FIRST);
      finish(graph, children);
      List<String> all = newer(graph, root);
      assertThat(all).hasSize(FIRST + FIRST * SECOND);
      finish(graph, all);
      assertThat(newer(graph, root)).hasSameSizeAs(all);
      assertThat(graph.get("/nodes/" + children.getFirst()).required("parent").asString())
          .isEqualTo(root);
    }
  }

  private static void finish(Graphs graph, List<String> ids) throws Exception {
    for (int from = 0; from < ids.size(); from += AT_ONCE) {
      String some = String.join(",", ids.subList(from, Math.min(ids.size(), from + AT_ONCE)));
      // In steps, as the client of the tests does not wait for long.
      JsonNode states = graph.get("/scheduler/wait?until=settled&timeout=20&id=" + some);
      while (isPending(states)) {
        states = graph.get("/scheduler/wait?until=settled&timeout=20&id=" + some);
      }
      assertThat(states).allMatch(state -> state.asString().equals("finished"));
    }
  }

  private static boolean isPending(JsonNode states) {
    for (JsonNode state : states) {
      if (Set.of("incipient", "ready", "running").contains(state.asString())) {
        return true;
      }
    }
    return false;
  }

  private static List<String> newer(Graphs graph, String id) throws Exception {
    List<String> ids = new ArrayList<>();
    JsonNode page = graph.get("/nodes?metadata=&start=&timeout=0&new=" + id);
    page.required("nodes").forEach(node -> ids.add(node.required("id").asString()));
    while (!page.at("/pagination/next").isNull()) {
      page =
          graph.get(
              "/nodes?metadata=&new=%s&start=%s&pid=%s"
                  .formatted(
                      id,
                      page.at("/pagination/next").asString(),
                      page.at("/pagination/pid").asString()));
      page.required("nodes").forEach(node -> ids.add(node.required("id").asString()));
    }
    return ids;
  }
}
