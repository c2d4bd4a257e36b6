package io.millrace.server.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nothing that a client sends to the graph is answered with a mistake of the server. */
final class GraphGarbageTest {
  private static final List<String> REQUESTS =
      List.of(
          "POST /nodes",
          "POST /nodes",
          "POST /nodes",
          "GET /nodes",
          "GET /nodes/1",
          "PATCH /nodes/1",
          "PATCH /nodes/2",
          "DELETE /nodes/3",
          "POST /nodes/2/retry",
          "GET /nodes/1/data",
          "GET /nodes/1/data/note",
          "PUT /nodes/1/data/note",
          "PUT /nodes/1/data/file",
          "PUT /nodes/1/data/%00",
          "PUT /nodes/1/data/%F0%9F%92%A9",
          "PUT /nodes/x/data/y",
          "PUT /scheduler/kill",
          "GET /scheduler/wait",
          "GET /running",
          "GET /nodes/99999999999999999999",
          "DELETE /nodes/%2F");

  private static final List<String> VALUES =
      List.of(
          "null",
          "true",
          "-1",
          "1",
          "2",
          "1e400",
          "0.1e-400",
          "1" + "0".repeat(400),
          "99999999999999999999",
          "\"\"",
          "\"\\ud800\"",
          "\"{{x}}\"",
          "[]",
          "{}",
          "[[{}]]",
          "\"command\"",
          "\"wait for\"",
          "\"group\"",
          "\"condition\"",
          "\"job\"",
          "\"queue task\"",
          "\"root\"",
          "\"1\"",
          "\"local:a\"",
          "[\"1\", \"local:a\", \"root\"]",
          "\"a\"",
          "\"then\"",
          "{\"\": {\"\": null}}",
          "[".repeat(300),
          "{\"a\":".repeat(190) + "1" + "}".repeat(190),
          "\"" + "n".repeat(600) + "\"",
          "\u0000");

  private static final List<String> FIELDS =
      List.of(
          "type",
          "name",
          "local",
          "parent",
          "parents",
          "after",
          "branch",
          "always",
          "value",
          "metadata",
          "data",
          "command",
          "args",
          "env",
          "retries",
          "timeout",
          "file",
          "queue",
          "params",
          "payload",
          "id",
          "stdout",
          "",
          "note");

  private static final List<String> PARAMETERS =
      List.of(
          "type",
          "state",
          "status",
          "metadata",
          "new",
          "start",
          "pid",
          "pagid",
          "below",
          "id",
          "signal",
          "grace",
          "until",
          "after",
          "x");

  private static final List<String> TEXTS =
      List.of(
          "",
          "1",
          "2",
          "1,2",
          "-1",
          "0",
          "x",
          "1e9",
          "99999999999999999999",
          "settled",
          "INT",
          "running",
          "\u0000",
          "\ud83d\udca9",
          "root",
          "command",
          "1".repeat(500));

  @Test
  void garbage_is_never_answered_with_500(@TempDir Path folder) throws Exception {
    Random random = new Random(17);
    try (Graphs graph = new Graphs(folder)) {
      String never = "{'file': '" + folder.resolve("never") + "'}";
      String first = graph.add("wait for", "root", never);
      graph.add("wait for", first, never);
      for (int i = 0; i < 1_000; i++) {
        String[] request = REQUESTS.get(random.nextInt(REQUESTS.size())).split(" ", 2);
        String path = request[1] + query(random);
        String body = request[0].equals("GET") ? "" : body(request[1], random);
        String tag = random.nextInt(4) == 0 ? pick(TEXTS.subList(0, 9), random) : "*";
        HttpResponse<String> answer =
            graph.server().send(request[0], "/v1" + path, body, "If-Match", tag);
        assertThat(answer.statusCode())
            .as("%s %s %s: %s", request[0], path, body, answer.body())
            .isLessThan(500);
        if (answer.statusCode() >= 400) {
          assertThat(answer.body()).as("%s %s", path, body).contains("\"error\":");
        }
      }
      assertThat(graph.get("/nodes").toString()).contains("\"1\"");
      assertThat(graph.settled(graph.script("root", "true"))).isEqualTo("finished");
    }
  }

  private static String pick(List<String> from, Random random) {
    return from.get(random.nextInt(from.size()));
  }

  /** Every wait ends at once. */
  private static String query(Random random) {
    StringBuilder query = new StringBuilder("?timeout=0");
    for (int i = 0; i < random.nextInt(3); i++) {
      query
          .append('&')
          .append(pick(PARAMETERS, random))
          .append('=')
          .append(URLEncoder.encode(pick(TEXTS, random), StandardCharsets.UTF_8));
    }
    return query.toString();
  }

  private static String body(String path, Random random) {
    if (random.nextInt(6) == 0) {
      return pick(VALUES, random);
    }
    if (!path.equals("/nodes")) {
      return object(random);
    }
    StringBuilder nodes = new StringBuilder("[");
    for (int i = 0; i <= random.nextInt(3); i++) {
      nodes
          .append(i == 0 ? "" : ",")
          .append("{\"metadata\": ")
          .append(object(random))
          .append(", \"data\": ")
          .append(object(random))
          .append('}');
    }
    return nodes + (random.nextInt(20) == 0 ? "" : "]");
  }

  private static String object(Random random) {
    StringBuilder object = new StringBuilder("{");
    for (int i = 0; i <= random.nextInt(4); i++) {
      object
          .append(i == 0 ? "" : ", ")
          .append('"')
          .append(pick(FIELDS, random))
          .append("\": ")
          .append(pick(VALUES, random));
    }
    return object + (random.nextInt(20) == 0 ? "" : "}");
  }
}
