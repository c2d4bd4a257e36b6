package io.millrace.graph;

import static io.millrace.graph.GraphForms.form;
import static io.millrace.graph.GraphForms.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphException.StaleViewException;
import io.millrace.graph.GraphException.UnknownKeyException;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphException.VersionException;
import io.millrace.graph.GraphRegistry.DataPage;
import io.millrace.graph.GraphRegistry.DataWrite;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/** What every registry of graphs does with the data of nodes. */
public abstract class GraphDataContract {
  private GraphAccess graph;
  private NodeId node;

  /** An empty graph, which may use a folder. */
  protected abstract GraphAccess open(Path folder);

  @BeforeEach
  void begin(@TempDir Path folder) {
    graph = open(folder);
    node = graph.addOne(with(form("command"), Map.of("command", StringNode.valueOf("echo"))));
  }

  @AfterEach
  void end() {
    graph.close();
  }

  private DataPage read(String key) {
    return graph.registry().data(node, key, null, 0);
  }

  private DataPage put(String key, DataWrite write) {
    return graph.registry().put(Caller.ANYONE, node, key, write, null);
  }

  private DataPage put(String key, String text) {
    return put(key, new DataWrite.Whole(StringNode.valueOf(text)));
  }

  private static int next(DataPage page) {
    return Objects.requireNonNull(page.next());
  }

  private String whole(String key) {
    StringBuilder text = new StringBuilder();
    DataPage page = read(key);
    text.append(page.data().asString());
    while (page.next() != null) {
      page = graph.registry().data(node, key, page.view(), page.next());
      text.append(page.data().asString());
    }
    return text.toString();
  }

  @Test
  void outputs_are_there_from_the_start_and_empty() {
    assertThat(graph.registry().keys(node, null).items())
        .containsExactly("command", "result", "stdout");
    assertThat(read("stdout").data()).isEqualTo(StringNode.valueOf(""));
    assertThatThrownBy(() -> read("other")).isInstanceOf(UnknownKeyException.class);
    assertThatThrownBy(() -> graph.registry().data(new NodeId(99), "other", null, 0))
        .isInstanceOf(UnknownNodeException.class);
  }

  @Test
  void what_a_type_reads_changes_only_while_the_node_waits() {
    put("command", "date");
    assertThat(graph.start(node).getFirst().inputs())
        .isEqualTo(Map.of("command", StringNode.valueOf("date")));

    assertThatThrownBy(() -> put("command", "id"))
        .isInstanceOf(NodeStateException.class)
        .hasMessageContaining("changes only while the node waits; it is running");
    put("note", "while it runs");
    graph.end(node, new Outcome.Failed("it broke"));
    assertThatThrownBy(() -> put("command", "id")).isInstanceOf(NodeStateException.class);
    put("note", "after it");
    var _ = graph.registry().retry(Caller.ANYONE, node, null);
    put("command", "id");

    assertThat(read("command").data()).isEqualTo(StringNode.valueOf("id"));
    assertThat(read("note").data()).isEqualTo(StringNode.valueOf("after it"));
  }

  @Test
  void what_a_node_writes_itself_nobody_else_does() {
    assertThatThrownBy(() -> put("stdout", "x"))
        .isInstanceOf(NodeStateException.class)
        .hasMessageContaining("written by the node itself");
  }

  @Test
  void what_a_type_cannot_do_with_is_refused() {
    assertThatThrownBy(
            () -> put("command", new DataWrite.Whole(JsonNodeFactory.instance.objectNode())))
        .isInstanceOf(InvalidGraphException.class)
        .hasMessage("\"command\" is a text");
    assertThatThrownBy(() -> put("-", "x")).isInstanceOf(InvalidGraphException.class);
    assertThat(read("command").data()).isEqualTo(StringNode.valueOf("echo"));
  }

  @Test
  void values_that_are_no_texts_come_back_as_they_were() {
    ObjectNode small =
        JsonNodeFactory.instance.objectNode().put("a", 1).put("b", true).putNull("c");
    ArrayNode large = JsonNodeFactory.instance.objectNode().putArray("large");
    for (int i = 0; i < 20_000; i++) {
      large.add(i);
    }
    for (JsonNode value : new JsonNode[] {small, large}) {
      DataPage written = put("note", new DataWrite.Whole(value));
      assertThat(written.next()).isNull();
      assertThat(read("note").data()).isEqualTo(value);
    }
    assertThatThrownBy(
            () -> put("note", new DataWrite.Slot(StringNode.valueOf("x"), read("note").view(), 0)))
        .isInstanceOf(InvalidGraphException.class)
        .hasMessageContaining("is no text");
  }

  @Test
  void a_value_is_set_only_where_nothing_is_and_then_page_by_page() {
    DataPage first = put("note", new DataWrite.IfUnset(StringNode.valueOf("")));
    assertThat(first.next()).isZero();
    assertThatThrownBy(() -> put("note", new DataWrite.IfUnset(StringNode.valueOf("y"))))
        .isInstanceOf(NodeStateException.class);
    var _ = put("nothing", new DataWrite.Whole(NullNode.getInstance()));
    assertThat(put("nothing", new DataWrite.IfUnset(JsonNodeFactory.instance.objectNode())).next())
        .isNull();

    DataPage one = put("note", new DataWrite.Slot(StringNode.valueOf("one "), first.view(), 0));
    DataPage two =
        put("note", new DataWrite.Slot(StringNode.valueOf("two"), one.view(), next(one)));

    assertThat(two.slot()).isEqualTo(1);
    assertThat(whole("note")).isEqualTo("one two");
    assertThatThrownBy(
            () -> put("note", new DataWrite.Slot(StringNode.valueOf("z"), first.view(), 1)))
        .isInstanceOf(StaleViewException.class);
    assertThatThrownBy(
            () -> put("note", new DataWrite.Slot(StringNode.valueOf("z"), two.view(), 3)))
        .isInstanceOf(InvalidGraphException.class)
        .hasMessageContaining("write 0 to 2");
    String large = "x".repeat((256 << 10) + 1);
    assertThatThrownBy(
            () -> put("note", new DataWrite.Slot(StringNode.valueOf(large), two.view(), 2)))
        .isInstanceOf(InvalidGraphException.class);
    assertThatThrownBy(() -> put("no", new DataWrite.Slot(StringNode.valueOf("z"), two.view(), 0)))
        .isInstanceOf(UnknownKeyException.class);
  }

  @Test
  void a_long_text_is_read_in_pages_that_do_not_cut_characters() {
    String text = "äöü€😀x".repeat(60_000);
    DataPage first = put("note", text);

    assertThat(first.data().asString().getBytes(StandardCharsets.UTF_8))
        .hasSizeBetween((256 << 10) - 3, 256 << 10);
    assertThat(whole("note")).isEqualTo(text);
    DataPage page = read("note");
    DataPage grown =
        put("note", new DataWrite.Slot(StringNode.valueOf("end"), page.view(), next(first)));
    assertThat(grown.view()).isEqualTo(page.view());
    assertThat(whole("note")).isEqualTo(text + "end");
    put("note", "other");
    assertThatThrownBy(() -> graph.registry().data(node, "note", page.view(), 1))
        .isInstanceOf(StaleViewException.class);
  }

  @Test
  void a_change_of_data_is_one_of_the_node() {
    long seen = graph.node(node).version();
    put("note", "x");
    assertThat(graph.node(node).version()).isGreaterThan(seen);
    assertThatThrownBy(() ->
            graph
                .registry()
                .put(
                    Caller.ANYONE,
                    node,
                    "note",
                    new DataWrite.Whole(StringNode.valueOf("y")),
                    seen))
        .isInstanceOf(VersionException.class);
  }
}
