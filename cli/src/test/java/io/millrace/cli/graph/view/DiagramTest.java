package io.millrace.cli.graph.view;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

class DiagramTest {
  private static NodeView node(long id, String name, State state, NodeView.Place place) {
    return new NodeView(id, name, "command", place, state, "why <&>", 1, 0, 0, 0, false);
  }

  private static NodeView.Place place(List<Long> parents, List<Long> after, String branch) {
    return new NodeView.Place(parents, after, branch, false);
  }

  private static List<NodeView> graph() {
    return List.of(
        node(1, "a <b> & \"c\" \u0001\ud800", State.FINISHED, place(List.of(), List.of(), "")),
        node(2, "", State.RUNNING, place(List.of(1L), List.of(), "then")),
        node(3, "x".repeat(100), State.FAILED, place(List.of(1L), List.of(), "")),
        node(4, "join\\", State.BLOCKED, place(List.of(2L, 3L, 99L), List.of(1L), "")));
  }

  private static String written(BiConsumer<List<NodeView>, PrintStream> writer, List<NodeView> of) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (PrintStream out = new PrintStream(bytes, false, StandardCharsets.UTF_8)) {
      writer.accept(of, out);
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void dot_names_every_node_and_edge() {
    assertThat(written(Diagram::writeDot, graph()))
        .startsWith("digraph millrace {\n")
        .contains("n1 [label=\"1 a <b> & \\\"c\\\" ·")
        .contains("n2 [label=\"2 [command]\\nrunning\", fillcolor=\"#bbdefb\"")
        .contains("n4 [label=\"4 join\\\\\\nblocked\"")
        .contains("  n1 -> n2 [label=\"then\"];\n", "  n2 -> n4;\n", "  n1 -> n4 [style=dashed];\n")
        .doesNotContain("n99")
        .endsWith("}\n");
  }

  @Test
  void mermaid_names_every_node_and_edge_in_the_colour_of_its_state() {
    assertThat(written(Diagram::writeMermaid, graph()))
        .startsWith("flowchart TD\n")
        .contains("  n1(\"1 a #60;b#62; #38; #34;c#34; ·")
        .contains("  n2(\"2 [command]<br/>running\"):::running\n")
        .contains("  n4(\"4 join#92;<br/>blocked\"):::blocked\n")
        .contains("  n1 -->|\"then\"| n2\n", "  n2 --> n4\n", "  n1 -.-> n4\n")
        .contains("  classDef failed fill:#ffcdd2,stroke:#c62828\n")
        .doesNotContain("n99");
  }

  @Test
  void a_graph_without_nodes_can_be_written_too() {
    assertThat(written(Diagram::writeDot, List.of())).startsWith("digraph").endsWith("}\n");
    assertThat(written(Diagram::writeMermaid, List.of())).isEqualTo("flowchart TD\n");
  }
}
