package io.millrace.cli.graph.picture;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.graph.view.NodeView;
import io.millrace.cli.graph.view.State;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class PictureTest {
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

  private static Document parsed(String svg) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
  }

  private static List<Element> elements(Document document, String name) {
    NodeList found = document.getElementsByTagName(name);
    List<Element> elements = new ArrayList<>();
    for (int i = 0; i < found.getLength(); i++) {
      elements.add((Element) found.item(i));
    }
    return elements;
  }

  @Test
  void a_drawing_is_xml_with_a_box_in_the_colour_of_its_state_for_each_node() throws Exception {
    Document svg = parsed(written(Svg::write, graph()));
    List<Element> groups = elements(svg, "g");
    assertThat(groups)
        .extracting(group -> group.getAttribute("class"))
        .containsExactly("finished", "running", "failed", "blocked");
    assertThat(groups.get(2).getTextContent()).contains("why <&>", "3 xxxx", "…", "failed");
    List<Element> boxes = elements(svg, "rect");
    assertThat(boxes).hasSize(5);
    assertThat(boxes.get(3).getAttribute("fill")).isEqualTo(State.FAILED.fill());
    double width = Double.parseDouble(svg.getDocumentElement().getAttribute("width"));
    for (Element box : boxes.subList(1, 5)) {
      double right =
          Double.parseDouble(box.getAttribute("x")) + Double.parseDouble(box.getAttribute("width"));
      assertThat(right).isLessThanOrEqualTo(width + 1);
    }
    assertThat(elements(svg, "polyline")).hasSize(5);
    assertThat(elements(svg, "polyline"))
        .filteredOn(line -> line.hasAttribute("stroke-dasharray"))
        .hasSize(1);
    assertThat(elements(svg, "text")).extracting(Element::getTextContent).contains("then");
  }

  @Test
  void children_lie_below_their_parents_and_no_box_on_another() throws Exception {
    List<NodeView> nodes = new ArrayList<>();
    for (long i = 1; i <= 300; i++) {
      List<Long> parents = i == 1 ? List.of() : List.of(i / 2);
      nodes.add(node(i, "n" + i, State.READY, place(parents, List.of(), "")));
    }
    List<Element> boxes = elements(parsed(written(Svg::write, nodes)), "rect");
    for (int i = 1; i <= 300; i++) {
      double y = Double.parseDouble(boxes.get(i).getAttribute("y"));
      double above = Double.parseDouble(boxes.get(Math.max(1, i / 2)).getAttribute("y"));
      assertThat(i == 1 || y > above).isTrue();
    }
    assertThat(boxes.stream().map(box -> box.getAttribute("x") + "/" + box.getAttribute("y")))
        .doesNotHaveDuplicates();
  }

  @Test
  void nothing_is_drawn_too() throws Exception {
    assertThat(elements(parsed(written(Svg::write, List.of())), "g")).isEmpty();
  }

  @Test
  void a_description_names_every_node_and_edge() {
    assertThat(written(Dot::write, graph()))
        .startsWith("digraph millrace {\n")
        .contains("n1 [label=\"1 a <b> & \\\"c\\\" ·")
        .contains("n2 [label=\"2 [command]\\nrunning\", fillcolor=\"#bbdefb\"")
        .contains("n4 [label=\"4 join\\\\\\nblocked\"")
        .contains("  n1 -> n2 [label=\"then\"];\n", "  n2 -> n4;\n", "  n1 -> n4 [style=dashed];\n")
        .doesNotContain("n99")
        .endsWith("}\n");
  }
}
