package io.millrace.server.queues;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.Queue;
import io.millrace.store.Bytes;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Collections;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What the command interface says when the store has no room. */
final class DciFullTest {
  private static final String TASK = "{\"a\": \"" + "x".repeat(1_000) + "\"}";
  private static final String MANY =
      "[" + String.join(",", Collections.nCopies(12_000, TASK)) + "]";

  @TempDir private Path folder;
  private Dci dci;

  @BeforeEach
  void start() {
    dci = new Dci(folder, "store.memory-budget-bytes", "10485760");
    dci.queues.queues().create("demo", "own", Queue.Settings.DEFAULTS);
  }

  @AfterEach
  void stop() {
    dci.close();
  }

  /** The answer to a creation that comes part of the way. */
  private JsonNode refusedInTheMiddle(String path, String body) throws Exception {
    HttpResponse<String> answer = dci.send("POST", path, Dci.JSON, body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
    assertThat(answer.headers().firstValue("Retry-After")).contains("1");
    return Dci.MAPPER.readTree(answer.body());
  }

  private void assertCreated(JsonNode result) throws Exception {
    JsonNode inserted = result.at("/MongoDB::InsertManyResult/inserted");
    assertThat(dci.post("/tasks/search", "{'count': true}").required("count").asInt())
        .isEqualTo(inserted.size())
        .isPositive();
    String last = inserted.get(inserted.size() - 1).at("/_id/$oid").asString();
    assertThat(dci.get("/tasks/id/" + last).required("id").asString()).isEqualTo(last);
  }

  @Test
  void a_full_store_is_503_and_tells_what_was_created_before() throws Exception {
    JsonNode part = refusedInTheMiddle("/tasks/demo", MANY);
    assertThat(part.required("error").asString()).startsWith("the store is full: ");
    assertCreated(part);

    HttpResponse<String> nothing = dci.send("POST", "/tasks/demo", Dci.JSON, MANY);
    assertThat(nothing.statusCode()).isEqualTo(503);
    assertThat(nothing.body()).startsWith("{\"error\":\"the store is full: ");
    assertThat(dci.server().send("DELETE", "/dci/queues/demo", "").statusCode()).isEqualTo(200);
  }

  @Test
  void what_was_created_from_a_collection_before_is_told_too() throws Exception {
    Transaction.Builder documents = Transaction.by(Owner.client(1));
    for (int user = 0; user < 200; user++) {
      DocumentKey key = new DocumentKey("users", "user" + user);
      documents.put(key, DocumentVersion.ABSENT, Bytes.of("{}"));
    }
    dci.server().server().store().commit(documents.build());
    String body =
        "{\"filter\": {}, \"params\": {\"user\": \"document._id\", \"a\": \"%s\"}}"
            .formatted("x".repeat(100_000));

    JsonNode part = refusedInTheMiddle("/tasks/demo/users", body);

    assertThat(part.required("error").asString()).startsWith("the store is full: ");
    assertCreated(part);
  }

  @Test
  void version_3_has_what_was_created_before_as_a_third_element() throws Exception {
    String body = "{\"queueid\": \"demo\", \"object\": " + MANY + "}";

    JsonNode part = refusedInTheMiddle("/queue-create-tasks-json", body);

    assertThat(part).hasSize(3);
    assertThat(part.get(0).asInt()).isZero();
    assertThat(part.get(1).asString()).startsWith("the store is full: ");
    assertCreated(part.get(2));
    HttpResponse<String> nothing = dci.send("POST", "/queue-create-tasks-json", Dci.JSON, body);
    assertThat(nothing.statusCode()).isEqualTo(503);
    assertThat(nothing.body()).startsWith("{\"error\":\"the store is full: ");
  }
}
