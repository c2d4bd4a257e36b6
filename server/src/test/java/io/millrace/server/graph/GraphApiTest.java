package io.millrace.server.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The graph over HTTP, with real commands. */
final class GraphApiTest {
  private static final Pattern UNDER_WAY = Pattern.compile("millrace_http_inflight ([2-9]|1\\d)");

  @TempDir private Path folder;
  private Graphs graph;

  @BeforeEach
  void start() {
    graph = new Graphs(folder);
  }

  @AfterEach
  void stop() {
    graph.close();
  }

  /** A node that waits until {@link #open} is called. */
  private String gate() throws Exception {
    return graph.add("wait for", "root", "{'file': '" + folder.resolve("gate") + "'}");
  }

  private void open() throws Exception {
    Files.createFile(folder.resolve("gate"));
  }

  @Test
  void a_command_and_a_script_run_one_after_the_other() throws Exception {
    JsonNode added =
        graph.answer(
            201,
            "POST",
            "/nodes",
            """
            [{'metadata': {'type': 'command', 'parent': 'root', 'local': 'a', 'name': 'first'},
              'data': {'command': 'echo', 'args': ['hello', 'world'], 'note': {'x': [1, null]}}},
             {'metadata': {'type': 'shell command', 'parent': 'local:a'},
              'data': {'command': 'echo out; echo err >&2; exit 7'}}]
            """);
    assertThat(added).hasSize(2);
    String first = added.get(0).required("id").asString();
    String second = added.get(1).required("id").asString();
    assertThat(added.get(0).required("parent").asString()).isEqualTo("root");
    assertThat(added.get(0).required("name").asString()).isEqualTo("first");
    assertThat(added.get(1).required("parents")).isEqualTo(Graphs.json("['" + first + "']"));
    assertThat(graph.get("/scheduler/wait?id=" + first + "," + second))
        .isEqualTo(Graphs.json("{'" + first + "': 'finished', '" + second + "': 'failed'}"));
    assertThat(graph.data(first, "stdout").asString()).isEqualTo("hello world\n");
    assertThat(graph.data(first, "result")).isEqualTo(Graphs.json("0"));
    assertThat(graph.data(first, "note")).isEqualTo(Graphs.json("{'x': [1, null]}"));
    // Two writes in quick succession to two streams may swap there.
    assertThat(graph.data(second, "mixedout").asString().lines())
        .containsExactlyInAnyOrder("out", "err");
    assertThat(graph.data(second, "result").intValue()).isEqualTo(7);
    assertThat(graph.get("/nodes/" + second).required("reason").asString())
        .isEqualTo("exit code 7");
    assertThat(graph.get("/nodes/" + first + "/data"))
        .isEqualTo(
            Graphs.json(
                "{'keys': ['args','command','mixedout','note','result','stderr','stdout']}"));
  }

  @Test
  void lists_are_bare_and_show_what_was_asked_for() throws Exception {
    assertThat(graph.get("/nodes")).isEqualTo(Graphs.json("[]"));
    String first = gate();
    String second = graph.script(first, "true");
    assertThat(graph.get("/nodes?metadata=type,parent"))
        .isEqualTo(
            Graphs.json(
                "[{'id':'%s','type':'wait for','parent':'root'},".formatted(first)
                    + "{'id':'%s','type':'shell command','parent':'%s'}]"
                        .formatted(second, first)));
    assertThat(graph.get("/nodes?metadata=")).hasSize(2);
    assertThat(graph.get("/nodes?metadata=&state=incipient").get(0))
        .isEqualTo(Graphs.json("{'id':'" + second + "'}"));
    assertThat(graph.get("/nodes?status=incipient")).hasSize(1);
    assertThat(graph.get("/nodes?state=finished,killed")).isEmpty();
    assertThat(graph.get("/nodes?type=shell%20command")).hasSize(1);
    assertThat(graph.get("/nodes?below=" + first)).hasSize(2);
    assertThat(graph.get("/nodes?new=" + first)).hasSize(1);
    assertThat(graph.refused(400, "GET", "/nodes?state=done", "")).contains("state", "finished");
    assertThat(graph.refused(400, "GET", "/nodes?metadata=colour", "")).contains("colour");
    assertThat(graph.refused(400, "GET", "/nodes?new=x", "")).contains("new");
  }

  @Test
  void a_parameter_that_nobody_reads_is_refused() throws Exception {
    String id = gate();
    assertThat(graph.refused(400, "GET", "/nodes?stat=failed", ""))
        .contains("unknown parameter \"stat\"", "state");
    for (String path : List.of("/nodes/" + id, "/nodes/" + id + "/data", "/running", "/events")) {
      assertThat(graph.refused(400, "GET", path + "?limit=2", "")).contains("limit");
    }
    assertThat(graph.refused(400, "GET", "/scheduler/wait?id=" + id + "&timout=1", ""))
        .contains("timout", "timeout");
    assertThat(graph.refused(400, "PUT", "/scheduler/kill?id=" + id + "&force=true", ""))
        .contains("force", "grace, id, signal");
    assertThat(graph.refused(400, "DELETE", "/nodes/" + id + "?recursive=true", ""))
        .contains("recursive", "below");
    assertThat(graph.refused(400, "POST", "/nodes?parent=" + id, "[]"))
        .contains("parent", "requestid, unique, unique_fields, unique_period, unique_scope");
    assertThat(graph.get("/nodes?metadata=")).hasSize(1);
  }

  @Test
  void a_list_that_is_longer_than_a_page_comes_in_pages_of_one_view() throws Exception {
    String one =
        "{'metadata':{'type':'command','parent':'" + gate() + "'},'data':{'command':'true'}}";
    List<String> ids = graph.add("[" + String.join(",", Collections.nCopies(1_001, one)) + "]");
    JsonNode first = graph.get("/nodes?type=command&metadata=");
    assertThat(first.required("nodes")).hasSize(1_000);
    JsonNode pagination = first.required("pagination");
    String view = "&pid=" + pagination.required("pid").asString();
    String next = pagination.required("next").asString();
    graph.answer(200, "DELETE", "/nodes/" + ids.get(7), "");
    JsonNode second = graph.get("/nodes?type=command&metadata=&start=" + next + view);
    assertThat(second.required("nodes")).hasSize(1);
    assertThat(second.at("/nodes/0/id").asString()).isEqualTo(ids.getLast());
    assertThat(second.at("/pagination/next").isNull()).isTrue();
    String old = view.replace("pid", "pagid");
    assertThat(graph.get("/nodes?type=command&start=" + next + old).required("nodes")).hasSize(1);
    assertThat(graph.get("/nodes?start=&type=nothing").has("pagination")).isTrue();
    assertThat(graph.refused(400, "GET", "/nodes?start=" + next, "")).contains("pid");
    assertThat(graph.refused(400, "GET", "/nodes?pid=x", "")).contains("start");
    assertThat(graph.refused(409, "GET", "/nodes?start=" + next + "&pid=gone", "")).isNotEmpty();
  }

  @Test
  void a_list_has_the_version_of_the_graph_by_which_it_is_changed() throws Exception {
    String id = gate();
    while (!graph.state(id).equals("running")) {
      LockSupport.parkNanos(5_000_000);
      graph.get("/nodes?timeout=0");
    }
    HttpResponse<String> list = graph.server().get("/v1/nodes?state=failed");
    assertThat(Graphs.json(list.body())).isEmpty();
    String tag = list.headers().firstValue("ETag").orElseThrow();
    String more = "[{'metadata': {'type': 'group', 'parent': '" + id + "'}}]";

    graph.answer(201, "POST", "/nodes", more, "If-Match", tag);
    assertThat(graph.refused(412, "POST", "/nodes", more, "If-Match", tag))
        .startsWith("the graph has version ");
    graph.refused(400, "POST", "/nodes", more, "If-Match", "W/x");
    String kill = "/scheduler/kill?id=" + id;
    assertThat(graph.refused(412, "PUT", kill, "", "If-Match", "\"1\"")).contains("node " + id);
    assertThat(graph.refused(400, "PUT", kill + "," + id + "2", "", "If-Match", tag))
        .contains("If-Match");
    assertThat(graph.state(id)).isEqualTo("running");
  }

  @Test
  void a_script_that_the_system_would_not_take_is_refused() throws Exception {
    String script = ":" + " ".repeat(131_071);
    assertThat(
            graph.refused(
                400,
                "POST",
                "/nodes",
                "[{'metadata': {'type': 'shell command'}, 'data': {'command': '" + script + "'}}]"))
        .startsWith("new node 1: command has 131,072 bytes");
    assertThat(graph.settled(graph.script("root", script.substring(1)))).isEqualTo("finished");
  }

  @Test
  void a_graph_waits_for_its_time_and_says_so() throws Exception {
    String nodes =
        "[{'metadata': {'type': 'command', 'local': 'a'}, 'data': {'command': 'true'}},"
            + " {'metadata': {'type': 'command', 'parent': 'local:a'}, 'data': {'command':"
            + " 'true'}}]";
    JsonNode later = graph.answer(201, "POST", "/nodes?at=2130-01-31T08:00:00Z", nodes);
    String root = later.at("/0/id").asString();
    assertThat(later.at("/0/state").asString()).isEqualTo("ready");
    assertThat(graph.get("/nodes/" + root).path("notBefore").asLong())
        .isEqualTo(Instant.parse("2130-01-31T08:00:00Z").toEpochMilli());
    assertThat(graph.get("/nodes/" + root + "/data/at").at("/data").asString())
        .isEqualTo("2130-01-31T08:00:00Z");
    assertThat(graph.server().get("/why/" + root).body())
        .contains("it is to start at 2130-01-31T08:00:00Z or later");
    assertThat(graph.server().get("/why/" + later.at("/1/id").asString()).body())
        .contains("nodes above it have not ended: " + root);
    graph.answer(200, "PUT", "/nodes/" + root + "/data/at", "{'value': null}");
    assertThat(graph.settled(later.at("/1/id").asString())).isEqualTo("finished");

    String past = graph.answer(201, "POST", "/nodes?at=1000", nodes).at("/1/id").asString();
    assertThat(graph.settled(past)).isEqualTo("finished");
    String soon = graph.answer(201, "POST", "/nodes?delay=10ms", nodes).at("/1/id").asString();
    assertThat(graph.settled(soon)).isEqualTo("finished");
    assertThat(graph.refused(400, "POST", "/nodes?at=noon", nodes)).contains("at must be a date");
    assertThat(graph.refused(400, "POST", "/nodes?delay=x", nodes)).contains("delay must be");
    assertThat(graph.refused(400, "POST", "/nodes?delay=1h&at=1000", nodes))
        .contains("at cannot be combined with delay");
    String wrong = nodes.replace("'command': 'true'", "'command': 'true', 'at': 'noon'");
    assertThat(graph.refused(400, "POST", "/nodes?delay=1h", wrong)).startsWith("new node 1: at");
  }

  @Test
  void a_question_for_newer_nodes_waits_for_the_first() throws Exception {
    String last = gate();
    assertThat(graph.get("/nodes?timeout=0&new=" + last)).isEqualTo(Graphs.json("[]"));
    CompletableFuture<JsonNode> newer =
        CompletableFuture.supplyAsync(() -> {
          try {
            return graph.get("/nodes?type=command&new=" + last);
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        });
    awaitArrival();
    graph.script(last, "true");
    assertThat(newer).isNotDone();
    String wanted = graph.add("command", last, "{'command': 'true'}");
    JsonNode found = newer.get(30, TimeUnit.SECONDS);
    assertThat(found).hasSize(1);
    assertThat(found.at("/0/id").asString()).isEqualTo(wanted);
  }

  @Test
  void a_wait_tells_all_states_once_all_have_ended() throws Exception {
    String first = gate();
    String second = graph.script(first, "exit 1");
    String third = graph.script(second, "true");
    String all = "id=" + String.join(",", first, second, third);
    assertThat(graph.get("/scheduler/wait?timeout=0&" + all).required(third).asString())
        .isEqualTo("incipient");
    open();
    assertThat(graph.get("/scheduler/wait?until=settled&" + all))
        .isEqualTo(
            Graphs.json(
                "{'%s':'finished','%s':'failed','%s':'blocked'}".formatted(first, second, third)));
    assertThat(graph.get("/nodes/" + third).required("reason").asString())
        .isEqualTo("node " + second + " failed");
    assertThat(graph.refused(404, "GET", "/scheduler/wait?id=1,999999", "")).contains("999999");
    assertThat(graph.refused(404, "GET", "/scheduler/wait?id=x", "")).contains("x");
    graph.refused(400, "GET", "/scheduler/wait", "");
    assertThat(graph.get("/scheduler/wait?timeout=0.01&id=" + third).required(third).asString())
        .isEqualTo("blocked");
    assertThat(graph.refused(400, "GET", "/scheduler/wait?timeout=-0.1&id=" + third, ""))
        .startsWith("the parameter timeout must be seconds from 0 to 31536000");
    graph.refused(400, "GET", "/scheduler/wait?until=noon&id=" + first, "");
  }

  @Test
  void a_node_that_is_removed_while_it_is_waited_for_is_gone() throws Exception {
    String above = gate();
    int status = 404;
    // A request that has arrived may look for the node only when that is gone already.
    for (int i = 0; i < 20 && status == 404; i++) {
      String waiting = graph.script(above, "true");
      CompletableFuture<HttpResponse<String>> wait =
          CompletableFuture.supplyAsync(() -> {
            try {
              return graph.send("GET", "/scheduler/wait?id=" + waiting, "");
            } catch (Exception e) {
              throw new AssertionError(e);
            }
          });
      awaitArrival();
      assertThat(wait).isNotDone();
      graph.answer(200, "DELETE", "/nodes/" + waiting, "");
      status = wait.get(30, TimeUnit.SECONDS).statusCode();
    }
    assertThat(status).isEqualTo(410);
  }

  /** Waits until a request is under way beside the one that looks for it. */
  private void awaitArrival() throws Exception {
    String figures = "";
    while (!UNDER_WAY.matcher(figures).find()) {
      LockSupport.parkNanos(5_000_000);
      figures = graph.server().get("/metrics").body();
    }
  }

  @Test
  void a_kill_ends_what_runs_and_what_waits() throws Exception {
    String running =
        graph.script(
            "root", "trap 'echo bye; exit 3' INT; echo ready; while :; do sleep 0.1; done");
    String waiting = graph.script(running, "true");
    while (!graph.data(running, "stdout").asString().contains("ready")) {
      graph.get("/scheduler/wait?timeout=1&id=" + running);
    }
    assertThat(graph.get("/running?metadata=").get(0).required("id").asString()).isEqualTo(running);
    JsonNode told =
        graph.answer(
            202, "PUT", "/scheduler/kill?signal=sigint&grace=30&id=" + running + "," + waiting, "");
    assertThat(told.required(waiting).asString()).isEqualTo("killed");
    assertThat(graph.settled(running)).isEqualTo("killed");
    assertThat(graph.data(running, "stdout").asString()).isEqualTo("ready\nbye\n");
    assertThat(graph.refused(404, "PUT", "/scheduler/kill?id=77", "")).contains("77");
    assertThat(graph.refused(400, "PUT", "/scheduler/kill?id=1&signal=BOO", "")).contains("BOO");
    assertThat(graph.refused(400, "PUT", "/scheduler/kill?id=1&grace=-1", "")).contains("grace");
    graph.refused(400, "PUT", "/scheduler/kill", "");
  }

  @Test
  void a_failed_node_is_tried_again_and_lets_others_go_on() throws Exception {
    Path file = folder.resolve("there");
    String first = graph.script("root", "test -e " + file);
    String second = graph.script(first, "true");
    assertThat(graph.settled(second)).isEqualTo("blocked");
    Files.createFile(file);
    assertThat(graph.answer(200, "POST", "/nodes/" + first + "/retry", "").has("id")).isTrue();
    assertThat(graph.get("/scheduler/wait?id=" + second).required(second).asString())
        .isEqualTo("finished");
    assertThat(graph.get("/nodes/" + first).required("attempt").intValue()).isEqualTo(2);
    assertThat(graph.refused(409, "POST", "/nodes/" + first + "/retry", "")).contains("finished");
  }

  @Test
  void a_change_at_a_version_that_is_gone_is_refused() throws Exception {
    String above = gate();
    String node = graph.script(above, "true");
    String path = "/nodes/" + node;
    String tag = graph.send("GET", path, "").headers().firstValue("ETag").orElseThrow();
    JsonNode renamed = graph.answer(200, "PATCH", path, "{'name': 'new'}", "If-Match", tag);
    assertThat(renamed.required("name").asString()).isEqualTo("new");
    assertThat(graph.refused(412, "PATCH", path, "{'name': 'old'}", "If-Match", tag))
        .contains("version");
    graph.refused(412, "DELETE", path, "", "If-Match", tag);
    graph.refused(412, "PUT", path + "/data/x", "{'value': 1}", "If-Match", tag);
    graph.refused(400, "DELETE", path, "", "If-Match", "W/\"1\"");
    String other = graph.script("root", "true");
    JsonNode moved =
        graph.answer(
            200, "PATCH", path, "{'parents': ['%s', '%s'], 'name': null}".formatted(above, other));
    assertThat(moved.required("parents")).hasSize(2);
    assertThat(moved.has("name")).isFalse();
    assertThat(graph.refused(400, "PATCH", path, "{'parent': '" + node + "'}")).contains(node);
    assertThat(graph.refused(400, "PATCH", path, "{'state': 'ready'}")).contains("state");
    assertThat(graph.refused(409, "DELETE", "/nodes/" + above, "")).contains(above);
    graph.answer(202, "PUT", "/scheduler/kill?id=" + above, "");
    graph.settled(above);
    assertThat(graph.answer(200, "DELETE", "/nodes/" + above + "?below=true", ""))
        .isEqualTo(Graphs.json("{'removed': 1}"));
    assertThat(graph.get(path).required("parents")).isEqualTo(Graphs.json("['" + other + "']"));
    assertThat(graph.settled(node)).isEqualTo("finished");
    assertThat(graph.answer(200, "DELETE", "/nodes/" + other + "?below=true", ""))
        .isEqualTo(Graphs.json("{'removed': 2}"));
    assertThat(graph.refused(404, "GET", path, "")).contains(node);
    graph.refused(400, "DELETE", path + "?below=maybe", "");
    assertThat(graph.refused(404, "GET", "/nodes/0x1", "")).contains("0x1");
  }

  @Test
  void nodes_that_make_no_sense_are_refused_as_a_whole() throws Exception {
    graph.refused(400, "POST", "/nodes", "{'metadata': {'type': 'command'}}");
    graph.refused(400, "POST", "/nodes", "");
    String good = "{'metadata': {'type': 'shell command'}, 'data': {'command': 'true'}}";
    for (String bad :
        List.of(
            "7",
            "{}",
            "{'metadata': {}}",
            "{'metadata': {'type': 'dream'}}",
            "{'metadata': {'type': 'command', 'id': '7'}}",
            "{'metadata': {'type': 'command', 'parent': '9', 'parents': []}}",
            "{'metadata': {'type': 'command', 'parent': '9'}, 'data': {'command': 'true'}}",
            "{'metadata': {'type': 'command', 'after': 'x'}}",
            "{'metadata': {'type': 'command', 'branch': 'maybe'}}",
            "{'metadata': {'type': 'command', 'always': 1}}",
            "{'metadata': {'type': 'command'}, 'data': {'command': 7}}",
            "{'metadata': {'type': 'command'}, 'data': []}",
            "{'metadata': {'type': 'command'}, 'data': {'command': 'true', 'stdout': ''}}",
            "{'metadata': {'type': 'command'}, 'data': {'command': '\\ud800'}}")) {
      graph.refused(400, "POST", "/nodes", "[" + good + "," + bad + "]");
    }
    assertThat(graph.refused(400, "POST", "/nodes", "[" + good + ",{'metadata':{}}]"))
        .isEqualTo("new node 2: the metadata has no type");
    assertThat(graph.get("/nodes")).isEmpty();
    assertThat(graph.answer(201, "POST", "/nodes", "[]")).isEmpty();
  }
}
