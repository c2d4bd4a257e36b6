package io.millrace.server.queues;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.http.json.Json;
import io.millrace.server.TestServer;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Clients that submit with the same unique key at the same moment: one creates, and the others get
 * its id, marked as a duplicate.
 */
@NullMarked
final class UniqueRaceTest {
  private static final int CLIENTS = 16;
  private static final int ROUNDS = 5;

  /** Longer than what is stored in the commit, so that it is uploaded before it is known. */
  private static final String LONG = "x".repeat(100_000);

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

  /** What a submission was answered. */
  private record Answer(String id, boolean duplicate) {}

  /** Requests of all clients at the same moment, on connections of their own. */
  private static List<HttpResponse<String>> race(Callable<HttpResponse<String>> request)
      throws Exception {
    CyclicBarrier start = new CyclicBarrier(CLIENTS);
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<HttpResponse<String>>> answers = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        answers.add(
            clients.submit(() -> {
              start.await();
              return request.call();
            }));
      }
      List<HttpResponse<String>> all = new ArrayList<>();
      for (Future<HttpResponse<String>> answer : answers) {
        all.add(answer.get());
      }
      return all;
    }
  }

  private static JsonNode json(HttpResponse<String> response) {
    return Json.read(response.body().getBytes(StandardCharsets.UTF_8));
  }

  private static void assertOneCreated(List<Answer> answers) {
    assertThat(answers).filteredOn(answer -> !answer.duplicate()).hasSize(1);
    assertThat(answers.stream().map(Answer::id).distinct()).hasSize(1);
    assertThat(answers).hasSize(CLIENTS);
  }

  @Test
  void of_queue_tasks_with_a_key_one_is_created() throws Exception {
    server.post("/dci/queues", "{\"name\": \"q\", \"plugin\": \"demo\"}");
    for (int round = 0; round < ROUNDS; round++) {
      String path = "/dci/tasks/q?unique=k" + round;
      // Several of one request have the same key, too.
      String tasks = "[{\"user1\": \"a\"}, {\"user1\": \"b\"}]";
      List<Answer> answers = new ArrayList<>();
      for (HttpResponse<String> response : race(() -> server.post(path, tasks))) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        JsonNode inserted = json(response).findValue("inserted");
        answers.add(answer(inserted.get(0)));
        assertThat(answer(inserted.get(1))).isEqualTo(new Answer(answers.getLast().id(), true));
      }
      assertOneCreated(answers);
    }
    assertThat(server.post("/dci/tasks/search", "{\"filter\": {}, \"count\": true}").body())
        .contains(Integer.toString(ROUNDS));
  }

  private static Answer answer(JsonNode inserted) {
    return new Answer(
        inserted.get("_id").get("$oid").asString(), inserted.path("duplicate").asBoolean(false));
  }

  @Test
  void of_graphs_with_a_key_or_a_request_id_one_is_added() throws Exception {
    String nodes =
        """
        [{"metadata": {"type": "wait for", "local": "a"}, "data": {"time": "2999-01-01T00:00:00Z"}},
         {"metadata": {"type": "wait for", "parent": "local:a"},
          "data": {"time": "2999-01-01T00:00:00Z", "note": "%s"}}]
        """
            .formatted(LONG);
    for (int round = 0; round < ROUNDS; round++) {
      String path = "/v1/nodes?" + (round % 2 == 0 ? "unique=k" : "requestid=r") + round;
      List<Answer> answers = new ArrayList<>();
      for (HttpResponse<String> response : race(() -> server.post(path, nodes))) {
        JsonNode added = json(response);
        boolean duplicate = added.get(1).path("duplicate").asBoolean(false);
        assertThat(response.statusCode()).isEqualTo(duplicate ? 200 : 201);
        answers.add(new Answer(added.get(0).get("id").asString(), duplicate));
        assertThat(added.get(1).get("parent").asString()).isEqualTo(answers.getLast().id());
      }
      assertOneCreated(answers);
    }
    assertThat(json(server.get("/v1/nodes"))).hasSize(2 * ROUNDS);
  }

  @Test
  void of_jobs_with_a_key_one_is_created() throws Exception {
    List<String> ids = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      String unique = "k" + round;
      // A long payload is stored first, and is discarded with the duplicate.
      String payload = round % 2 == 0 ? "short" : LONG;
      List<Answer> answers = new ArrayList<>();
      for (HttpResponse<String> response :
          race(() ->
              server.submit(
                  "/api/jobs/submit", "Priority", "batch", "unique", unique, "Payload", payload))) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(202);
        JsonNode job = json(response);
        answers.add(new Answer(job.get("id").asString(), job.path("duplicate").asBoolean(false)));
      }
      assertOneCreated(answers);
      ids.add(answers.getFirst().id());
    }
    assertThat(json(server.get("/api/jobs")).valueStream().map(job -> job.get("id").asString()))
        .containsExactlyInAnyOrderElementsOf(ids);
  }
}
