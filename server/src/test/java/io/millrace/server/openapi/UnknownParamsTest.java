package io.millrace.server.openapi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.http.json.Json;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend.PluginVersion;
import io.millrace.queues.plugin.PluginDeclaration;
import io.millrace.queues.registry.Queues;
import io.millrace.server.TestServer;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

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

  private NodeRecord node(Queues queues, String name, String... plugins) {
    return queues
        .nodes()
        .take(name, null, new NodeIdentity(name, "host", "1 mark", List.of(plugins)))
        .orElseThrow();
  }

  private static PluginDeclaration declaring(String params) {
    return PluginDeclaration.parse(
        ("{\"params\": " + params + "}").getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void params_that_a_plugin_of_a_site_declares_are_checked_like_those_of_built_in_ones()
      throws Exception {
    Queues queues = Queues.in(server.server().store(), InstantSource.system(), new Random(5));
    NodeRecord a = node(queues, "a", "my.Greet");
    queues
        .declarations()
        .put(
            "a",
            Map.of(
                "my.Greet",
                declaring(
                    """
                    [{"name": "who", "type": "string", "required": true, "description": "whom"},
                     {"name": "times", "type": "integer"}]
                    """)));
    assertThat(
            server
                .post("/dci/queues", "{\"name\": \"greet queue\", \"plugin\": \"my::Greet\"}")
                .statusCode())
        .isEqualTo(200);
    assertThat(submit("greet", "{\"who\": \"ann\", \"times\": 2}").statusCode()).isEqualTo(200);
    assertThat(submit("greet", "{\"who\": \"ann\", \"time\": 2}").body())
        .contains("plugin my::Greet has no param \\\"time\\\", only times, who");
    assertThat(submit("greet", "{\"times\": 2}").body()).contains("needs the param \\\"who\\\"");
    assertThat(submit("greet", "{\"who\": \"ann\", \"times\": \"2\"}").body())
        .contains("param \\\"times\\\" of plugin my::Greet must be an integer");
    assertThat(server.get("/dci/plugins/my.Greet").body())
        .contains("\"description\":\"whom\"", "\"nodes\":[\"a\"]");
    assertThat(server.get("/dci/plugins/shell").body()).contains("command", "\"nodes\":[]");
    assertThat(server.get("/dci/plugins/none").statusCode()).isEqualTo(400);

    // A node with another version: what one of them takes is accepted.
    node(queues, "b", "my.Greet");
    queues.declarations().put("b", Map.of("my.Greet", declaring("[{\"name\": \"time\"}]")));
    Queues fresh = Queues.in(server.server().store(), InstantSource.system(), new Random(6));
    Queue queue = fresh.queues().find("greet queue").orElseThrow();
    fresh
        .submission()
        .checkKnown(
            queue, (ObjectNode) Json.read("{\"time\": 2}".getBytes(StandardCharsets.UTF_8)));
    assertThat(fresh.declarations().versions("my.Greet")).hasSize(2);
    assertThatThrownBy(() ->
            fresh
                .submission()
                .checkKnown(
                    queue, (ObjectNode) Json.read("{\"x\": 2}".getBytes(StandardCharsets.UTF_8))))
        .hasMessageContaining("no param \"x\"");

    // Nodes that have left, or were removed, count no more.
    queues.nodes().leave(a, "a");
    assertThat(queues.nodes().remove("a")).isTrue();
    Queues later = Queues.in(server.server().store(), InstantSource.system(), new Random(7));
    assertThat(later.declarations().versions("my::Greet"))
        .containsExactly(
            new PluginVersion(Optional.of(declaring("[{\"name\": \"time\"}]")), List.of("b")));
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
