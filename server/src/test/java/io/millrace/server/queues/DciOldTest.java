package io.millrace.server.queues;

import static io.millrace.server.queues.Dci.json;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Output;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.store.Bytes;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The routes of version 3. */
final class DciOldTest {
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

  private static String encoded(String json) {
    return URLEncoder.encode(json.replace('\'', '"'), StandardCharsets.UTF_8);
  }

  @Test
  void queues_are_started_set_and_deleted() throws Exception {
    JsonNode started = dci.form("/start-queue-json", "type=demo&name=old");
    String id = started.at("/1/$oid").asString();
    assertThat(started)
        .isEqualTo(
            json(
                ("[1, {'$oid': '%1$s'}, {'success': 1, 'MongoDB::InsertOneResult':"
                        + " {'acknowledged': true, 'inserted_id': {'$oid': '%1$s'},"
                        + " 'write_errors': [], 'write_concern_errors': []}}]")
                    .formatted(id)));
    assertThat(dci.form("/set-queue-attr-json", "queueid=" + id + "&attr=threads&value=4"))
        .isEqualTo(
            json(
                "{'success': 1, 'MongoDB::UpdateResult': {'acknowledged': true,"
                    + " 'matched_count': 1, 'modified_count': 1, 'upserted_id': null,"
                    + " 'write_errors': [], 'write_concern_errors': []}}"));
    assertThat(dci.get("/scheduler-json")).isEqualTo(dci.get("/queues"));
    assertThat(dci.get("/scheduler-json").at("/0/threads").asInt()).isEqualTo(4);
    assertThat(dci.get("/queue-prototypes-json"))
        .isEqualTo(
            json(
                "{'Disbatch::Plugin::Demo': 'Disbatch::Plugin::Demo', 'demo': 'demo',"
                    + " 'exec': 'exec', 'shell': 'shell'}"))
        .isEqualTo(dci.form("/queue-prototypes-json", ""));
    assertThat(dci.form("/delete-queue-json", "id=" + id))
        .isEqualTo(
            json(
                "[1, {'success': 1, 'MongoDB::DeleteResult': {'acknowledged': true,"
                    + " 'deleted_count': 1, 'write_errors': [], 'write_concern_errors': []}}]"));

    assertThat(dci.refused("POST", "/delete-queue-json", "{'id': '" + id + "'}"))
        .isEqualTo(
            json(
                "[0, {'success': 0, 'error': 'queue not found', 'queue': '%s', 'MongoDB::DeleteResult':"
                        .formatted(id)
                    + " {'acknowledged': true, 'deleted_count': 0, 'write_errors': [],"
                    + " 'write_concern_errors': []}}]"));
    assertThat(dci.refused("POST", "/delete-queue-json", "{}"))
        .isEqualTo(json("[0, 'id required']"));
    assertThat(dci.refused("POST", "/start-queue-json", "{'type': 'demo'}"))
        .isEqualTo(json("[0, 'type and name required']"));
    assertThat(dci.refused("POST", "/start-queue-json", "{'type': 'x', 'name': 'y'}"))
        .isEqualTo(json("[0, 'unknown type']"));
    assertThat(dci.refused("POST", "/set-queue-attr-json", "{'attr': 'x', 'value': 1}"))
        .isEqualTo(json("{'error': 'Invalid attr', 'success': 0}"));
  }

  @Test
  void a_task_is_found_whole_with_its_times_in_seconds() throws Exception {
    Queue queue = dci.queues.queues().create("old", "own", Queue.Settings.DEFAULTS.withThreads(1));
    dci.queues.submission().submit(queue, List.of(Dci.MAPPER.createObjectNode().put("a", 1)), -2);
    NodeIdentity presence = new NodeIdentity("i", "host", "7 mark", List.of("shell"));
    NodeRecord node = dci.queues.nodes().take("n1", null, presence).orElseThrow();
    Duration lease = Duration.ofMinutes(5);
    Run claimed = dci.queues.runs().claim(node, queue, 1, lease).getFirst();
    Run run = dci.queues.runs().start(claimed, "8 mark", lease);
    TaskOutput output = new TaskOutput(new Output.Text("hello"), new Output.Text(""));
    QueueTask task = dci.queues.runs().finish(run, new Report(17, output, List.of(), null));
    long ctime = task.ctimeMillis();
    long mtime = task.progress().mtimeMillis();

    JsonNode expected =
        json(
            ("[{'_id': {'$oid': '%s'}, 'queue': {'$oid': '%s'}, 'status': 17, 'node': 'n1',"
                    + " 'params': {'a': 1}, 'ctime': %d, 'mtime': %d, 'stdout': 'hello',"
                    + " 'stderr': '', 'ctime_str': '%s', 'mtime_str': '%s'}]")
                .formatted(
                    task.id(),
                    queue.id(),
                    ctime / 1000,
                    mtime / 1000,
                    Instant.ofEpochMilli(ctime),
                    Instant.ofEpochMilli(mtime)));
    assertThat(dci.form("/search-tasks-json", "filter={}")).isEqualTo(expected);
    assertThat(dci.form("/search-tasks-json", "filter={}&terse=1").at("/0/stdout").asString())
        .isEqualTo("[terse mode]");
  }

  @Test
  void tasks_are_created_from_a_collection() throws Exception {
    dci.form("/start-queue-json", "type=demo&name=old");
    Transaction.Builder documents = Transaction.by(Owner.client(1));
    for (String name : new String[] {"foo", "bar"}) {
      DocumentKey key = new DocumentKey("users", name);
      Bytes body = Bytes.of("{\"domain\": \"" + name + ".com\"}");
      documents.put(key, DocumentVersion.ABSENT, body);
    }
    dci.server().server().store().commit(documents.build());

    JsonNode created =
        dci.form(
            "/queue-create-tasks-from-query-json",
            "queueid=old&collection=users&jsonfilter="
                + encoded("{'domain': 'foo.com'}")
                + "&params="
                + encoded("{'user1': 'document._id', 'commands': '*'}"));

    assertThat(created).isEqualTo(json("[1, 1]"));
    assertThat(dci.form("/search-tasks-json", "filter={}").at("/0/params"))
        .isEqualTo(json("{'user1': 'foo', 'commands': '*'}"));
  }

  @Test
  void tasks_are_created_and_searched() throws Exception {
    String queue = dci.form("/start-queue-json", "type=demo&name=old").at("/1/$oid").asString();
    JsonNode created =
        dci.form(
            "/queue-create-tasks-json",
            "queueid=old&object=" + encoded("[{'commands': 'a'}, {'commands': 'b'}]"));
    String first = created.at("/2/_id/$oid").asString();
    String second = created.at("/3/_id/$oid").asString();
    assertThat(created)
        .isEqualTo(
            json(
                ("[1, 2, {'index': 0, '_id': {'$oid': '%1$s'}}, {'index': 1, '_id': {'$oid':"
                        + " '%2$s'}}, {'success': 1,"
                        + " 'MongoDB::InsertManyResult': {'acknowledged': true, 'inserted':"
                        + " [{'index': 0, '_id': {'$oid': '%1$s'}},"
                        + " {'index': 1, '_id': {'$oid': '%2$s'}}],"
                        + " 'inserted_ids': {'0': {'$oid': '%1$s'}, '1': {'$oid': '%2$s'}},"
                        + " 'write_errors': [], 'write_concern_errors': []}}]")
                    .formatted(first, second)));
    assertThat(dci.get("/tasks/id/" + second).at("/params/commands").asString()).isEqualTo("b");

    String search = "queue=" + queue + "&filter=" + encoded("{'status': '-2'}");
    assertThat(dci.form("/search-tasks-json", search + "&count=1")).isEqualTo(json("[1, 2]"));
    JsonNode found = dci.form("/search-tasks-json", search + "&limit=1&skip=1");
    assertThat(found).hasSize(1);
    assertThat(found.at("/0/_id/$oid").asString()).isEqualTo(second);
    assertThat(dci.post("/search-tasks-json", "{'filter': {'id': '" + second + "'}}")).hasSize(1);

    assertThat(dci.refused("POST", "/queue-create-tasks-json", "{'queueid': 'old'}"))
        .isEqualTo(json("[0, 'queueid and object required']"));
    assertThat(dci.refused("POST", "/queue-create-tasks-from-query-json", "{}"))
        .isEqualTo(json("[0, 'queueid, collection, jsonfilter, and params required']"));
  }

  /** The old command-line tool reads an error only where the status is 200. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          /queue-create-tasks-json | {'queueid': 'none', 'object': [{'a': 1}]} | Queue not found
          /queue-create-tasks-json | {'queueid': '571f8951b75bf335634ec271', 'object': '[{"a": 1}]'} | Queue not found
          /queue-create-tasks-json | {'queueid': 'old', 'object': {}} | object param must be a JSON array
          /queue-create-tasks-json | {'queueid': 'old', 'object': 'x'} | object param must be a JSON array
          /queue-create-tasks-json | {'queueid': 'old', 'object': [1]} | params must be a JSON array of task params objects
          /queue-create-tasks-from-query-json | {'queueid': 'none', 'collection': 'users', 'jsonfilter': {}, 'params': {'a': 1}} | Queue not found
          /queue-create-tasks-from-query-json | {'queueid': 'old', 'collection': 'users', 'jsonfilter': 'x', 'params': {'a': 1}} | jsonfilter must be a JSON object
          /queue-create-tasks-from-query-json | {'queueid': 'old', 'collection': 'users', 'jsonfilter': {'a': {'$regex': 'x'}}, 'params': {'a': 1}} | unknown operator $regex
          /search-tasks-json | {'filter': 'x'} | JSON object required for filter
          /search-tasks-json | {'filter': {'id': 'x'}} | Bad OID passed: "x"
          /search-tasks-json | {'queue': 'x'} | Bad OID passed: "x"
          /search-tasks-json | {'limit': 101} | limit cannot exceed 100
          """)
  void an_error_is_answered_with_200_where_the_original_does(String path, String body, String error)
      throws Exception {
    dci.form("/start-queue-json", "type=demo&name=old");
    JsonNode answer = dci.mild(path, body.replace("\"", "\\\""));
    assertThat(answer).hasSize(2);
    assertThat(answer.get(1).asString()).isEqualTo(error);
  }

  @Test
  void where_nothing_is_created_the_answer_is_400_with_the_count() throws Exception {
    dci.form("/start-queue-json", "type=demo&name=old");
    JsonNode none =
        dci.refused("POST", "/queue-create-tasks-json", "{'queueid': 'old', 'object': []}");
    assertThat(none).hasSize(3);
    assertThat(none.get(1).asInt(-1)).isZero();
    assertThat(none.get(2).at("/MongoDB::InsertManyResult/inserted")).isEmpty();
    String query = "{'queueid': 'old', 'collection': 'none', 'jsonfilter': {}, 'params': {'a': 1}}";
    assertThat(dci.refused("POST", "/queue-create-tasks-from-query-json", query))
        .isEqualTo(json("[0, 0]"));
  }

  @Test
  void terse_mode_says_so_of_every_output_that_is_no_file() throws Exception {
    dci.form("/start-queue-json", "type=demo&name=old");
    dci.post("/queue-create-tasks-json", "{'queueid': 'old', 'object': [{'user1': 'a'}]}");
    JsonNode found = dci.form("/search-tasks-json", "terse=1").get(0);
    assertThat(found.required("stdout").asString()).isEqualTo("[terse mode]");
    assertThat(found.required("stderr").asString()).isEqualTo("[terse mode]");
  }
}
