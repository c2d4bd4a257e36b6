package io.millrace.server.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The data of nodes over HTTP. */
final class GraphDataApiTest {
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

  @Test
  void numbers_keep_all_their_digits() throws Exception {
    String at = "/nodes/" + graph.script("root", "true") + "/data/";
    String number = "[12345678901234567890123.10,0.1,1.50E-400,98765432109876543210]";
    graph.answer(200, "PUT", at + "number", "{'value': " + number + "}");
    assertThat(graph.send("GET", at + "number", "").body())
        .isEqualTo("{\"key\":\"number\",\"data\":" + number + "}");
    assertThat(graph.refused(400, "PUT", at + "number", "{'value': 1e400}")).contains("too large");
    assertThat(graph.refused(400, "PUT", at + "number", "{'value': 1" + "0".repeat(400) + "}"))
        .contains("too large");
  }

  @Test
  void data_is_put_whole_or_if_unset_or_page_by_page() throws Exception {
    String node = graph.script("root", "true");
    graph.settled(node);
    String at = "/nodes/" + node + "/data/";
    graph.refused(404, "GET", at + "note", "");
    JsonNode set = graph.answer(200, "PUT", at + "note?start=", "{'value': 'one'}");
    assertThat(set.required("key").asString()).isEqualTo("note");
    graph.refused(409, "PUT", at + "note?start=", "{'value': 'two'}");
    String page =
        "?start=%s&pagid=%s"
            .formatted(set.at("/pagination/next").asString(), set.at("/pagination/pid").asString());
    JsonNode replaced = graph.answer(200, "PUT", at + "note" + page, "{'value': 'three'}");
    assertThat(graph.data(node, "note").asString()).isEqualTo("three");
    graph.refused(409, "PUT", at + "note" + page.replace("pagid=", "pagid=x"), "{'value': 'no'}");
    String next =
        "?start=%s&pid=%s"
            .formatted(
                replaced.at("/pagination/next").asString(),
                replaced.at("/pagination/pid").asString());
    graph.answer(200, "PUT", at + "note" + next, "{'value': ' and four'}");
    String whole = "";
    JsonNode read = graph.get("/nodes/" + node + "/data/note");
    whole += read.required("data").asString();
    while (read.has("pagination") && !read.at("/pagination/next").isNull()) {
      read =
          graph.get(
              "/nodes/%s/data/note?start=%s&pid=%s"
                  .formatted(
                      node,
                      read.at("/pagination/next").asString(),
                      read.at("/pagination/pid").asString()));
      whole += read.required("data").asString();
    }
    assertThat(whole).isEqualTo("three and four");
    graph.answer(200, "PUT", at + "list", "{'value': [1, {'a': null}]}");
    assertThat(graph.data(node, "list")).isEqualTo(Graphs.json("[1, {'a': null}]"));
    assertThat(graph.refused(409, "PUT", at + "stdout", "{'value': 'x'}")).contains("stdout");
    assertThat(graph.refused(409, "PUT", at + "command", "{'value': 'x'}")).contains("command");
    graph.refused(400, "PUT", at + "note", "{}");
    graph.refused(400, "PUT", at + "note", "[]");
    graph.refused(400, "PUT", at + "note", "{'value': 1, 'more': 2}");
    graph.refused(400, "PUT", at + "note?start=1", "{'value': 1}");
    graph.refused(404, "PUT", "/nodes/99/data/note", "{'value': 1}");
  }

  @Test
  void long_output_comes_in_pages() throws Exception {
    String node = graph.script("root", "head -c 600000 /dev/zero | tr '\\0' x");
    assertThat(graph.settled(node)).isEqualTo("finished");
    JsonNode first = graph.get("/nodes/" + node + "/data/stdout");
    assertThat(first.required("data").asString()).hasSize(256 << 10);
    String pid = first.at("/pagination/pid").asString();
    JsonNode last = graph.get("/nodes/" + node + "/data/stdout?start=2&pid=" + pid);
    assertThat(last.required("data").asString()).hasSize(600_000 - (512 << 10));
    assertThat(last.at("/pagination/next").isNull()).isTrue();
    graph.refused(400, "GET", "/nodes/" + node + "/data/stdout?start=2", "");
    graph.refused(409, "GET", "/nodes/" + node + "/data/stdout?start=2&pid=x", "");
    graph.refused(400, "GET", "/nodes/" + node + "/data/stdout?start=-2&pid=" + pid, "");
  }
}
