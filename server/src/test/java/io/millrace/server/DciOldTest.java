package io.millrace.server;

import static io.millrace.server.Dci.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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
    assertThat(started.get(0).asInt()).isEqualTo(1);
    String id = started.at("/1/$oid").asString();
    JsonNode set = dci.form("/set-queue-attr-json", "queueid=" + id + "&attr=threads&value=4");
    assertThat(set.required("success").asInt()).isEqualTo(1);
    assertThat(set.has("MongoDB::UpdateResult")).isTrue();
    assertThat(dci.get("/scheduler-json")).isEqualTo(dci.get("/queues"));
    assertThat(dci.get("/scheduler-json").at("/0/threads").asInt()).isEqualTo(4);
    assertThat(dci.get("/queue-prototypes-json"))
        .isEqualTo(
            json(
                "{'Disbatch::Plugin::Demo': 'Disbatch::Plugin::Demo', 'demo': 'demo',"
                    + " 'exec': 'exec', 'shell': 'shell'}"))
        .isEqualTo(dci.form("/queue-prototypes-json", ""));
    assertThat(dci.form("/delete-queue-json", "id=" + id).get(0).asInt()).isEqualTo(1);

    assertThat(dci.refused("POST", "/delete-queue-json", "{'id': '" + id + "'}"))
        .isEqualTo(json("[0, 'queue not found']"));
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
  void tasks_are_created_and_searched() throws Exception {
    String queue = dci.form("/start-queue-json", "type=demo&name=old").at("/1/$oid").asString();
    JsonNode created =
        dci.form(
            "/queue-create-tasks-json",
            "queueid=old&object=" + encoded("[{'commands': 'a'}, {'commands': 'b'}]"));
    assertThat(created.get(0).asInt()).isEqualTo(1);
    assertThat(created.get(1).asInt()).isEqualTo(2);
    String second = created.at("/3/$oid").asString();
    assertThat(dci.get("/tasks/id/" + second).at("/params/commands").asString()).isEqualTo("b");

    String search = "queue=" + queue + "&filter=" + encoded("{'status': '-2'}");
    assertThat(dci.form("/search-tasks-json", search + "&count=1")).isEqualTo(json("[1, 2]"));
    JsonNode found = dci.form("/search-tasks-json", search + "&limit=1&skip=1");
    assertThat(found).hasSize(1);
    assertThat(found.at("/0/_id/$oid").asString()).isEqualTo(second);
    assertThat(found.at("/0/ctime_str").asString()).endsWith("Z");
    assertThat(dci.post("/search-tasks-json", "{'filter': {'id': '" + second + "'}}")).hasSize(1);

    assertThat(dci.refused("POST", "/queue-create-tasks-json", "{'queueid': 'old'}"))
        .isEqualTo(json("[0, 'queueid and object required']"));
    assertThat(dci.refused("POST", "/queue-create-tasks-json", "{'queueid': 'old', 'object': {}}"))
        .isEqualTo(json("[0, 'object param must be a JSON array']"));
    assertThat(dci.refused("POST", "/queue-create-tasks-from-query-json", "{}").get(0).asInt(-1))
        .isZero();
    assertThat(dci.refused("POST", "/search-tasks-json", "{'filter': 'x'}"))
        .isEqualTo(json("[0, 'JSON object required for filter']"));
  }
}
