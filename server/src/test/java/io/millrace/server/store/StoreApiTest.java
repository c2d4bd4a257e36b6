package io.millrace.server.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.TestServer;
import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The store over HTTP as the seed describes it, by requests that any client could send. */
final class StoreApiTest {
  private static final JsonMapper JSON = new JsonMapper();

  @TempDir private Path folder;
  private TestServer server;

  @BeforeEach
  void start() {
    server = TestServer.in(folder);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static JsonNode json(HttpResponse<String> response) {
    assertThat(response.headers().firstValue("Content-Type")).contains("application/json");
    return JSON.readTree(response.body());
  }

  private JsonNode update(String body) throws IOException, InterruptedException {
    HttpResponse<String> response = server.post("/store/update", body);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return json(response);
  }

  private long add(String group, String data) throws IOException, InterruptedException {
    return update(
            """
            {"clientid": 1, "adds": [{"group": "%s", "data": "%s"}]}\
            """
                .formatted(group, data))
        .at("/tasks/0/id")
        .asLong();
  }

  @Test
  void the_updates_of_the_seed_work_as_they_stand() throws Exception {
    for (int i = 0; i < 20; i++) {
      add("map", "old");
    }
    HttpResponse<String> response =
        server.post(
            "/store/update",
            """
            {"clientid": 1643,
             "adds": [{"group": "map",
                       "data": "/path/to/file:1024:2048"},
                      {"group": "map",
                       "data": "/path/to/file:2048:3096"}],
             "updates": [{"id": 14,
                          "data": "some data for this task",
                          "timespec": -60000}],
             "deletes": [16, 18, 20],
             "depends": [12, 13]}\
            """);
    JsonNode answer = json(response);
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(answer.has("errors")).isFalse();
    assertThat(answer.at("/tasks").size()).isEqualTo(3);
    assertThat(answer.at("/tasks/0/data").asString()).isEqualTo("/path/to/file:1024:2048");
    assertThat(answer.at("/tasks/0/ownerid").asLong()).isZero();
    assertThat(answer.at("/tasks/2/ownerid").asLong()).isEqualTo(1643);
    assertThat(answer.at("/tasks/2/timespec").asLong() - answer.at("/time").asLong())
        .isEqualTo(60_000);
    assertThat(answer.at("/tasks/1/data").asString()).isEqualTo("/path/to/file:2048:3096");
    assertThat(answer.at("/tasks/2/data").asString()).isEqualTo("some data for this task");
    assertThat(answer.at("/tasks/2/id").asLong()).isGreaterThan(20);
    assertThat(answer.at("/tasks/2/origin").asLong()).isEqualTo(14);
    for (int gone : new int[] {14, 16, 18, 20}) {
      assertThat(server.get("/store/task/" + gone).statusCode()).as("task %d", gone).isEqualTo(404);
    }
    for (int kept : new int[] {12, 13, 15, 17, 19}) {
      JsonNode task = json(server.get("/store/task/" + kept));
      assertThat(task.at("/data").asString()).as("task %d", kept).isEqualTo("old");
      assertThat(task.at("/ownerid").asLong()).as("task %d", kept).isZero();
    }
    assertThat(json(server.get("/store/group/map?owned=1")).size()).isEqualTo(20 - 3 + 2);
  }

  @Test
  void the_claim_of_the_seed_works_as_it_stands() throws Exception {
    for (int i = 0; i < 14; i++) {
      add("map", "x");
    }
    HttpResponse<String> response =
        server.post(
            "/store/claim",
            """
            {"clientid": 1532, "group": "map", "duration": 60000, "depends": [14, 10]}\
            """);
    JsonNode answer = json(response);
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(answer.at("/tasks").size()).isEqualTo(1);
    assertThat(answer.at("/tasks/0/ownerid").asLong()).isEqualTo(1532);
    assertThat(answer.at("/tasks/0/timespec").asLong() - answer.at("/time").asLong())
        .isEqualTo(60_000);
    HttpResponse<String> missing =
        server.post(
            "/store/claim",
            """
            {"clientid": 1532, "group": "map", "duration": 60000, "depends": [14, 99]}\
            """);
    assertThat(missing.statusCode()).isEqualTo(409);
    assertThat(json(missing).at("/refusal").valueStream().map(node -> node.at("/id").asLong()))
        .contains(99L);
  }

  /** Byte for byte what the Go client sends: no type, and the json.Marshal of its structs. */
  @Test
  void the_go_client_can_add_claim_update_delete_and_list() throws Exception {
    JsonNode added =
        update(
            "{\"clientid\":52,\"adds\":[{\"id\":0,\"group\":\"map\",\"data\":\"a \\u0026 b\","
                + "\"duration\":0,\"ownerid\":0},{\"id\":0,\"group\":\"map\",\"data\":\"held\","
                + "\"duration\":-60000,\"ownerid\":0}],"
                + "\"updates\":null,\"deletes\":null,\"depends\":null}");
    long time = added.at("/time").asLong();
    assertThat(added.at("/tasks/0/data").asString()).isEqualTo("a & b");
    assertThat(added.at("/tasks/0/timespec").asLong()).isEqualTo(time);
    assertThat(added.at("/tasks/0/state").asString()).isEqualTo("waiting");
    assertThat(added.at("/tasks/1/timespec").asLong()).isEqualTo(time + 60_000);
    assertThat(added.at("/tasks/1/ownerid").asLong()).isEqualTo(52);
    HttpResponse<String> claimed =
        server.post(
            "/store/claim",
            "{\"clientid\":52,\"group\":\"map\",\"duration\":60000,\"depends\":null}");
    assertThat(claimed.statusCode()).isEqualTo(200);
    long claim = json(claimed).at("/tasks/0/id").asLong();
    JsonNode released =
        update(
            "{\"clientid\":52,\"adds\":null,\"updates\":[{\"id\":"
                + claim
                + ",\"group\":\"map\",\"data\":\"c\",\"duration\":0,\"ownerid\":52}],"
                + "\"deletes\":null,\"depends\":[2]}");
    assertThat(released.at("/tasks/0/state").asString()).isEqualTo("waiting");
    for (String limit : new String[] {"0", "-1", "-9223372036854775808", "9223372036854775807"}) {
      assertThat(json(server.get("/store/group/map?limit=" + limit + "&owned=1")).size())
          .as("limit %s", limit)
          .isEqualTo(2);
    }
    assertThat(json(server.get("/store/group/map?limit=1&owned=1")).size()).isEqualTo(1);
    update(
        "{\"clientid\":52,\"adds\":null,\"updates\":null,\"deletes\":["
            + released.at("/tasks/0/id").asLong()
            + ",2],\"depends\":null}");
    assertThat(server.get("/store/group").body()).doesNotContain("map");
  }

  @Test
  void a_missing_group_and_an_id_of_0_hide_no_other_reason() throws Exception {
    HttpResponse<String> response =
        server.post(
            "/store/update",
            """
            {"clientid": 1, "adds": [{"data": "x"}], "deletes": [0, 91, 91], "depends": [92]}\
            """);
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(json(response).at("/errors").valueStream().map(JsonNode::asString))
        .containsExactly(
            "adds/0: group of a task to add must not be empty",
            "deletes/0: a task to delete needs an id or an origin of at least 1",
            "task 91 to delete is not in the store",
            "task 91 is changed twice",
            "task 92 to depend on is not in the store");
    assertThat(json(response).at("/refusal").toString())
        .isEqualTo(
            "[{\"kind\":\"bugs\"},{\"kind\":\"bugs\"},{\"kind\":\"deletes\",\"id\":91},"
                + "{\"kind\":\"bugs\",\"id\":91},{\"kind\":\"depends\",\"id\":92}]");
    HttpResponse<String> claim =
        server.post("/store/claim", "{\"clientid\":1,\"duration\":1,\"depends\":[0,93]}");
    assertThat(claim.statusCode()).isEqualTo(400);
    assertThat(json(claim).at("/errors").size()).isEqualTo(3);
  }

  @Test
  void a_claim_that_finds_nothing_answers_200_with_no_tasks_and_no_errors() throws Exception {
    HttpResponse<String> response =
        server.post("/store/claim", "{\"clientid\": 1, \"group\": \"none\", \"duration\": 1}");
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(json(response).at("/tasks").size()).isZero();
    assertThat(json(response).has("errors")).isFalse();
  }

  @Test
  void a_refusal_names_every_reason_as_string_and_by_kind() throws Exception {
    long held = add("a", "x");
    update(
        """
        {"clientid": 7, "updates": [{"id": %d, "timespec": -60000}]}\
        """
            .formatted(held));
    HttpResponse<String> response =
        server.post(
            "/store/update",
            """
            {"clientid": 1, "updates": [{"id": 91}], "deletes": [92, %d], "depends": [93]}\
            """
                .formatted(held + 1));
    JsonNode answer = json(response);
    assertThat(response.statusCode()).isEqualTo(409);
    assertThat(answer.has("tasks")).isFalse();
    assertThat(answer.at("/errors").valueStream().map(JsonNode::asString))
        .hasSize(4)
        .anyMatch(text -> text.contains("91"))
        .anyMatch(text -> text.contains("92"))
        .anyMatch(text -> text.contains("93"));
    assertThat(answer.at("/refusal").valueStream().map(node -> node.at("/kind").asString()))
        .containsExactlyInAnyOrder("changes", "deletes", "owned", "depends");
  }

  @Test
  void the_form_fields_of_old_clients_hold_the_same_json() throws Exception {
    String add =
        URLEncoder.encode("{\"clientid\":1,\"adds\":[{\"group\":\"g\"}]}", StandardCharsets.UTF_8);
    String claim =
        URLEncoder.encode(
            "{\"clientid\":1,\"group\":\"g\",\"duration\":5}", StandardCharsets.UTF_8);
    String type = "application/x-www-form-urlencoded";
    assertThat(
            server
                .send("POST", "/store/update", "update=" + add, "Content-Type", type)
                .statusCode())
        .isEqualTo(200);
    HttpResponse<String> claimed =
        server.send("POST", "/store/claim", "claim=" + claim, "Content-Type", type);
    assertThat(json(claimed).at("/tasks").size()).isEqualTo(1);
  }

  @Test
  void ids_that_are_not_there_are_null_in_a_list_and_404_alone() throws Exception {
    long id = add("a", "x");
    JsonNode list = json(server.get("/store/tasks/" + id + ",999"));
    assertThat(list.at("/0/id").asLong()).isEqualTo(id);
    assertThat(list.at("/1").isNull()).isTrue();
    HttpResponse<String> missing = server.get("/store/task/999");
    assertThat(missing.statusCode()).isEqualTo(404);
    assertThat(json(missing).at("/error").asString()).contains("999");
    assertThat(missing.headers().firstValue("Millrace-Position")).isPresent();
  }

  @Test
  void more_ids_than_fit_into_a_path_can_be_posted() throws Exception {
    long id = add("a", "x");
    JsonNode list =
        json(server.post("/store/tasks", "{\"ids\": [%d, {\"origin\": %d}, 5]}".formatted(id, id)));
    assertThat(list.at("/0/id").asLong()).isEqualTo(id);
    assertThat(list.at("/1/id").asLong()).isEqualTo(id);
    assertThat(list.at("/2").isNull()).isTrue();
  }

  @Test
  void more_ids_than_the_limit_are_413() throws Exception {
    String ids = "1,".repeat(10_000) + "1";
    HttpResponse<String> response = server.post("/store/tasks", "{\"ids\": [" + ids + "]}");
    assertThat(response.statusCode()).isEqualTo(413);
    assertThat(json(response).at("/error").asString()).contains("10000");
  }

  @Test
  void groups_are_listed_by_both_names_and_a_group_with_its_limits() throws Exception {
    add("b", "1");
    add("b", "2");
    add("a", "3");
    update(
        "{\"clientid\": 5, \"adds\": [{\"group\": \"b\", \"data\": \"later\", \"timespec\":"
            + " -60000}]}");
    assertThat(server.get("/store/groups").body()).isEqualTo("[\"a\",\"b\"]");
    assertThat(server.get("/store/group").body()).isEqualTo("[\"a\",\"b\"]");
    assertThat(json(server.get("/store/group/b")).size()).isEqualTo(2);
    assertThat(json(server.get("/store/group/b?limit=1")).size()).isEqualTo(1);
    assertThat(json(server.get("/store/group/b?limit=0")).size()).isEqualTo(2);
    for (String yes : new String[] {"1", "yes", "true"}) {
      assertThat(json(server.get("/store/group/b?owned=" + yes)).size()).isEqualTo(3);
    }
    for (String no : new String[] {"0", "no", "false"}) {
      assertThat(json(server.get("/store/group/b?owned=" + no)).size()).isEqualTo(2);
    }
    assertThat(server.get("/store/group/none").body()).isEqualTo("[]");
  }

  @Test
  void a_group_is_listed_after_the_last_task_of_a_page() throws Exception {
    add("b", "1");
    add("b", "2");
    update("{\"clientid\": 5, \"adds\": [{\"group\": \"b\", \"data\": \"3\", \"key\": \"k\"}]}");
    List<String> found = new ArrayList<>();
    String after = "";
    for (int page = 0; page < 4; page++) {
      JsonNode tasks = json(server.get("/store/group/b?limit=1&after=" + after));
      for (JsonNode task : tasks) {
        found.add(task.path("data").asString());
        after = task.path("timespec").asString() + "~" + task.path("origin").asString();
        after += task.has("key") ? "~keyed" : "";
      }
    }
    assertThat(found).containsExactly("3", "1", "2");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a/b", "ü ☃ 𝄞", "..", ".", "a%2Fb", "a;b=c", "?#&+", " "})
  void a_group_of_any_name_can_be_read_by_its_path(String name) throws Exception {
    add(name, "x");
    String path =
        "/store/group/" + URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    if (name.startsWith(".")) {
      path = "/store/group/" + name.replace(".", "%2E");
    }
    JsonNode tasks = json(server.get(path));
    assertThat(tasks.at("/0/group").asString()).isEqualTo(name);
  }

  @Test
  void a_long_list_is_streamed_whole() throws Exception {
    String adds = "{\"group\":\"many\",\"data\":\"0123456789\"},".repeat(4999);
    update("{\"clientid\":1,\"adds\":[" + adds + "{\"group\":\"many\"}]}");
    HttpResponse<String> response = server.get("/store/group/many");
    assertThat(response.headers().firstValue("Transfer-Encoding")).contains("chunked");
    assertThat(json(response).size()).isEqualTo(5000);
  }

  @Test
  void documents_are_written_read_and_listed() throws Exception {
    update(
        """
        {"clientid": 1, "puts": [{"collection": "c/d", "key": "k 1", "version": 0, "body": "one"},
                                 {"collection": "c/d", "key": "k 2", "version": 0, "body": "two"}]}\
        """);
    assertThat(json(server.get("/store/document/c%2Fd/k%201")).at("/body").asString())
        .isEqualTo("one");
    assertThat(
            json(server.get("/store/documents/c%2Fd?prefix=k&after=k%201")).at("/0/key").asString())
        .isEqualTo("k 2");
    assertThat(server.get("/store/document/c/none").statusCode()).isEqualTo(404);
    assertThat(json(server.get("/store/document/c%2Fd/k%201?data=base64")).at("/body64").asString())
        .isEqualTo("b25l");
  }

  @Test
  void position_summary_and_backup_answer() throws Exception {
    add("a", "x");
    assertThat(json(server.get("/store/position")).at("/position").asString()).endsWith("-1");
    assertThat(json(server.get("/store/summary")).at("/0/waiting").asLong()).isEqualTo(1);
    HttpResponse<String> backup = server.get("/store/backup");
    assertThat(backup.headers().firstValue("Content-Type")).contains("application/octet-stream");
    assertThat(backup.body()).isNotEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/store/update | {\"clientid\": 1}",
        "/store/update | {\"adds\": [{\"group\": \"a\"}]}",
        "/store/update | {\"clientid\": 1.5, \"adds\": [{\"group\": \"a\"}]}",
        "/store/update | {\"clientid\": \"1\", \"adds\": [{\"group\": \"a\"}]}",
        "/store/update | {\"clientid\": 1, \"adds\": [{\"group\": \"\"}]}",
        "/store/update | {\"clientid\": 1, \"adds\": [{\"data\": \"a\"}]}",
        "/store/update | {\"clientid\": 1, \"ads\": []}",
        "/store/update | {\"clientid\": 1, \"adds\": [{\"group\": \"\\ud800\"}]}",
        "/store/update | {\"clientid\": 1, \"puts\": [{\"collection\": \"c\", \"key\": \"k\","
            + " \"version\": -2}]}",
        "/store/update | {\"clientid\": 1, \"adds\": [",
        "/store/update | []",
        "/store/update | 7",
        "/store/claim | {\"clientid\": 1, \"duration\": 1}",
        "/store/claim | {\"clientid\": 1, \"group\": \"\", \"duration\": 1}",
        "/store/claim | {\"clientid\": 1, \"group\": \"a\"}",
        "/store/claim | {\"clientid\": 1, \"group\": \"a\", \"duration\": -1}",
        "/store/claim | {\"group\": \"a\", \"duration\": 1}",
      })
  void a_malformed_command_is_400_with_a_list_of_errors(String path, String body) throws Exception {
    HttpResponse<String> response = server.post(path, body);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
    assertThat(json(response).at("/errors/0").asString()).isNotEmpty();
    assertThat(json(response).at("/refusal/0/kind").asString()).isEqualTo("bugs");
    assertThat(json(response).has("tasks")).isFalse();
  }

  @Test
  void one_id_in_both_updates_and_deletes_is_malformed() throws Exception {
    long id = add("a", "x");
    HttpResponse<String> response =
        server.post(
            "/store/update",
            "{\"clientid\": 1, \"updates\": [{\"id\": %d}], \"deletes\": [%d]}".formatted(id, id));
    assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
    assertThat(json(response).at("/refusal/0/kind").asString()).isEqualTo("bugs");
  }

  @Test
  void an_empty_body_and_broken_utf8_are_400() throws Exception {
    assertThat(server.send("POST", "/store/update", "").statusCode()).isEqualTo(400);
    String body = "{\"clientid\":1,\"adds\":[{\"group\":\"g\",\"data\":\"\u00ff\u00fe\"}]}";
    String answer =
        server.raw(
            """
            POST /store/update HTTP/1.1
            Host: localhost
            Connection: close
            Content-Length: %d

            %s\
            """
                .formatted(body.length(), body));
    assertThat(answer)
        .startsWith("HTTP/1.1 400 ")
        .contains("the body is not UTF-8: byte 0xff at offset 43");
    assertThat(server.get("/store/group/g").body()).isEqualTo("[]");
  }

  @Test
  void a_refusal_of_a_part_without_an_id_says_which_it_is() throws Exception {
    HttpResponse<String> response =
        server.post(
            "/store/update",
            """
            {"clientid": 1, "adds": [{"group": "a"}, {"group": "%s"}],
             "puts": [{"collection": "c", "key": "k"}, {"collection": "", "key": "k"}]}\
            """
                .formatted("x".repeat(513)));
    JsonNode answer = json(response);
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(answer.at("/errors/0").asString()).startsWith("adds/1: group of a task to add ");
    assertThat(answer.at("/refusal/0/kind").asString()).isEqualTo("limits");
    assertThat(answer.at("/errors/1").asString()).startsWith("puts/1: collection of a document ");
    assertThat(answer.at("/refusal/1/kind").asString()).isEqualTo("bugs");
  }

  @Test
  void malformed_json_is_answered_with_its_place() throws Exception {
    HttpResponse<String> response =
        server.post("/store/update", "{\"clientid\": 1,\n  \"adds\": x}");
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(json(response).at("/errors/0").asString()).contains("line 2");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/store/group/a?limit=x",
        "/store/group/a?limit=9223372036854775808",
        "/store/group/a?owned=maybe",
        "/store/group/a?delayed=maybe",
        "/store/group/a?delayed=yes&owned=yes",
        "/store/group/a?data=hex",
        "/store/group/a?after=1",
        "/store/group/a?after=1~0",
        "/store/group/a?after=x~1",
        "/store/group/a?after=1~2~3",
        "/store/group/",
        "/store/group/%FF",
        "/store/documents/",
        "/store/document/c/",
        "/store/changes?group=",
        "/store/changes?group=a&collection=",
        "/store/task/abc",
        "/store/task/1,2",
        "/store/task/0",
        "/store/tasks/",
        "/store/tasks/1,,2",
        "/store/changes?after=nowhere",
      })
  void a_malformed_read_is_400_with_an_error(String path) throws Exception {
    HttpResponse<String> response = server.get(path);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
    assertThat(json(response).at("/error").asString()).isNotEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "GET,/store/update,POST",
    "GET,/store/claim,POST",
    "POST,/store/groups,GET",
    "DELETE,/store/task/1,GET"
  })
  void a_wrong_method_is_405_with_allow(String method, String path, String allowed)
      throws Exception {
    HttpResponse<String> response = server.send(method, path, "");
    assertThat(response.statusCode()).isEqualTo(405);
    assertThat(response.headers().firstValue("Allow").orElse("")).contains(allowed);
    assertThat(json(response).at("/error").asString()).contains(method);
  }

  @Test
  void a_wrong_method_outside_the_store_is_405_with_problem_details() throws Exception {
    HttpResponse<String> response = server.send("PUT", "/health", "");
    assertThat(response.statusCode()).isEqualTo(405);
    assertThat(response.headers().firstValue("Allow").orElse("")).contains("GET");
    assertThat(response.headers().firstValue("Content-Type")).contains("application/problem+json");
    assertThat(JSON.readTree(response.body()).at("/detail").asString()).contains("PUT");
  }

  @Test
  void an_update_larger_than_the_limit_is_413() throws Exception {
    HttpResponse<String> response =
        server.post(
            "/store/update",
            "{\"clientid\":1,\"adds\":[{\"group\":\"a\",\"data\":\"%s\"}]}"
                .formatted("x".repeat((1 << 20) + 1)));
    assertThat(response.statusCode()).isEqualTo(413);
    assertThat(json(response).at("/refusal/0/kind").asString()).isEqualTo("limits");
  }
}
