package io.millrace.cli.graph.view;

import io.millrace.cli.terminal.Table;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Writes graphs as text for Graphviz and Mermaid, with the states as colours. */
public final class Diagram {
  private Diagram() {}

  /** An arrow to a node from one that it waits for; the label is the branch of a condition. */
  private record Edge(long from, long to, boolean after, String label) {}

  /** Writes the DOT language of Graphviz. */
  public static void writeDot(Collection<NodeView> nodes, PrintStream out) {
    out.println("digraph millrace {");
    out.println("  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];");
    for (NodeView node : nodes) {
      out.printf(
          "  n%d [label=\"%s\\n%s\", fillcolor=\"%s\", color=\"%s\", tooltip=\"%s\"];%n",
          node.id(),
          dotText(node.id() + " " + node.title()),
          node.state().word(),
          node.state().fill(),
          node.state().line(),
          dotText(node.type() + (node.reason().isEmpty() ? "" : ": " + node.reason())));
    }
    for (Edge edge : edges(nodes)) {
      String style = edge.after ? " [style=dashed]" : "";
      String label = edge.label.isEmpty() ? style : " [label=\"" + dotText(edge.label) + "\"]";
      out.printf("  n%d -> n%d%s;%n", edge.from, edge.to, label);
    }
    out.println("}");
  }

  private static String dotText(String text) {
    return Table.printable(text).replace("\\", "\\\\").replace("\"", "\\\"");
  }

  /** Writes a flowchart of Mermaid, which many web pages and editors draw. */
  public static void writeMermaid(Collection<NodeView> nodes, PrintStream out) {
    out.println("flowchart TD");
    for (NodeView node : nodes) {
      out.printf(
          "  n%d(\"%s<br/>%s\"):::%s%n",
          node.id(),
          mermaidText(node.id() + " " + node.title()),
          node.state().word(),
          node.state().word());
    }
    for (Edge edge : edges(nodes)) {
      String label = edge.label.isEmpty() ? "" : "|\"" + mermaidText(edge.label) + "\"|";
      out.printf("  n%d %s%s n%d%n", edge.from, edge.after ? "-.->" : "-->", label, edge.to);
    }
    nodes.stream()
        .map(NodeView::state)
        .distinct()
        .sorted()
        .forEach(state ->
            out.printf(
                "  classDef %s fill:%s,stroke:%s%n", state.word(), state.fill(), state.line()));
  }

  /**
   * Text between quotes, with special characters as Mermaid's entities, for example {@code #35;}.
   */
  private static String mermaidText(String text) {
    StringBuilder escaped = new StringBuilder(text.length());
    for (char c : Table.printable(text).toCharArray()) {
      switch (c) {
        case '#', '"', '<', '>', '&', '`', '\\' -> escaped.append('#').append((int) c).append(';');
        default -> escaped.append(c);
      }
    }
    return escaped.toString();
  }

  /** The arrows between the given nodes. */
  private static List<Edge> edges(Collection<NodeView> nodes) {
    Set<Long> there = nodes.stream().map(NodeView::id).collect(Collectors.toSet());
    List<Edge> edges = new ArrayList<>();
    for (NodeView node : nodes) {
      for (long parent : node.place().parents()) {
        if (there.contains(parent)) {
          edges.add(new Edge(parent, node.id(), false, node.place().branch()));
        }
      }
      for (long before : node.place().after()) {
        if (there.contains(before)) {
          edges.add(new Edge(before, node.id(), true, ""));
        }
      }
    }
    return edges;
  }
}
