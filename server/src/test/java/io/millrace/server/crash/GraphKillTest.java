package io.millrace.server.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A server that is killed again and again while the commands of its graph run. */
@Timeout(600)
final class GraphKillTest {
  /** As for the whole size: {@code -Dmillrace.graphkill.nodes=1000}. */
  private static final int NODES = Integer.getInteger("millrace.graphkill.nodes", 60);

  private static final int CHAINS = 10;
  private static final int KILLS = 3;
  private static final JsonMapper MAPPER = JsonMapper.shared();

  @TempDir private Path folder;

  private static JsonNode send(ServerProcess server, String method, String path, String body)
      throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(server.address() + "/v1" + path))
              .timeout(Duration.ofMinutes(5))
              .method(method, BodyPublishers.ofString(body))
              .build();
      HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
      assertThat(answer.statusCode()).as(answer.body()).isLessThan(300);
      return MAPPER.readTree(answer.body());
    }
  }

  /** Chains of commands, each of which notes in a file that it has run. */
  private String nodes() {
    ArrayNode nodes = MAPPER.createArrayNode();
    for (int i = 0; i < NODES; i++) {
      ObjectNode node = nodes.addObject();
      node.putObject("metadata")
          .put("type", "shell command")
          .put("local", "n" + i)
          .put("parent", i < CHAINS ? "root" : "local:n" + (i - CHAINS));
      node.putObject("data")
          .put(
              "command",
              "echo $MILLRACE_NODE_ID >> "
                  + folder.resolve("ran")
                  + "; sleep 0.2; echo this is $MILLRACE_NODE_ID");
    }
    return nodes.toString();
  }

  @Test
  void every_command_runs_once_and_none_is_lost() throws Exception {
    Path data = folder.resolve("data");
    List<String> ids = new ArrayList<>();
    for (int kill = 1; kill <= KILLS; kill++) {
      try (ServerProcess server = ServerProcess.start(data, "strict")) {
        if (ids.isEmpty()) {
          send(server, "POST", "/nodes", nodes())
              .forEach(node -> ids.add(node.required("id").asString()));
        }
        send(server, "GET", "/scheduler/wait?id=" + ids.get(kill * NODES / (KILLS + 1)), "");
        server.kill();
      }
    }
    try (ServerProcess server = ServerProcess.start(data, "strict")) {
      String all = String.join(",", ids);
      JsonNode states = send(server, "GET", "/scheduler/wait?until=settled&id=" + all, "");
      assertThat(states).allMatch(state -> state.asString().equals("finished"));
      for (String id : ids) {
        assertThat(send(server, "GET", "/nodes/" + id + "/data/stdout", "").required("data"))
            .hasToString("\"this is " + id + "\\n\"");
        assertThat(send(server, "GET", "/nodes/" + id, "").required("attempt").intValue())
            .isEqualTo(1);
      }
      server.kill();
    }
    assertThat(Files.readAllLines(folder.resolve("ran"))).containsExactlyInAnyOrderElementsOf(ids);
  }
}
