package io.millrace.server.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.work.Watch;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server that is killed while nodes with a shared limit run, which outlive it. */
@Timeout(300)
class GraphLimitsKillTest {
  private static final int KILLS = 3;
  private static final int NODES = 24;
  private static final int MOST = 2;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration LITTLE = Duration.ofMillis(100);

  private static List<String> said(Path log) throws IOException {
    return Files.exists(log) ? Files.readAllLines(log) : List.of();
  }

  private static long nodes(JsonCalls calls, String state) {
    return calls.get("/v1/nodes?metadata=state&state=" + state).size();
  }

  @Test
  void a_limit_holds_through_kills_and_no_permit_is_left(@TempDir Path folder) throws Exception {
    Path log = folder.resolve("log");
    Path data = folder.resolve("data");
    for (int kill = 0; kill <= KILLS; kill++) {
      try (ServerProcess server = ServerProcess.start(data, "strict");
          TaskStore store = server.connect();
          JsonCalls calls = JsonCalls.open(ClientOptions.at(server.address()));
          Watch.Changes<String, String> changes =
              Watch.documents(store, "graph.nodes", key -> key, Object::toString)) {
        if (kill == 0) {
          var _ =
              calls.put(
                  "/limits/scanner", JsonMapper.shared().createObjectNode().put("running", MOST));
          // Appending a few bytes is atomic, so the file has the order of starts and ends.
          String node =
              ("{\"metadata\": {\"type\": \"shell command\"}, \"data\": {\"limits\": \"scanner\","
                      + " \"interruptions\": 9, \"command\": \"echo + >> %1$s; sleep 0.2; echo - >>"
                      + " %1$s\"}}")
                  .formatted(log);
          var _ =
              calls.post(
                  "/v1/nodes",
                  Collections.nCopies(NODES, node).toString().getBytes(StandardCharsets.UTF_8));
        }
        long goal = kill == KILLS ? NODES : nodes(calls, "finished") + 2;
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (nodes(calls, "finished") < goal) {
          assertThat(System.nanoTime())
              .as(() -> "nodes: " + calls.get("/v1/nodes?metadata=state,reason"))
              .isLessThan(end);
          // The graph may answer a little later than the change is known here.
          var _ = changes.next(LITTLE, _ -> true);
        }
        if (kill == KILLS) {
          while (store.groups().value().stream().anyMatch(GraphLimitsKillTest::isOfPermits)) {
            LockSupport.parkNanos(5_000_000);
          }
          JsonNode limit = calls.get("/limits/scanner");
          assertThat(limit.path("used").asInt()).isZero();
          assertThat(limit.path("nodes").asInt()).isZero();
        }
        server.kill();
      }
    }
    int running = 0;
    int most = 0;
    List<String> said = said(log);
    for (String each : said) {
      running += each.equals("+") ? 1 : -1;
      most = Math.max(most, running);
    }
    assertThat(most).isEqualTo(MOST);
    assertThat(said).hasSize(2 * NODES);
  }

  private static boolean isOfPermits(GroupSummary group) {
    return group.name().startsWith("graph/permits/");
  }
}
