package io.millrace.server;

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

/** A graph that grows by itself: each command adds what is to come after it. */
@Timeout(1_800)
final class GraphGrowthTest {
  private static final int FIRST = Integer.getInteger("millrace.growth.first", 5);
  private static final int SECOND = Integer.getInteger("millrace.growth.second", 5);

  /** So many nodes can be waited for in one request. */
  private static final int AT_ONCE = 1_000;

  /** Adds as many nodes below its own as the first argument says, and gives them the others. */
  private static final String GROW =
      """
      [ $# -gt 0 ] || exit 0
      count=$1
      shift
      args=\\"$0\\"
      for each in "$@"; do args="$args,\\"$each\\""; done
      node='{"metadata":{"type":"command","parent":"'$MILLRACE_NODE_ID'"},'
      node="$node\\"data\\":{\\"command\\":\\"bash\\",\\"args\\":[$args]}}"
      all=$node
      while [ "$count" -gt 1 ]; do all="$all,$node"; count=$((count - 1)); done
      echo "[$all]" | exec curl -sSf -H "Authorization: Bearer $MILLRACE_TOKEN" \\
        "$MILLRACE_URL/v1/nodes" -d @-
      """;

  @Test
  void a_graph_grows_by_itself_and_all_of_it_runs(@TempDir Path folder) throws Exception {
    Path script = Files.writeString(folder.resolve("grow.sh"), GROW);
    try (Graphs graph = new Graphs(folder)) {
      String root =
          graph.add(
              "command",
              "root",
              "{'command': 'bash', 'args': ['%s', '%d', '%d']}".formatted(script, FIRST, SECOND));
      finish(graph, List.of(root));
      List<String> first = newer(graph, root);
      assertThat(first).hasSizeGreaterThanOrEqualTo(FIRST);
      List<String> children = first.subList(0, FIRST);
      finish(graph, children);
      List<String> all = newer(graph, root);
      assertThat(all).hasSize(FIRST + FIRST * SECOND);
      finish(graph, all);
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
