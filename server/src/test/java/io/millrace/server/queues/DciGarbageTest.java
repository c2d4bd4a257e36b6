package io.millrace.server.queues;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nothing that a client sends is answered with a mistake of the server. */
final class DciGarbageTest {
  private static final List<String> POSTS =
      List.of(
          "/queues",
          "/queues/demo",
          "/queues/%00",
          "/nodes/x",
          "/nodes/%F0%9F%92%A9",
          "/config",
          "/config?node=%2F",
          "/tasks/search",
          "/tasks/demo",
          "/tasks/demo?status=-9",
          "/tasks/wait",
          "/tasks/demo/users",
          "/tasks/id/000000000000000000000000/cancel",
          "/tasks/id/x/requeue",
          "/set-queue-attr-json",
          "/start-queue-json",
          "/delete-queue-json",
          "/queue-create-tasks-json",
          "/queue-create-tasks-from-query-json",
          "/search-tasks-json");

  private static final List<String> VALUES =
      List.of(
          "null",
          "true",
          "-1",
          "1e400",
          "99999999999999999999",
          "\"\"",
          "\"\\ud800\"",
          "\"{{x}}\"",
          "[]",
          "{}",
          "[[{}]]",
          "{\"$oid\": 1}",
          "{\"$date\": []}",
          "{\"$gt\": 1}",
          "\"6b0250568aa4ca1049000000\"",
          "[\"demo\"]",
          "\"demo\"",
          "[{\"a\": \"\\ud800\"}]",
          "[".repeat(300),
          "{\"a\":".repeat(190) + "1" + "}".repeat(190),
          "\"document.a.b\"",
          "{\"limit\": 1e9}",
          "{\"sort\": {\"\": 1}}",
          "{\"projection\": {\"\": 1, \"..\": 1}}",
          "\"" + "n".repeat(600) + "\"",
          "\u0000");

  private static final List<String> NAMES =
      List.of(
          "name",
          "plugin",
          "threads",
          "sort",
          "nodes_pin",
          "maxthreads",
          "filter",
          "options",
          "count",
          "terse",
          "pretty",
          "params",
          "ids",
          "timeout",
          "queueid",
          "attr",
          "value",
          "type",
          "id",
          "object",
          "collection",
          "jsonfilter",
          "queue",
          "limit",
          "skip",
          "node",
          "plugins",
          "log_level",
          "output_max_bytes",
          "reason",
          "",
          "$where");

  @Test
  void garbage_is_never_answered_with_500(@TempDir Path folder) throws Exception {
    Random random = new Random(11);
    try (Dci dci = new Dci(folder)) {
      dci.post("/queues", "{'name': 'demo', 'plugin': 'shell'}");
      for (int i = 0; i < 1_000; i++) {
        String path = POSTS.get(random.nextInt(POSTS.size()));
        String body = body(random);
        String type = random.nextInt(5) == 0 ? Dci.FORM : Dci.JSON;
        check(dci.send("POST", path, type, body), path + " " + body);
      }
      for (String path :
          List.of(
              "/nodes/",
              "/queues/%ff",
              "/queues/x%2F",
              "/tasks/id/",
              "/tasks/id/x/stdout",
              "/tasks/id/%00/stderr?offset=-1",
              "/config?node=a&node=b",
              "/queues/" + "q".repeat(2_000))) {
        check(dci.server().get("/dci" + path), path);
      }
      assertThat(dci.get("/queues")).isNotEmpty();
      assertThat(dci.post("/tasks/search", "{'terse': 0}").isArray()).isTrue();
      assertThat(dci.post("/search-tasks-json", "{}").isArray()).isTrue();
    }
  }

  private static void check(HttpResponse<String> response, String what) {
    assertThat(response.statusCode()).as("%s: %s", what, response.body()).isLessThan(500);
    if (response.statusCode() == 400) {
      assertThat(response.body())
          .as(what)
          .contains(response.body().startsWith("[") ? "[0," : "\"error\":");
    }
  }

  private static String body(Random random) {
    if (random.nextInt(6) == 0) {
      return VALUES.get(random.nextInt(VALUES.size()));
    }
    StringBuilder body = new StringBuilder("{");
    for (int i = 0; i <= random.nextInt(4); i++) {
      body.append(i == 0 ? "" : ", ")
          .append('"')
          .append(NAMES.get(random.nextInt(NAMES.size())))
          .append("\": ")
          .append(VALUES.get(random.nextInt(VALUES.size())));
    }
    return body + (random.nextInt(20) == 0 ? "" : "}");
  }
}
