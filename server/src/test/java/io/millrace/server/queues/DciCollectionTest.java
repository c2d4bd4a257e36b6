package io.millrace.server.queues;

import static io.millrace.server.queues.Dci.json;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.Queue;
import io.millrace.store.Bytes;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Tasks that are created from a collection of documents. */
final class DciCollectionTest {
  @TempDir private Path folder;
  private Dci dci;

  @BeforeEach
  void start() {
    dci = new Dci(folder);
    dci.queues.queues().create("demo", "own", Queue.Settings.DEFAULTS);
    Transaction.Builder documents = Transaction.by(Owner.client(1));
    for (String name : new String[] {"foo", "bar"}) {
      documents.put(
          new DocumentKey("users", name),
          DocumentVersion.ABSENT,
          Bytes.of("{\"username\": \"" + name + "\"}"));
    }
    dci.server().server().store().commit(documents.build());
  }

  @AfterEach
  void stop() {
    dci.close();
  }

  private static String fields(String filter, String params) {
    return "filter=%s&params=%s".formatted(encoded(filter), encoded(params));
  }

  private static String encoded(String json) {
    return URLEncoder.encode(json.replace('\'', '"'), StandardCharsets.UTF_8);
  }

  private JsonNode created(JsonNode answer) throws Exception {
    JsonNode inserted = answer.at("/MongoDB::InsertManyResult/inserted");
    assertThat(inserted).hasSize(1);
    return dci.get("/tasks/id/" + inserted.at("/0/_id/$oid").asString());
  }

  @Test
  void filter_and_params_come_as_a_form() throws Exception {
    String form = fields("{'username': 'foo'}", "{'user1': 'document.username'}");
    JsonNode task = created(dci.form("/tasks/demo/users", form));
    assertThat(task.required("params")).isEqualTo(json("{'user1': 'foo'}"));
  }

  @Test
  void filter_and_params_come_as_a_query_string() throws Exception {
    String query = fields("{'_id': 'bar'}", "{'user1': 'document.username'}") + "&status=-7";
    HttpResponse<String> answer = dci.server().send("POST", "/dci/tasks/demo/users?" + query, "");
    JsonNode task = created(Dci.ok(answer));
    assertThat(task.required("params")).isEqualTo(json("{'user1': 'bar'}"));
    assertThat(task.required("status").asInt()).isEqualTo(-7);
  }

  @Test
  void tasks_that_are_to_be_held_are_held() throws Exception {
    String body = "{'filter': {'_id': 'bar'}, 'params': {'a': 1}}";
    JsonNode task = created(dci.post("/tasks/demo/users?status=-7", body));
    assertThat(task.required("status").asInt()).isEqualTo(-7);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      textBlock =
          """
          /tasks/demo/users           | {'filter': {}, 'params': {}}                      | params must not be empty
          /tasks/demo/users           | {'filter': 1, 'params': {'a': 1}}                 | filter and params required and must be name/value objects
          /tasks/demo/users           | {'filter': {}, 'params': [1]}                     | filter and params required and must be name/value objects
          /tasks/demo/users           | {'filter': {}, 'params': {'a': 1}, 'status': -7}  | Invalid param
          /tasks/demo/users?state=-7  | {'filter': {}, 'params': {'a': 1}}                | Invalid param
          /tasks/demo/users?status=-6 | {'filter': {}, 'params': {'a': 1}}                | a task begins with -2 or another negative status but -1 and -6, not -6
          /tasks/demo?state=-7        | [{'a': 1}]                                        | Invalid param
          /tasks/demo/users           | {'filter': {}, 'filter': {}, 'params': {'a': 1}}  | the body is not JSON: Duplicate Object property "filter" (line 1, column 24)
          /tasks/demo/users           | {'filter': {}, 'params': {'a': 1, 'a': 2}}        | the body is not JSON: Duplicate Object property "a" (line 1, column 38)
          """)
  void what_is_wrong_is_named_and_creates_nothing(String path, String body, String error)
      throws Exception {
    assertThat(dci.refused("POST", path, body).required("error").asString()).isEqualTo(error);
    assertThat(dci.post("/tasks/search", "{'count': 1}")).isEqualTo(json("{'count': 0}"));
  }
}
