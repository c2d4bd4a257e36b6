package io.millrace.cli.graph.picture;

import io.millrace.cli.graph.view.NodeView;
import io.millrace.cli.terminal.Table;
import java.io.PrintStream;
import java.util.Collection;

/** Writes graphs in the language of Graphviz. */
public final class Dot {
  private Dot() {}

  /** Writes them, with their states as colours. */
  public static void write(Collection<NodeView> nodes, PrintStream out) {
    out.println("digraph millrace {");
    out.println("  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];");
    for (NodeView node : nodes) {
      out.printf(
          "  n%d [label=\"%s\\n%s\", fillcolor=\"%s\", color=\"%s\", tooltip=\"%s\"];%n",
          node.id(),
          quoted(node.id() + " " + node.title()),
          node.state().word(),
          node.state().fill(),
          node.state().line(),
          quoted(node.type() + (node.reason().isEmpty() ? "" : ": " + node.reason())));
    }
    for (Edges.Edge edge : Edges.of(nodes)) {
      String style = edge.after() ? " [style=dashed]" : "";
      String label = edge.label().isEmpty() ? style : " [label=\"" + quoted(edge.label()) + "\"]";
      out.printf("  n%d -> n%d%s;%n", edge.from(), edge.to(), label);
    }
    out.println("}");
  }

  private static String quoted(String text) {
    return Table.printable(text).replace("\\", "\\\\").replace("\"", "\\\"");
  }
}
