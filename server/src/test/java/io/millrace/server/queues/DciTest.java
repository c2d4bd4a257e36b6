package io.millrace.server.queues;

import static io.millrace.server.queues.Dci.json;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.store.Bytes;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The routes of the command interface for nodes, queues, configuration and creation. */
final class DciTest {
  private static final String NO_ERRORS = "'write_errors': [], 'write_concern_errors': []";

  @TempDir private Path folder;
  private Dci dci;

  @BeforeEach
  void start() {
    dci = new Dci(folder);
  }

  @AfterEach
  void stop() {
    dci.close();
  }

  private String queue(String name) throws Exception {
    JsonNode made =
        dci.post("/queues", "{'name': '" + name + "', 'plugin': 'Disbatch::Plugin::Demo'}");
    return made.required("id").required("$oid").asString();
  }

  @Test
  void a_queue_is_created_shown_changed_and_deleted() throws Exception {
    JsonNode made = dci.form("/queues", "name=fizz+%C3%BC%2F1&plugin=demo");
    String id = made.required("id").required("$oid").asString();
    assertThat(ObjectId.isValid(id)).isTrue();
    assertThat(made.required("MongoDB::InsertOneResult").required("inserted_id"))
        .isEqualTo(made.required("id"));

    JsonNode shown = dci.get("/queues/fizz%20%C3%BC%2F1");
    assertThat(shown)
        .isEqualTo(
            json(
                "{'id': '"
                    + id
                    + "', 'plugin': 'demo', 'name': 'fizz ü/1', 'threads': null, 'queued': 0,"
                    + " 'running': 0, 'completed': 0, 'sort': 'default', 'nodes_pin': [],"
                    + " 'nodes_ignore': [], 'requeue_orphans': 0, 'halted': null, 'suspended':"
                    + " []}"));
    assertThat(dci.get("/queues")).containsExactly(shown);

    JsonNode updated =
        json(
            "{'MongoDB::UpdateResult': {'acknowledged': true, 'matched_count': 1,"
                + " 'modified_count': 1, 'upserted_id': null, "
                + NO_ERRORS
                + "}}");
    assertThat(dci.form("/queues/" + id, "threads=5&name=buzz")).isEqualTo(updated);
    assertThat(
            dci.post("/queues/buzz", "{'threads': 5}")
                .at("/MongoDB::UpdateResult/modified_count")
                .asInt())
        .isZero();
    dci.post("/queues/buzz", "{'sort': 'lifo', 'nodes_pin': ['n1'], 'nodes_ignore': 'n2'}");
    dci.post("/queues/buzz", "{'threads': null, 'requeue_orphans': 2}");
    JsonNode after = dci.get("/queues/buzz");
    assertThat(after.required("threads").isNull()).isTrue();
    assertThat(after.required("sort").asString()).isEqualTo("lifo");
    assertThat(after.required("nodes_pin")).isEqualTo(json("['n1']"));
    assertThat(after.required("nodes_ignore")).isEqualTo(json("['n2']"));

    assertThat(Dci.ok(dci.send("DELETE", "/queues/buzz", Dci.JSON, "")))
        .isEqualTo(
            json(
                "{'MongoDB::DeleteResult': {'acknowledged': true, 'deleted_count': 1, "
                    + NO_ERRORS
                    + "}}"));
    JsonNode gone = dci.refused("DELETE", "/queues/buzz", "");
    assertThat(gone.has("error")).isTrue();
    assertThat(gone.at("/MongoDB::DeleteResult/deleted_count").asInt(-1)).isZero();
  }

  @Test
  void a_queue_and_a_task_show_their_settings_about_retries() throws Exception {
    String id = queue("again");
    dci.post(
        "/queues/again",
        "{'attempts': 5, 'retry_delay': ['1s', '1m'], 'retry_jitter': 0.5, 'retry_except': '64'}");
    dci.form("/queues/" + id, "retry_factor=1.5&retry_except=");
    JsonNode shown = dci.get("/queues/again");
    assertThat(shown.required("attempts").asInt()).isEqualTo(5);
    assertThat(shown.required("retry_delay").asString()).isEqualTo("1s,1m");
    assertThat(shown.required("retry_jitter").decimalValue()).isEqualTo("0.5");
    assertThat(shown.required("retry_factor").decimalValue()).isEqualTo("1.5");
    assertThat(shown.has("retry_except")).isFalse();
    dci.post("/queues/again", "{'retry_delay': null}");
    assertThat(dci.get("/queues/again").has("retry_delay")).isFalse();

    JsonNode created = dci.post("/tasks/again?delay=1h&attempts=2&retry_except=3,4", "[{'a': 1}]");
    String task = created.at("/MongoDB::InsertManyResult/inserted/0/_id/$oid").asString();
    JsonNode one = dci.get("/tasks/id/" + task);
    assertThat(one.required("status").asInt()).isEqualTo(-2);
    assertThat(one.required("attempt").asInt()).isZero();
    assertThat(one.required("attempts").asInt()).isEqualTo(2);
    assertThat(one.required("retry_except").asString()).isEqualTo("3,4");
    assertThat(one.required("not_before").asLong() - one.required("ctime").asLong())
        .isEqualTo(3_600_000);
    JsonNode found = dci.post("/tasks/search", "{'filter': {'not_before': {'$gt': 0}}}");
    assertThat(found).hasSize(1);
  }

  @Test
  void submissions_with_one_unique_key_at_once_create_one_task() throws Exception {
    queue("once");
    String path = "/tasks/once?unique_fields=user";
    List<Callable<JsonNode>> all =
        Collections.nCopies(8, () -> dci.post(path, "[{'user': 'a'}, {'user': 'b'}]"));
    Set<String> ids = new HashSet<>();
    int created = 0;
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<JsonNode> answer : threads.invokeAll(all)) {
        JsonNode inserted = answer.get().at("/MongoDB::InsertManyResult/inserted");
        assertThat(inserted).hasSize(2);
        for (JsonNode each : inserted) {
          ids.add(each.at("/_id/$oid").asString());
          created += each.path("duplicate").asBoolean(false) ? 0 : 1;
        }
      }
    }
    assertThat(ids).hasSize(2);
    assertThat(created).isEqualTo(2);
    assertThat(dci.get("/queues/once").required("queued").asInt()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          /queues   | {'name': 'x'}                         | {'error': 'name and plugin required'}
          /queues   | {'name': 'x', 'plugin': 'demo', 'y': 1} | {'error': 'Invalid param', 'param': 'y'}
          /queues   | {'name': 'x', 'plugin': 'none'}       | {'error': 'Unknown plugin', 'plugin': 'none', 'hint': 'no live node announces it; start a node that has it, or name it in plugins of the configuration'}
          /queues   | {'name': 'taken', 'plugin': 'demo'}   | {'error': 'there is a queue named taken already', 'name': 'taken'}
          /queues/taken | {}                                | {'error': 'no params'}
          /queues/taken | {'y': 1}                          | {'error': 'unknown param', 'param': 'y'}
          /queues/taken | {'plugin': 'none'}                | {'error': 'unknown plugin', 'plugin': 'none', 'hint': 'no live node announces it; start a node that has it, or name it in plugins of the configuration'}
          /queues/taken | {'threads': -1}                   | {'error': 'threads must be a non-negative integer', 'threads': -1}
          /queues/taken | {'threads': 'zero'}               | {'error': 'threads must be a non-negative integer', 'threads': 'zero'}
          /queues/taken | {'name': ['a']}                   | {'error': 'name must be a string', 'name': ['a']}
          /queues/taken | {'name': ''}                      | {'error': 'name must be a string', 'name': ''}
          /queues/taken | {'sort': 'up'}                    | {'error': 'sort must be fifo, lifo or default', 'sort': 'up'}
          /nodes/n1 | {}                                    | {'error': 'No params'}
          /nodes/n1 | {'timestamp': 1}                      | {'error': 'Invalid param', 'param': 'timestamp'}
          /nodes/n1 | {'maxthreads': 1.5}                   | {'error': 'maxthreads must be a non-negative integer or null', 'maxthreads': 1.5}
          /queues/taken | {'attempts': 0}                   | {'error': 'attempts must be an integer from 1 to 10000', 'attempts': 0}
          /queues/taken | {'retry_delay': ['1s', 'soon']}   | {'error': 'retry_delay must be a duration: a number with ms, s, m, h or d, for example 30s', 'retry_delay': ['1s', 'soon']}
          /queues/taken | {'retry_jitter': true}            | {'error': 'retry_jitter must be a number, a text or an array of texts', 'retry_jitter': true}
          /tasks/taken?delay=5 | [{'a': 1}]                 | {'error': 'delay must be a duration: a number with ms, s, m, h or d, for example 30s'}
          /tasks/taken?delay=1s&at=2026-01-01T00:00:00Z | [{'a': 1}] | {'error': 'at cannot be combined with delay'}
          /tasks/taken?delay=1s&status=-7 | [{'a': 1}]      | {'error': 'a task that is held back has no time to begin at'}
          /tasks/taken?at=tomorrow | [{'a': 1}]             | {'error': 'at must be a date and a time with a zone, for example 2026-12-24T18:00:00Z or 2026-12-24T18:00:00+01:00'}
          /tasks/taken?attempts=many | [{'a': 1}]           | {'error': 'attempts must be an integer from 1 to 10000'}
          /tasks/taken?unique=k&unique_scope=always | [{'a': 1}] | {'error': 'unique_scope must be queued or unfinished'}
          /tasks/taken?unique=k&unique_period=0s | [{'a': 1}] | {'error': 'unique_period must be longer than zero'}
          /tasks/taken?unique_fields=a,,b | [{'a': 1}]      | {'error': 'unique_fields must be a list of names of params'}
          /tasks/taken?retries=3 | [{'a': 1}]               | {'error': 'Invalid param', 'param': 'retries'}
          /tasks/none  | [{'a': 1}]                         | {'error': 'queue not found', 'queue': 'none'}
          /tasks/taken | {'a': 1}                           | {'error': 'params must be a JSON array of task params objects'}
          /tasks/taken | []                                 | {'error': 'params must be a JSON array of task params objects'}
          /tasks/taken | [{'a': 1}, {}]                     | {'error': 'params must be a JSON array of task params objects'}
          /tasks/taken/users | {'filter': {}}               | {'error': 'filter and params required and must be name/value objects'}
          /tasks/taken/queues.tasks | {'filter': {}, 'params': {'a': 1}} | {'error': 'collection queues.tasks belongs to the system', 'collection': 'queues.tasks'}
          /tasks/search | {'filter': []}                    | {'error': 'filter and options must be name/value objects', 'filter': []}
          /tasks/search | {'options': {'limit': 101}}       | {'error': 'limit cannot exceed 100'}
          /queues   | {'name': 'wait', 'plugin': 'demo'}    | {'error': 'a queue cannot be named wait, which means something else in addresses', 'name': 'wait'}
          /tasks/search | {'status': 1, 'count': 1}         | {'error': 'unknown param status; it belongs into filter', 'param': 'status'}
          /tasks/search | {'params.a': 1}                   | {'error': 'unknown param params.a; it belongs into filter', 'param': 'params.a'}
          /tasks/search | {'limit': 1}                      | {'error': 'unknown param limit; it belongs into options', 'param': 'limit'}
          /tasks/search | {'fliter': {}}                    | {'error': 'unknown param fliter; did you mean filter?', 'param': 'fliter'}
          /tasks/id/x/cancel | {}                           | {'error': 'task not found', 'id': 'x'}
          /tasks/id/x/cancel | {'raeson': 'late'}           | {'error': 'Invalid param', 'param': 'raeson'}
          /tasks/id/x/terminate | {'reason': 'late'}        | {'error': 'Invalid param', 'param': 'reason'}
          """)
  void an_input_error_is_400_with_the_field_at_fault(String path, String body, String error)
      throws Exception {
    queue("taken");
    assertThat(dci.refused("POST", path, body)).isEqualTo(json(error));
  }

  @Test
  void a_node_is_shown_and_limited() throws Exception {
    NodeIdentity presence = new NodeIdentity("instance", "host.example", "7 mark", List.of("own"));
    var node = dci.queues.nodes().take("a/b", null, presence).orElseThrow();
    String id = node.id().hex();
    JsonNode shown = dci.get("/nodes/a%2Fb");
    // It does not refresh itself, so this machine may be too slow to find it alive.
    assertThat(((ObjectNode) shown).remove("state").asString()).isIn("alive", "dead");
    assertThat(shown)
        .isEqualTo(
            json(
                "{'_id': {'$oid': '%s'}, 'id': '%s', 'node': 'a/b', 'timestamp': %d, 'maxthreads':"
                        .formatted(id, id, node.timestampMillis())
                    + " null, 'host': 'host.example', 'plugins': ['own']}"));
    assertThat(dci.get("/nodes")).hasSize(1);
    assertThat(dci.get("/nodes").at("/0/_id")).isEqualTo(shown.required("_id"));
    assertThat(dci.get("/plugins"))
        .isEqualTo(json("['Disbatch::Plugin::Demo', 'demo', 'exec', 'own', 'shell']"));

    assertThat(
            dci.post("/nodes/" + id, "{'maxthreads': 3}")
                .at("/MongoDB::UpdateResult/modified_count")
                .asInt())
        .isEqualTo(1);
    assertThat(dci.get("/nodes/" + id).required("maxthreads").asInt()).isEqualTo(3);
    dci.post("/nodes/a%2Fb", "{'maxthreads': null}");
    assertThat(dci.get("/nodes/" + id).required("maxthreads").isNull()).isTrue();
    assertThat(dci.refused("GET", "/nodes/none", "").required("node").asString()).isEqualTo("none");
    assertThat(
            dci.refused("POST", "/nodes/none", "{'maxthreads': 1}")
                .at("/MongoDB::UpdateResult/matched_count")
                .asInt(-1))
        .isZero();
  }

  @Test
  void configuration_is_set_for_all_nodes_or_one() throws Exception {
    assertThat(dci.get("/config")).isEmpty();
    dci.form("/config", "plugins=a&plugins=b&output_max_bytes=17");
    dci.post("/config", "{'node': 'n1', 'activequeues': ['q'], 'label': 'x'}");
    assertThat(dci.get("/config"))
        .isEqualTo(json("{'plugins': ['a', 'b'], 'output_max_bytes': 17}"));
    assertThat(dci.get("/config?node=n1")).isEqualTo(json("{'activequeues': ['q'], 'label': 'x'}"));
    dci.post("/config?node=n1", "{'label': null}");
    assertThat(dci.get("/config?node=n1")).isEqualTo(json("{'activequeues': ['q']}"));
    assertThat(dci.refused("POST", "/config", "{'log_level': 'loud'}").required("log_level"))
        .isEqualTo(json("'loud'"));
    assertThat(dci.get("/plugins")).contains(json("'b'"));
  }

  @Test
  void created_tasks_are_listed_in_the_order_given() throws Exception {
    String id = queue("demo");
    StringBuilder body = new StringBuilder("[{'n': 0}");
    for (int i = 1; i < 12; i++) {
      body.append(", {'n': ").append(i).append(", 'text': 'a{{b}} ü'}");
    }
    JsonNode result = dci.post("/tasks/demo", body + "]").required("MongoDB::InsertManyResult");
    assertThat(result.required("acknowledged").asBoolean()).isTrue();
    assertThat(result.required("write_errors")).isEmpty();
    assertThat(result.required("inserted")).hasSize(12);
    for (int i = 0; i < 12; i++) {
      JsonNode entry = result.required("inserted").get(i);
      assertThat(entry.required("index").asInt()).isEqualTo(i);
      assertThat(result.required("inserted_ids").required(Integer.toString(i)))
          .isEqualTo(entry.required("_id"));
      String task = entry.at("/_id/$oid").asString();
      JsonNode shown = dci.get("/tasks/id/" + task);
      assertThat(shown.at("/params/n").asInt()).isEqualTo(i);
      assertThat(shown.required("id").asString()).isEqualTo(task);
      assertThat(shown.at("/queue/$oid").asString()).isEqualTo(id);
      assertThat(shown.required("status").asInt()).isEqualTo(-2);
      assertThat(shown.required("node").isNull()).isTrue();
      assertThat(shown.required("stdout").isNull()).isTrue();
    }
    assertThat(dci.get("/queues/demo").required("queued").asInt()).isEqualTo(12);
  }

  @Test
  void tasks_are_created_held_back_and_operated_on() throws Exception {
    queue("demo");
    String id =
        dci.post("/tasks/demo?status=-7", "[{'a': 1}]")
            .at("/MongoDB::InsertManyResult/inserted/0/_id/$oid")
            .asString();
    assertThat(dci.get("/tasks/id/" + id).required("status").asInt()).isEqualTo(-7);
    assertThat(status(dci.form("/tasks/id/" + id + "/requeue", ""))).isEqualTo(-2);
    assertThat(status(dci.form("/tasks/id/" + id + "/block", "reason=later"))).isEqualTo(-4);
    assertThat(dci.get("/tasks/id/" + id).required("reason").asString()).isEqualTo("later");
    assertThat(status(dci.post("/tasks/id/" + id + "/cancel", "{}"))).isEqualTo(-5);
    assertThat(status(dci.post("/tasks/id/" + id + "/terminate", "{}"))).isEqualTo(-3);
    dci.post("/tasks/id/" + id + "/requeue", "{}");
    assertThat(dci.refused("POST", "/tasks/id/" + id + "/requeue", "{}").required("error"))
        .isEqualTo(json("'task " + id + " is queued'"));
    for (String status : List.of("-1", "-6", "0", "1", "x")) {
      assertThat(dci.refused("POST", "/tasks/demo?status=" + status, "[{'a': 1}]").has("error"))
          .isTrue();
    }
  }

  private static int status(JsonNode task) {
    return task.required("status").asInt();
  }

  @Test
  void the_class_of_a_plugin_is_spelt_with_dots_or_colons() throws Exception {
    dci.post("/config", "{'plugins': ['my.own.Plugin']}");
    dci.post("/queues", "{'name': 'dots', 'plugin': 'my.own.Plugin'}");
    dci.post("/queues", "{'name': 'colons', 'plugin': 'my::own::Plugin'}");
    assertThat(dci.get("/queues/colons").required("plugin").asString())
        .isEqualTo("my::own::Plugin");
    assertThat(dci.refused("POST", "/queues", "{'name': 'no', 'plugin': 'my::Plugin'}"))
        .isNotEmpty();
  }

  @Test
  void a_task_is_created_for_each_document_that_matches() throws Exception {
    queue("demo");
    Transaction.Builder documents = Transaction.by(Owner.client(1));
    for (String name : List.of("foo", "bar", "baz")) {
      String migration = name.equals("baz") ? "other" : "test";
      documents.put(
          new DocumentKey("users", "key " + name),
          DocumentVersion.ABSENT,
          Bytes.of(
              "{\"username\": \"%s\", \"migration\": \"%s\", \"at\": {\"x\": [1]}}"
                  .formatted(name, migration)));
    }
    dci.server().server().store().commit(documents.build());
    String params =
        "{'user1': 'document.username', 'key': 'document._id', 'x': 'document.at.x', 'none':"
            + " 'document.none', 'commands': '*'}";
    JsonNode result =
        dci.post(
            "/tasks/demo/users", "{'filter': {'migration': 'test'}, 'params': " + params + "}");
    assertThat(result.at("/MongoDB::InsertManyResult/inserted")).hasSize(2);
    String filter = "{'filter': {'params.user1': 'foo'}}";
    assertThat(dci.post("/tasks/search", filter).at("/0/params"))
        .isEqualTo(
            json("{'user1': 'foo', 'key': 'key foo', 'x': [1], 'none': null, 'commands': '*'}"));
    assertThat(
            dci.refused(
                    "POST",
                    "/tasks/demo/users",
                    "{'filter': {'migration': 'none'}, 'params': {'a': 1}}")
                .at("/MongoDB::InsertManyResult/inserted"))
        .isEmpty();
  }
}
