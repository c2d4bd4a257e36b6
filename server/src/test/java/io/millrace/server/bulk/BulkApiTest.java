package io.millrace.server.bulk;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.http.json.Json;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Queue;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import io.millrace.server.TestServer;
import io.millrace.store.Document;
import io.millrace.work.Watch;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Bulk actions over HTTP, on queues that no node serves. */
final class BulkApiTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir private Path folder = Path.of("");
  private TestServer server;
  private Queues queues;
  private Queue mail;

  @BeforeEach
  void start() {
    server = TestServer.in(folder);
    queues = Queues.in(server.server().store(), Clock.systemUTC(), new Random(7));
    mail = queues.queues().create("mail", "own", Queue.Settings.DEFAULTS);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private HttpResponse<String> send(String method, String path, String body, String... headers)
      throws IOException, InterruptedException {
    return server.send(method, path, body.replace('\'', '"'), headers);
  }

  private static JsonNode json(HttpResponse<String> response) {
    return Json.read(response.body().getBytes(StandardCharsets.UTF_8));
  }

  private List<ObjectId> submit(int count) {
    return queues
        .submission()
        .submit(mail, Collections.nCopies(count, Json.object().put("a", 1)), Status.QUEUED);
  }

  /** A bulk action once it has ended. */
  private JsonNode ended(String id) throws IOException, InterruptedException {
    try (Watch.Changes<String, Document> changes =
        Watch.documents(server.server().store(), "bulk.ended", key -> key, end -> end)) {
      JsonNode shown = json(send("GET", "/bulk/" + id, ""));
      while (shown.path("state").asString().equals("running")) {
        assertThat(changes.next(PATIENCE, id::equals)).isNotEmpty();
        shown = json(send("GET", "/bulk/" + id, ""));
      }
      return shown;
    }
  }

  @Test
  void what_would_change_is_shown_first_and_then_changed_in_the_background() throws Exception {
    List<ObjectId> ids = submit(1_000);
    String body = "{'kind': 'tasks', 'action': 'block', 'filter': {'queue': 'mail'}%s}";

    JsonNode preview = json(send("POST", "/bulk", body.formatted(", 'dry_run': true")));
    assertThat(preview.path("total").asLong()).isEqualTo(1_000);
    assertThat(preview.path("examples")).hasSize(10);
    assertThat(preview.path("examples").path(0).path("summary").asString())
        .isEqualTo("queued, queue mail");
    assertThat(json(send("GET", "/bulk", "")).path("actions")).isEmpty();

    HttpResponse<String> started =
        send("POST", "/bulk", body.formatted(", 'options': {'reason': 'later'}"));
    assertThat(started.statusCode()).as(started.body()).isEqualTo(202);
    String id = json(started).path("id").asString();
    assertThat(started.headers().firstValue("Location")).hasValue("/bulk/" + id);
    JsonNode ended = ended(id);
    assertThat(ended.path("state").asString()).isEqualTo("done");
    assertThat(ended.path("done").asLong()).isEqualTo(1_000);
    assertThat(ended.path("skipped").asLong()).isZero();
    assertThat(queues.tasks().find(ids.getLast()).orElseThrow().status()).isEqualTo(Status.BLOCKED);
    assertThat(json(send("GET", "/bulk", "")).path("actions").path(0).path("id").asString())
        .isEqualTo(id);

    assertThat(send("POST", "/bulk/" + id + "/cancel", "").statusCode()).isEqualTo(409);
    assertThat(send("DELETE", "/bulk/" + id, "").statusCode()).isEqualTo(200);
    assertThat(send("GET", "/bulk/" + id, "").statusCode()).isEqualTo(404);
  }

  @Test
  void the_audit_log_says_who_changed_how_many() throws Exception {
    submit(300);
    String id =
        json(send("POST", "/bulk", "{'kind': 'tasks', 'action': 'cancel', 'all': true}"))
            .path("id")
            .asString();
    var _ = ended(id);
    server.close();
    server = TestServer.in(folder);
    long count = 0;
    for (JsonNode entry : json(send("GET", "/audit?action=task.cancel", "")).path("entries")) {
      assertThat(entry.path("scope").asString()).isEqualTo("mail");
      assertThat(entry.path("api").asString()).isEqualTo("POST /bulk");
      count += entry.path("count").asLong();
    }
    assertThat(count).isEqualTo(300);
    JsonNode start = json(send("GET", "/audit?action=bulk.start", "")).path("entries").path(0);
    assertThat(start.path("first").asString()).isEqualTo(id);
  }

  @Test
  void a_limited_principal_changes_what_it_reaches_and_sees_its_own_actions() throws Exception {
    submit(3);
    Queue other = queues.queues().create("other", "own", Queue.Settings.DEFAULTS);
    List<ObjectId> elsewhere =
        queues.submission().submit(other, List.of(Json.object()), Status.QUEUED);
    JsonNode own = json(send("POST", "/bulk", "{'kind': 'tasks', 'action': 'retry', 'all': true}"));
    String[] ann = {"Authorization", "Bearer " + key("ann", "operator")};
    String[] bob = {"Authorization", "Bearer " + key("bob", "viewer")};

    String all = "{'kind': 'tasks', 'action': 'cancel', 'all': true}";
    assertThat(send("POST", "/bulk", all, bob).statusCode()).isEqualTo(403);
    JsonNode started = json(send("POST", "/bulk", all, ann));
    assertThat(started.path("total").asLong()).isEqualTo(3);
    assertThat(ended(started.path("id").asString()).path("done").asLong()).isEqualTo(3);
    assertThat(queues.tasks().find(elsewhere.getFirst()).orElseThrow().status())
        .isEqualTo(Status.QUEUED);
    assertThat(json(send("GET", "/bulk", "", ann)).path("actions")).hasSize(1);
    assertThat(json(send("GET", "/bulk", "", bob)).path("actions")).isEmpty();
    String path = "/bulk/" + own.path("id").asString();
    assertThat(send("GET", path, "", ann).statusCode()).isEqualTo(404);
    assertThat(send("POST", path + "/cancel", "", ann).statusCode()).isEqualTo(404);
  }

  @Test
  void a_principal_limited_to_a_subtree_changes_the_nodes_in_it() throws Exception {
    String data = "'data': {'command': 'true', 'delay': '1h'}";
    JsonNode added =
        json(
            send(
                "POST",
                "/v1/nodes",
                "[{'metadata': {'type': 'group', 'local': 'g'}}, {'metadata': {'type': 'command',"
                    + " 'parent': 'local:g'}, "
                    + data
                    + "}, {'metadata': {'type': 'command'}, "
                    + data
                    + "}]"));
    assertThat(added).as(added.toString()).hasSize(3);
    JsonNode principal =
        json(
            send(
                "POST",
                "/access/principals",
                "{'name': 'ann', 'roles': ['operator'], 'key': {}, 'reach': {'graph': ['%s']}}"
                    .formatted(added.path(0).path("id").asString())));
    String[] ann = {"Authorization", "Bearer " + principal.path("key").path("key").asString()};

    JsonNode started =
        json(
            send(
                "POST",
                "/bulk",
                "{'kind': 'nodes', 'action': 'kill', 'filter': {'type': 'command'}}",
                ann));
    assertThat(started.path("total").asLong()).isEqualTo(1);
    assertThat(ended(started.path("id").asString()).path("done").asLong()).isEqualTo(1);
    // The action is done once the kill is asked for.
    String killed = "\"" + added.path(1).path("id").asString() + "\"";
    String found = "";
    while (!found.contains(killed)) {
      LockSupport.parkNanos(5_000_000);
      found = send("GET", "/v1/nodes?metadata=state&state=killed", "").body();
    }
    assertThat(found).doesNotContain("\"" + added.path(2).path("id").asString() + "\"");
  }

  private String key(String name, String role) throws IOException, InterruptedException {
    return json(send(
            "POST",
            "/access/principals",
            "{'name': '%s', 'roles': ['%s'], 'key': {}, 'reach': {'queues': ['mail']}}"
                .formatted(name, role)))
        .path("key")
        .path("key")
        .asString();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          {'action': 'cancel', 'all': true}                                   | a bulk action needs kind
          {'kind': 'cows', 'action': 'cancel', 'all': true}                   | kind must be one of
          {'kind': 'tasks', 'action': 'x', 'all': true}                       | must be one of retry,
          {'kind': 'tasks', 'action': 'cancel'}                               | an empty filter chooses everything
          {'kind': 'tasks', 'action': 'cancel', 'filter': {}}                 | an empty filter chooses everything
          {'kind': 'tasks', 'action': 'cancel', 'filter': [1]}                | filter must be an object
          {'kind': 'tasks', 'action': 'cancel', 'all': 1}                     | all must be true or false
          {'kind': 'tasks', 'action': 'cancel', 'filters': {}}                | filters
          {'kind': 'tasks', 'action': 'cancel', 'filter': {'queue': 'x'}}     | there is no queue x
          {'kind': 'tasks', 'action': 'cancel', 'filter': {'age': 1}}         | tasks have no field age
          {'kind': 'tasks', 'action': 'move', 'all': true}                    | needs the option queue
          {'kind': 'tasks', 'action': 'block', 'all': true, 'options': {'reason': []}} | the option reason must be
          {'kind': 'tasks', 'action': 'block', 'filter': {'ctime': {'$lt': {'$ago': 'x'}}}} | $ago must be a duration
          {'kind': 'jobs', 'action': 'move', 'all': true}                     | needs the option type
          {'kind': 'jobs', 'action': 'move', 'all': true, 'options': {'type': 'x'}} | has no job types, so there is no type x
          {'kind': 'jobs', 'action': 'move', 'all': true, 'options': {'queue': 'x'}} | has no option queue
          {'kind': 'nodes', 'action': 'cancel', 'all': true}                  | must be one of retry,
          {'kind': 'nodes', 'action': 'kill', 'filter': {'state': 'dead'}}    | there is no state dead
          {'kind': 'nodes', 'action': 'kill', 'filter': {'below': 'x'}}       | below is the id of a node
          {'kind': 'nodes', 'action': 'kill', 'filter': {'key': 'x'}}         | nodes have no field key
          {'kind': 'nodes', 'action': 'delete', 'all': true, 'options': {'below': 'x'}} | must be true or false
          {'kind': 'nodes', 'action': 'retry', 'all': true, 'options': {'below': true}} | has no options
          not JSON                                                            | JSON
          """)
  void what_is_wrong_is_said_as_problem_details(String body, String message) throws Exception {
    HttpResponse<String> refused = send("POST", "/bulk", body);
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/problem+json");
    assertThat(json(refused).path("detail").asString()).contains(message);
  }
}
