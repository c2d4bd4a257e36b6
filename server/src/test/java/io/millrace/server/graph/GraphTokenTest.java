package io.millrace.server.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What commands may do that run as nodes. */
final class GraphTokenTest {
  private static final String SERVER = "Bearer the-servers-own";

  @TempDir private Path folder;

  /** A script that says what it knows, and then waits for a file. */
  private String knowing() {
    return "echo $MILLRACE_NODE_ID $MILLRACE_URL $MILLRACE_TOKEN; until [ -e "
        + folder.resolve("end")
        + " ]; do sleep 0.05; done";
  }

  /** The words of a script that has begun. */
  private static String[] words(Graphs graph, String node) throws Exception {
    String said = "";
    while (!said.endsWith("\n")) {
      LockSupport.parkNanos(5_000_000);
      graph.get("/scheduler/wait?timeout=0&id=" + node);
      said = graph.data(node, "stdout").asString();
    }
    return said.strip().split(" ", -1);
  }

  private void end() throws IOException {
    Files.createFile(folder.resolve("end"));
  }

  @Test
  void a_running_command_may_change_what_is_its_own_and_nothing_else() throws Exception {
    try (Graphs graph = new Graphs(folder)) {
      String parent = graph.script("root", "true");
      String node = graph.script(parent, knowing());
      String other = graph.script("root", "sleep 0");
      assertThat(graph.settled(other)).isEqualTo("finished");
      String[] known = words(graph, node);
      assertThat(known).hasSize(3);
      assertThat(known[0]).isEqualTo(node);
      assertThat(known[1]).isEqualTo("http://127.0.0.1:" + graph.server().port());
      String[] as = {"Authorization", "Bearer " + known[2]};
      String below = "[{'metadata': {'type': 'group', 'parent': '%s'}}]";
      String child =
          graph.answer(201, "POST", "/nodes", below.formatted(node), as).at("/0/id").asString();
      graph.answer(200, "PUT", "/nodes/" + parent + "/data/note", "{'value': 'done'}", as);
      graph.answer(200, "PUT", "/nodes/" + node + "/data/note", "{'value': 'done'}", as);
      graph.answer(200, "PATCH", "/nodes/" + child, "{'name': 'mine'}", as);
      graph.answer(200, "GET", "/nodes/" + other, "", as);
      graph.refused(403, "POST", "/nodes", below.formatted("root"), as);
      graph.refused(403, "POST", "/nodes", below.formatted(other), as);
      graph.refused(403, "PUT", "/nodes/" + other + "/data/note", "{'value': 'x'}", as);
      graph.refused(403, "DELETE", "/nodes/" + other, "", as);
      graph.refused(403, "PUT", "/scheduler/kill?id=" + other, "", as);
      graph.answer(200, "DELETE", "/nodes/" + child, "", as);
      String forged = "Bearer " + known[2].replaceFirst("graph-[0-9]+", "graph-" + other);
      graph.refused(403, "GET", "/nodes", "", "Authorization", forged);
      end();
      assertThat(graph.settled(node)).isEqualTo("finished");
      assertThat(graph.refused(403, "GET", "/nodes", "", as)).contains("token");
      graph.answer(200, "GET", "/nodes", "", "Authorization", "Bearer of-anybody");
    }
  }

  @Test
  void a_server_with_a_token_lets_running_commands_in_and_only_at_the_graph() throws Exception {
    Path file = folder.resolve("token");
    Files.writeString(file, SERVER.substring("Bearer ".length()));
    String[] all = {"Authorization", SERVER};
    try (Graphs graph = new Graphs(folder, "server.token-file", file.toString())) {
      graph.refused(401, "GET", "/nodes", "");
      String script =
          "echo $MILLRACE_TOKEN; "
              + "until [ -e "
              + folder.resolve("end")
              + " ]; do sleep 0.05; done";
      String node =
          graph
              .answer(
                  201,
                  "POST",
                  "/nodes",
                  "[{'metadata': {'type': 'shell command'}, 'data': {'command': '"
                      + script
                      + "'}}]",
                  all)
              .at("/0/id")
              .asString();
      String token = "";
      while (!token.endsWith("\n")) {
        LockSupport.parkNanos(5_000_000);
        token = graph.get("/nodes/" + node + "/data/stdout", all).required("data").asString();
      }
      String[] own = {"Authorization", "Bearer " + token.strip()};
      graph.answer(200, "PUT", "/nodes/" + node + "/data/note", "{'value': 1}", own);
      assertThat(graph.server().get("/store/groups", own).statusCode()).isEqualTo(403);
      assertThat(graph.server().get("/v1", own).statusCode()).isEqualTo(403);
      end();
      graph.get("/scheduler/wait?id=" + node, all);
      graph.refused(403, "GET", "/nodes", "", own);
    }
  }
}
