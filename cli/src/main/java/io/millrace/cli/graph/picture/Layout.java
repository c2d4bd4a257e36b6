package io.millrace.cli.graph.picture;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.eclipse.elk.alg.layered.options.LayeredMetaDataProvider;
import org.eclipse.elk.alg.layered.options.LayeredOptions;
import org.eclipse.elk.core.RecursiveGraphLayoutEngine;
import org.eclipse.elk.core.data.LayoutMetaDataService;
import org.eclipse.elk.core.options.CoreOptions;
import org.eclipse.elk.core.options.Direction;
import org.eclipse.elk.core.options.EdgeRouting;
import org.eclipse.elk.core.util.BasicProgressMonitor;
import org.eclipse.elk.graph.ElkBendPoint;
import org.eclipse.elk.graph.ElkEdge;
import org.eclipse.elk.graph.ElkEdgeSection;
import org.eclipse.elk.graph.ElkNode;
import org.eclipse.elk.graph.util.ElkGraphUtil;

/**
 * Where boxes and the lines between them lie, in layers from top to bottom, as ELK finds it.
 *
 * @param width of all
 * @param height of all
 * @param boxes by id
 * @param lines in the order of the edges
 */
record Layout(double width, double height, Map<Long, Box> boxes, List<List<Point>> lines) {
  /** Where a box is: its upper left corner and its size. */
  record Box(double x, double y, double width, double height) {}

  /** A point of a line. */
  record Point(double x, double y) {}

  /** Finds it for boxes of these widths. */
  static Layout of(Map<Long, Double> widths, double height, List<Edges.Edge> edges) {
    LayoutMetaDataService.getInstance()
        .registerLayoutMetaDataProviders(new LayeredMetaDataProvider());
    ElkNode root = ElkGraphUtil.createGraph();
    root.setProperty(CoreOptions.ALGORITHM, LayeredOptions.ALGORITHM_ID);
    root.setProperty(CoreOptions.DIRECTION, Direction.DOWN);
    root.setProperty(CoreOptions.EDGE_ROUTING, EdgeRouting.POLYLINE);
    Map<Long, ElkNode> nodes = new HashMap<>();
    widths.forEach((id, width) -> {
      ElkNode node = ElkGraphUtil.createNode(root);
      node.setDimensions(width, height);
      nodes.put(id, node);
    });
    List<ElkEdge> drawn = new ArrayList<>();
    for (Edges.Edge edge : edges) {
      drawn.add(
          ElkGraphUtil.createSimpleEdge(
              Objects.requireNonNull(nodes.get(edge.from())),
              Objects.requireNonNull(nodes.get(edge.to()))));
    }
    new RecursiveGraphLayoutEngine().layout(root, new BasicProgressMonitor());
    Map<Long, Box> boxes = new HashMap<>();
    nodes.forEach((id, node) ->
        boxes.put(id, new Box(node.getX(), node.getY(), node.getWidth(), node.getHeight())));
    return new Layout(
        root.getWidth(), root.getHeight(), boxes, drawn.stream().map(Layout::points).toList());
  }

  private static List<Point> points(ElkEdge edge) {
    List<Point> points = new ArrayList<>();
    for (ElkEdgeSection section : edge.getSections()) {
      points.add(new Point(section.getStartX(), section.getStartY()));
      for (ElkBendPoint bend : section.getBendPoints()) {
        points.add(new Point(bend.getX(), bend.getY()));
      }
      points.add(new Point(section.getEndX(), section.getEndY()));
    }
    return points;
  }
}
