package io.millrace.server.bulk;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.http.json.Json;
import io.millrace.server.TestServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Bulk actions on the nodes of a graph, while others change the same nodes. */
@NullMarked
final class BulkRaceTest {
  private static final int NODES = 960;
  private static final int CLIENTS = 6;
  private static final String GONE = "it changed meanwhile, and does not match any more";

  @TempDir private Path folder;
  private TestServer server;

  @BeforeEach
  void start() {
    server = TestServer.in(folder);
  }

  @AfterEach
  void close() {
    server.close();
  }

  private static JsonNode json(String body) {
    return Json.read(body.getBytes(StandardCharsets.UTF_8));
  }

  private static void meet(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Two actions kill the same nodes, and clients rename them meanwhile, so that what the actions
   * have read is out of date: each node is killed and counted once.
   */
  @Test
  void each_node_is_changed_by_one_of_two_actions_while_clients_change_it_too() throws Exception {
    String node =
        "{\"metadata\": {\"type\": \"command\"}, \"data\": {\"command\": \"true\", \"delay\":"
            + " \"1h\"}}";
    List<String> ids =
        json(server.post("/v1/nodes", Collections.nCopies(NODES, node).toString()).body())
            .valueStream()
            .map(each -> each.get("id").asString())
            .toList();
    CyclicBarrier start = new CyclicBarrier(CLIENTS + 2);
    List<Future<String>> actions = new ArrayList<>();
    List<Future<Integer>> renamed = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 2; i++) {
        actions.add(
            threads.submit(() -> {
              meet(start);
              return json(server
                      .post("/bulk", "{\"kind\": \"nodes\", \"action\": \"kill\", \"all\": true}")
                      .body())
                  .get("id")
                  .asString();
            }));
      }
      for (int client = 0; client < CLIENTS; client++) {
        int first = client;
        renamed.add(
            threads.submit(() -> {
              meet(start);
              int done = 0;
              for (int i = first; i < NODES; i += CLIENTS * 4) {
                String path = "/v1/nodes/" + ids.get(i);
                String name = "{\"name\": \"renamed\"}";
                done += server.send("PATCH", path, name).statusCode() == 200 ? 1 : 0;
              }
              return done;
            }));
      }
    }
    long killed = 0;
    for (Future<String> action : actions) {
      JsonNode ended = json(server.get("/bulk/" + action.get()).body());
      while (ended.get("state").asString().equals("running")) {
        LockSupport.parkNanos(5_000_000);
        ended = json(server.get("/bulk/" + action.get()).body());
      }
      assertThat(ended.get("state").asString()).isEqualTo("done");
      // An action that had read nodes before the other one killed them says so.
      assertThat(ended.get("reasons").propertyNames()).isSubsetOf(GONE);
      killed += ended.get("done").asLong();
    }
    assertThat(killed).isEqualTo(NODES);
    for (Future<Integer> each : renamed) {
      assertThat(each.get()).isEqualTo(NODES / CLIENTS / 4);
    }
    String states = server.get("/v1/nodes?metadata=name,state").body();
    assertThat(states.split("\"state\":\"killed\"", -1)).hasSize(NODES + 1);
    assertThat(states.split("\"name\":\"renamed\"", -1)).hasSize(NODES / 4 + 1);
  }
}
