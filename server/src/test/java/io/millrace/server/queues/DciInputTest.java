package io.millrace.server.queues;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Queue;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** How the command interface reads what it is sent. */
final class DciInputTest {
  @TempDir private Path folder;
  private Dci dci;

  @BeforeEach
  void start() {
    dci = new Dci(folder);
    dci.queues.queues().create("demo", "own", Queue.Settings.DEFAULTS.withThreads(3));
  }

  @AfterEach
  void stop() {
    dci.close();
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      textBlock =
          """
          /tasks/demo   | [{"a": 1}                    | close marker for Array (line 1, column 10)
          /tasks/demo   | [{"a": 1}] x                 | Unrecognized token 'x'
          /tasks/demo   | [{"a": 1e99999999999}]       | an exponent beyond 9999
          /tasks/demo   | [{"a": [1e10000]}]           | an exponent beyond 9999
          /queues       | {"name": 1e99999999999}      | an exponent beyond 9999
          /queues       | {"name": 1e-99999}           | an exponent beyond 9999
          /queues       | {"name": "x",, }             | was expecting double-quote to start property name (line 1, column 14)
          /tasks/search | {"filter": {"a": [1, 2}}     | (line 1, column 23)
          """)
  void what_is_no_json_is_answered_with_the_place_and_nothing_of_the_reader(
      String path, String body, String message) throws Exception {
    HttpResponse<String> answer = dci.send("POST", path, Dci.JSON, body);
    assertThat(answer.statusCode()).isEqualTo(400);
    JsonNode json = Dci.MAPPER.readTree(answer.body());
    assertThat(json.required("error").asString() + json.path("detail").asString(""))
        .contains(message)
        .doesNotContain("Source", "REDACTED");
  }

  @Test
  void numbers_come_back_with_the_digits_that_were_sent() throws Exception {
    String sent =
        "{\"a\":1.10,\"b\":0.1000000000000000000000001,\"c\":12345678901234567890123,\"d\":1E+400}";
    JsonNode created = dci.post("/tasks/demo", "[" + sent + "]");
    String id = created.at("/MongoDB::InsertManyResult/inserted/0/_id/$oid").asString();
    String shown = "\"params\":" + sent;
    assertThat(dci.server().get("/dci/tasks/id/" + id).body()).contains(shown);
    for (String terse : new String[] {"true", "false"}) {
      String search = "{\"filter\": {\"params.a\": 1.1}, \"terse\": " + terse + "}";
      assertThat(dci.send("POST", "/tasks/search", Dci.JSON, search).body()).contains(shown);
    }
    assertThat(dci.post("/tasks/search", "{'filter': {'params.d': {'$gt': 1e308}}, 'count': 1}"))
        .isEqualTo(Dci.json("{'count': 1}"));
  }

  @Test
  void an_empty_value_of_a_form_unsets() throws Exception {
    dci.form("/queues/demo", "threads=");
    assertThat(dci.get("/queues/demo").required("threads").isNull()).isTrue();
    dci.form("/queues/demo", "threads=4");
    dci.form("/set-queue-attr-json", "queueid=demo&attr=threads&value=");
    assertThat(dci.get("/queues/demo").required("threads").isNull()).isTrue();
    dci.form("/config", "label=here&activequeues=demo");
    assertThat(dci.form("/config", "label=&activequeues=")).isEmpty();
    assertThat(dci.refused("POST", "/queues/demo", "{'threads': ''}").required("threads"))
        .isEqualTo(Dci.json("''"));
  }

  @Test
  void a_list_of_a_form_is_a_name_that_comes_several_times_or_json() throws Exception {
    dci.form("/queues/demo", "nodes_pin=%5B%22a%22%2C%22b%22%5D&nodes_ignore=c&nodes_ignore=d");
    JsonNode queue = dci.get("/queues/demo");
    assertThat(queue.required("nodes_pin")).isEqualTo(Dci.json("['a', 'b']"));
    assertThat(queue.required("nodes_ignore")).isEqualTo(Dci.json("['c', 'd']"));
    assertThat(dci.form("/config", "activequeues=%5B%22demo%22%5D&ignorequeues=other"))
        .isEqualTo(Dci.json("{'activequeues': ['demo'], 'ignorequeues': 'other'}"));
    String id = dci.queues.newId().hex();
    for (String ids : new String[] {id, "%5B%22" + id + "%22%5D"}) {
      JsonNode waited = dci.form("/tasks/wait", "timeout=0&ids=" + ids);
      assertThat(waited.required("tasks").has(id)).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      textBlock =
          """
          /queues/demo | {'nodes_pin': ['']}              | nodes_pin must be an array of strings, none of them empty
          /queues/demo | {'nodes_pin': [1]}               | nodes_pin must be an array of strings, none of them empty
          /queues/demo | {'nodes_pin': 7}                 | nodes_pin must be an array of strings
          /config      | {'activequeues': ['']}           | activequeues must be an array of strings, none of them empty
          /config      | {'ignorequeue': ['demo']}        | unknown field ignorequeue; did you mean ignorequeues?
          /config      | {'': 1}                          | a field has no name
          /config      | {'label': 'x', 'node': '000000000000000000000000'} | node not found
          """)
  void lists_and_names_that_would_be_without_effect_are_refused(
      String path, String body, String error) throws Exception {
    assertThat(dci.refused("POST", path, body).required("error").asString()).isEqualTo(error);
  }

  @Test
  void the_configuration_of_a_node_is_named_by_its_id_too() throws Exception {
    NodeIdentity presence = new NodeIdentity("instance", "host", "1 process", List.of());
    NodeRecord node = dci.queues.nodes().take("n1", null, presence).orElseThrow();
    dci.post("/config", "{'node': '" + node.id() + "', 'label': 'x'}");
    assertThat(dci.get("/config?node=n1")).isEqualTo(Dci.json("{'label': 'x'}"));
    assertThat(dci.get("/config?node=" + node.id())).isEqualTo(Dci.json("{'label': 'x'}"));
  }

  @Test
  void fields_of_the_configuration_that_are_no_ones_here_are_kept() throws Exception {
    assertThat(dci.post("/config", "{'web_root': '/x', 'log4perl': {'a': 1}}"))
        .isEqualTo(Dci.json("{'web_root': '/x', 'log4perl': {'a': 1}}"));
  }

  @Test
  void slashes_of_names_are_part_of_the_path_unless_they_are_encoded() throws Exception {
    dci.queues.queues().create("a/b", "own", Queue.Settings.DEFAULTS);
    assertThat(dci.get("/queues/a%2Fb").required("name").asString()).isEqualTo("a/b");
    assertThat(dci.server().get("/dci/queues/a/b").statusCode()).isEqualTo(404);
  }

  @Test
  void halves_of_surrogate_pairs_are_no_name_and_stay_what_they_are_in_params() throws Exception {
    JsonNode refused = dci.refused("POST", "/queues", "{'name': 'q\\ud800', 'plugin': 'demo'}");
    assertThat(refused.required("error").asString())
        .isEqualTo("the name of a queue has half of a surrogate pair");
    dci.post("/queues", "{'name': 'halves', 'plugin': 'Disbatch::Plugin::Demo'}");
    String id =
        dci.post("/tasks/halves", "[{'command': 'a\\ud800b'}]")
            .at("/MongoDB::InsertManyResult/inserted_ids/0/$oid")
            .asString();
    assertThat(dci.get("/tasks/id/" + id).at("/params/command").asString()).isEqualTo("a\ud800b");
  }
}
