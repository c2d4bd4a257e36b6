package io.millrace.cli.graph.picture;

import io.millrace.cli.graph.view.NodeView;
import io.millrace.cli.graph.view.State;
import java.io.PrintStream;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** Draws graphs as SVG, with their states as colours. */
public final class Svg {
  /** The most nodes of a picture; more take minutes to lay out, and nobody sees anything on it. */
  public static final int MOST_NODES = 2_000;

  private static final double HEIGHT = 40;
  private static final double CHARACTER = 7.5;
  private static final double LEAST_WIDTH = 80;
  private static final int LONGEST_TITLE = 40;

  private final PrintStream out;

  private Svg(PrintStream out) {
    this.out = out;
  }

  /** Draws them. */
  public static void write(Collection<NodeView> nodes, PrintStream out) {
    List<Edges.Edge> edges = Edges.of(nodes);
    Map<Long, Double> widths = new LinkedHashMap<>();
    nodes.forEach(node -> widths.put(node.id(), width(node)));
    Layout layout = Layout.of(widths, HEIGHT, edges);
    Svg svg = new Svg(out);
    svg.begin(layout);
    for (int i = 0; i < edges.size(); i++) {
      svg.edge(edges.get(i), layout.lines().get(i));
    }
    nodes.forEach(node -> svg.node(node, Objects.requireNonNull(layout.boxes().get(node.id()))));
    out.println("</svg>");
  }

  private static double width(NodeView node) {
    String title = title(node);
    return Math.max(LEAST_WIDTH, (title.codePointCount(0, title.length()) + 4) * CHARACTER);
  }

  private void begin(Layout layout) {
    double width = Math.max(1, layout.width());
    double height = Math.max(1, layout.height());
    out.printf(
        Locale.ROOT,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\""
            + " viewBox=\"0 0 %.1f %.1f\" font-family=\"sans-serif\" font-size=\"12\">%n",
        width,
        height,
        width,
        height);
    out.println("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>");
    out.println(
        "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\""
            + " markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/>"
            + "</marker></defs>");
  }

  private void edge(Edges.Edge edge, List<Layout.Point> line) {
    String points =
        line.stream()
            .map(point -> String.format(Locale.ROOT, "%.1f,%.1f", point.x(), point.y()))
            .collect(Collectors.joining(" "));
    out.printf(
        "<polyline points=\"%s\" fill=\"none\" stroke=\"#555\" marker-end=\"url(#arrow)\"%s/>%n",
        points, edge.after() ? " stroke-dasharray=\"5 4\"" : "");
    if (!edge.label().isEmpty() && line.size() > 1) {
      // Beside the arrow, on the side that the line does not come from.
      Layout.Point end = line.getLast();
      boolean left = end.x() < line.get(line.size() - 2).x();
      out.printf(
          Locale.ROOT,
          "<text x=\"%.1f\" y=\"%.1f\" fill=\"#555\" font-size=\"10\""
              + " text-anchor=\"%s\">%s</text>%n",
          left ? end.x() - 4 : end.x() + 4,
          end.y() - 8,
          left ? "end" : "start",
          escaped(edge.label()));
    }
  }

  private void node(NodeView node, Layout.Box box) {
    State state = node.state();
    String tip = node.type() + ", " + state.word();
    out.printf(
        "<g class=\"%s\"><title>%s</title>%n",
        state.word(), escaped(node.reason().isEmpty() ? tip : tip + ": " + node.reason()));
    out.printf(
        Locale.ROOT,
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"6\" fill=\"%s\""
            + " stroke=\"%s\" stroke-width=\"1.5\"/>%n",
        box.x(),
        box.y(),
        box.width(),
        box.height(),
        state.fill(),
        state.line());
    double middle = box.x() + box.width() / 2;
    text(middle, box.y() + 17, "#222", title(node));
    text(middle, box.y() + 32, state.line(), state.mark() + " " + state.word());
    out.println("</g>");
  }

  private void text(double x, double y, String colour, String text) {
    out.printf(
        Locale.ROOT,
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"%s\">%s</text>%n",
        x,
        y,
        colour,
        escaped(text));
  }

  private static String title(NodeView node) {
    String title = node.id() + " " + node.title();
    int length = title.codePointCount(0, title.length());
    return length <= LONGEST_TITLE
        ? title
        : title.substring(0, title.offsetByCodePoints(0, LONGEST_TITLE)) + "…";
  }

  /** Text of XML; what XML cannot hold at all becomes a question mark. */
  private static String escaped(String text) {
    StringBuilder escaped = new StringBuilder(text.length());
    text.codePoints()
        .forEach(point -> {
          switch (point) {
            case '<' -> escaped.append("&lt;");
            case '>' -> escaped.append("&gt;");
            case '&' -> escaped.append("&amp;");
            case '"' -> escaped.append("&quot;");
            default -> escaped.appendCodePoint(isAllowed(point) ? point : '?');
          }
        });
    return escaped.toString();
  }

  private static boolean isAllowed(int point) {
    return point >= ' '
        && !(point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE)
        && point != 0xFFFE
        && point != 0xFFFF;
  }
}
