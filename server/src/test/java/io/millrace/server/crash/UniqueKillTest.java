package io.millrace.server.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A client that submits work to a server that is killed meanwhile, and repeats it: all of it is
 * there once, as a whole, and every answer names the same.
 */
@Timeout(600)
class UniqueKillTest {
  private static final int EACH = 40;
  private static final int KILLS = 1;
  private static final String NODES =
      """
      [{"metadata": {"type": "wait for", "local": "a"}, "data": {"time": "2999-01-01T00:00:00Z"}},
       {"metadata": {"type": "group", "parent": "local:a"}}]
      """;

  private final HttpClient client = HttpClient.newHttpClient();

  /** Work that can be submitted again and again. */
  private interface Work {
    HttpRequest.Builder submission(URI address, int number);
  }

  private CompletableFuture<HttpResponse<String>> send(HttpRequest.Builder request) {
    return client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private JsonNode json(HttpRequest.Builder request) {
    HttpResponse<String> answer = send(request).join();
    assertThat(answer.statusCode()).as(answer.body()).isBetween(200, 299);
    return JsonMapper.shared().readTree(answer.body());
  }

  private static HttpRequest.Builder at(URI address, String path) {
    return HttpRequest.newBuilder(URI.create(address + path));
  }

  private Map<Integer, CompletableFuture<HttpResponse<String>>> submitAll(
      ServerProcess server, Work work) {
    Map<Integer, CompletableFuture<HttpResponse<String>>> answers = new LinkedHashMap<>();
    for (int number = 0; number < EACH; number++) {
      answers.put(number, send(work.submission(server.address(), number)));
    }
    return answers;
  }

  /** Submits all work before, between and after kills. */
  private void submitThroughKills(
      ServerProcess first, Path folder, Work work, Function<JsonNode, String> named)
      throws Exception {
    Map<Integer, String> known = new HashMap<>();
    ServerProcess server = first;
    for (int kills = 0; kills < KILLS; kills++) {
      Map<Integer, CompletableFuture<HttpResponse<String>>> answers = submitAll(server, work);
      CompletableFuture.anyOf(answers.values().toArray(CompletableFuture[]::new)).join();
      server.kill();
      answers.forEach((number, answer) -> {
        try {
          note(known, number, answer.join(), named);
        } catch (CompletionException _) {
          // The server was killed before the answer.
        }
      });
      server.close();
      server = ServerProcess.start(folder, "strict");
    }
    try (ServerProcess last = server) {
      submitAll(last, work).forEach((number, answer) -> note(known, number, answer.join(), named));
      assertThat(known).hasSize(EACH);
      assertThat(known.values()).doesNotHaveDuplicates();
      assertThat(
              json(at(last.address(), "/v1/nodes")).size()
                  + json(at(last.address(), "/api/jobs")).size()
                  + json(at(last.address(), "/dci/tasks/search")
                          .header("Content-Type", "application/json")
                          .POST(BodyPublishers.ofString("{\"filter\": {}, \"count\": true}")))
                      .get("count")
                      .asInt())
          .isEqualTo(known.values().stream().mapToInt(ids -> ids.split(" ", -1).length).sum());
      last.kill();
    }
  }

  private static void note(
      Map<Integer, String> known,
      int number,
      HttpResponse<String> answer,
      Function<JsonNode, String> named) {
    assertThat(answer.statusCode()).as(answer.body()).isBetween(200, 299);
    String ids = named.apply(JsonMapper.shared().readTree(answer.body()));
    assertThat(known.getOrDefault(number, ids)).as("number " + number).isEqualTo(ids);
    known.put(number, ids);
  }

  @Test
  void graphs_are_there_once_and_whole(@TempDir Path folder) throws Exception {
    // Half of them have the id of a request, the others a unique key.
    submitThroughKills(
        ServerProcess.start(folder, "strict"),
        folder,
        (address, number) ->
            at(address, "/v1/nodes?" + (number % 2 == 0 ? "requestid" : "unique") + "=g" + number)
                .POST(BodyPublishers.ofString(NODES)),
        nodes -> nodes.get(0).get("id").asString() + " " + nodes.get(1).get("id").asString());
  }

  @Test
  void jobs_are_there_once(@TempDir Path folder) throws Exception {
    submitThroughKills(
        ServerProcess.start(folder, "strict"),
        folder,
        (address, number) ->
            at(address, "/api/jobs/submit")
                .header("Content-Type", "multipart/form-data; boundary=b")
                .POST(
                    BodyPublishers.ofString(
                        """
                        --b\r
                        Content-Disposition: form-data; name="Priority"\r
                        \r
                        batch\r
                        --b\r
                        Content-Disposition: form-data; name="%s"\r
                        \r
                        j%d\r
                        --b\r
                        Content-Disposition: form-data; name="Payload"\r
                        \r
                        x\r
                        --b--\r
                        """
                            .formatted(number % 2 == 0 ? "RequestId" : "unique", number))),
        job -> job.get("id").asString());
  }

  @Test
  void queue_tasks_are_there_once(@TempDir Path folder) throws Exception {
    ServerProcess server = ServerProcess.start(folder, "strict");
    json(
        at(server.address(), "/dci/queues")
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"name\": \"q\", \"plugin\": \"demo\"}")));
    submitThroughKills(
        server,
        folder,
        (address, number) ->
            at(address, "/dci/tasks/q?unique=t" + number)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("[{\"user1\": \"x\"}]")),
        answer -> answer.findValue("$oid").asString());
  }
}
