package io.millrace.server.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server that is killed while work waits for its time: delays and timeouts go on. */
@Timeout(600)
class TimesKillTest {
  private static final long DELAY_MILLIS = 3_000;

  private final HttpClient client = HttpClient.newHttpClient();

  private JsonNode send(ServerProcess server, String method, String path, String type, String body)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(server.address() + path))
            .header("Content-Type", type)
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(path + ": " + answer.body()).isBetween(200, 299);
    return JsonMapper.shared().readTree(answer.body().isEmpty() ? "{}" : answer.body());
  }

  private JsonNode get(ServerProcess server, String path) throws Exception {
    return send(server, "GET", path, "text/plain", "");
  }

  private JsonNode post(ServerProcess server, String path, String json) throws Exception {
    return send(server, "POST", path, "application/json", json);
  }

  private String task(ServerProcess server, String setting) throws Exception {
    return post(server, "/dci/tasks/q?" + setting, "[{\"user1\": \"x\"}]")
        .findValue("$oid")
        .asString();
  }

  private void job(ServerProcess server, String key, String name, String value) throws Exception {
    StringBuilder body = new StringBuilder();
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("Priority", "batch");
    fields.put("Payload", "x");
    fields.put("Key", key);
    fields.put(name, value);
    fields.forEach((field, text) ->
        body.append(
            "--b\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n"
                .formatted(field, text)));
    send(
        server,
        "POST",
        "/api/jobs/submit",
        "multipart/form-data; boundary=b",
        body.append("--b--\r\n").toString());
  }

  @Test
  void delays_and_timeouts_go_on_through_a_kill(@TempDir Path folder) throws Exception {
    String late;
    String stale;
    JsonNode nodes;
    JsonNode graph;
    long submitted = System.currentTimeMillis();
    try (ServerProcess server = ServerProcess.start(folder, "strict")) {
      post(server, "/dci/queues", "{\"name\": \"q\", \"plugin\": \"demo\", \"threads\": 3}");
      late = task(server, "delay=3s");
      stale = task(server, "wait_timeout=1s");
      job(server, "late", "Delay", "3s");
      job(server, "stale", "wait_timeout", "1s");
      nodes =
          post(
              server,
              "/v1/nodes",
              """
              [{"metadata": {"type": "command"}, "data": {"command": "true", "delay": 3}},
               {"metadata": {"type": "wait for"},
                "data": {"time": "2999-01-01T00:00:00Z", "total_timeout": 2}}]
              """);
      graph =
          post(
              server,
              "/v1/nodes?delay=3s",
              """
              [{"metadata": {"type": "group", "local": "g"}},
               {"metadata": {"type": "command", "local": "a", "parent": "local:g"},
                "data": {"command": "true"}},
               {"metadata": {"type": "command", "parent": "local:a"}, "data": {"command": "true"}}]
              """);
      server.kill();
    }
    try (ServerProcess server = ServerProcess.start(folder, "strict")) {
      assertThat(get(server, "/dci/tasks/id/" + late).path("not_before").asLong(0))
          .isGreaterThanOrEqualTo(submitted + DELAY_MILLIS);
      String root = graph.get(1).get("id").asString();
      String last = graph.get(2).get("id").asString();
      assertThat(get(server, "/v1/scheduler/wait?id=" + last + "&timeout=300").get(last).asString())
          .isEqualTo("finished");
      assertThat(get(server, "/v1/nodes/" + root).get("started").asLong())
          .isGreaterThanOrEqualTo(submitted + DELAY_MILLIS);
      String first = nodes.get(0).get("id").asString();
      String second = nodes.get(1).get("id").asString();
      JsonNode ends = get(server, "/v1/scheduler/wait?id=" + first + "," + second + "&timeout=300");
      assertThat(ends.get(first).asString()).isEqualTo("finished");
      assertThat(ends.get(second).asString()).isEqualTo("failed");
      assertThat(get(server, "/v1/nodes/" + first).get("started").asLong())
          .isGreaterThanOrEqualTo(submitted + DELAY_MILLIS);
      assertThat(get(server, "/v1/nodes/" + second).get("reason").asString())
          .contains("it took longer than 2s in all");
      JsonNode waited =
          post(server, "/dci/tasks/wait", "{\"ids\": [\"" + stale + "\"], \"timeout\": 300000}");
      assertThat(waited.get("tasks").get(stale).asInt()).isEqualTo(2);
      assertThat(get(server, "/dci/tasks/id/" + stale).get("reason").asString())
          .contains("wait_timeout of 1s");
      JsonNode job = get(server, "/api/jobs/stale");
      while (job.get("status").asString().equals("pending")) {
        LockSupport.parkNanos(5_000_000);
        job = get(server, "/api/jobs/stale");
      }
      assertThat(job.get("status").asString()).isEqualTo("failed");
      HttpRequest next =
          HttpRequest.newBuilder(URI.create(server.address() + "/api/worker/next?wait=60"))
              .header("Content-Type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofString("{\"name\": \"w\", \"id\": \"w\"}"))
              .build();
      assertThat(
              client
                  .send(next, HttpResponse.BodyHandlers.ofString())
                  .headers()
                  .firstValue("Millrace-Job-Id"))
          .isPresent();
      assertThat(System.currentTimeMillis()).isGreaterThanOrEqualTo(submitted + DELAY_MILLIS);
      assertThat(get(server, "/api/jobs/late").get("status").asString()).isEqualTo("running");
      server.kill();
    }
  }
}
