package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Params that a plugin does not know are refused, whoever submits them. */
final class UnknownParamsTest {
  private static final String MESSAGE =
      "plugin shell has no param \\\"comand\\\", only command, mixed";

  @TempDir private Path folder;
  private TestServer server;

  @BeforeEach
  void start() throws Exception {
    server = TestServer.in(folder);
    for (String plugin : new String[] {"shell", "exec", "demo", "Disbatch::Plugin::Demo"}) {
      String queue = "{\"name\": \"%s queue\", \"plugin\": \"%s\"}".formatted(plugin, plugin);
      assertThat(server.post("/dci/queues", queue).statusCode()).isEqualTo(200);
    }
  }

  @AfterEach
  void close() {
    server.close();
  }

  private HttpResponse<String> submit(String plugin, String params) throws Exception {
    return server.post("/dci/tasks/" + plugin + "%20queue", "[" + params + "]");
  }

  private String tasks() throws Exception {
    return server.post("/dci/tasks/search", "{\"count\": true}").body();
  }

  @Test
  void no_task_of_a_submission_is_created_and_the_error_names_the_param() throws Exception {
    HttpResponse<String> refused =
        submit("shell", "{\"command\": \"true\"}, {\"comand\": \"true\"}");
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("\"error\":\"" + MESSAGE);
    assertThat(tasks()).contains("0");
    assertThat(submit("exec", "{\"command\": \"true\", \"argv\": []}").body())
        .contains("no param \\\"argv\\\", only args, command, cwd, env, mixed");
    assertThat(submit("demo", "{\"user3\": 1}").statusCode()).isEqualTo(400);
    assertThat(
            submit("exec", "{\"command\": \"x\", \"args\": [], \"env\": {}, \"cwd\": \"/\"}")
                .statusCode())
        .isEqualTo(200);
    assertThat(submit("shell", "{\"command\": \"x\", \"mixed\": true}").statusCode())
        .isEqualTo(200);
  }

  @Test
  void a_plugin_that_a_site_may_have_replaced_takes_any_params() throws Exception {
    assertThat(submit("Disbatch::Plugin::Demo", "{\"anything\": 1}").statusCode()).isEqualTo(200);
  }

  @Test
  void clients_of_version_3_get_the_error_in_their_form() throws Exception {
    HttpResponse<String> refused =
        server.post(
            "/dci/queue-create-tasks-json",
            "{\"queueid\": \"shell queue\", \"object\": [{\"comand\": \"true\"}]}");
    assertThat(refused.body()).startsWith("[0,\"" + MESSAGE);
    assertThat(tasks()).contains("0");
  }

  @Test
  void tasks_are_not_created_from_documents_either() throws Exception {
    server.post(
        "/store/update",
        "{\"clientid\": 1, \"puts\": [{\"collection\": \"c\", \"key\": \"k\", \"body\": \"{}\"}]}");
    HttpResponse<String> refused =
        server.post(
            "/dci/tasks/shell%20queue/c",
            "{\"filter\": {}, \"params\": {\"comand\": \"document._id\"}}");
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains(MESSAGE);
  }

  @Test
  void a_schedule_is_refused_when_it_is_created() throws Exception {
    HttpResponse<String> refused =
        server.send(
            "PUT",
            "/schedules/nightly",
            """
            {"times": [{"cron": "@daily"}],
             "target": {"queue": "shell queue", "params": {"comand": "true"}}}
            """);
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("target.params: " + MESSAGE);
  }

  @Test
  void a_node_of_a_graph_is_refused_when_it_is_added() throws Exception {
    String node =
        """
        [{"metadata": {"type": "queue task"},
          "data": {"queue": "%s", "params": {"comand": "true"}}}]
        """;
    HttpResponse<String> refused = server.post("/v1/nodes", node.formatted("shell queue"));
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains(MESSAGE);
    assertThat(server.post("/v1/nodes", node.formatted("later")).statusCode()).isEqualTo(201);
  }
}
