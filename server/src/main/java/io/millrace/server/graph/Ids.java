package io.millrace.server.graph;

import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.NodeId;
import io.millrace.http.Request;
import io.millrace.http.message.HttpProblem;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/** The nodes that a request names. */
final class Ids {
  private Ids() {}

  /**
   * The id in the path.
   *
   * @throws HttpProblem 404 where no node can have it
   */
  static NodeId of(Request request) {
    String text = request.parameter("id");
    return NodeId.parse(text).orElseThrow(() -> HttpProblem.notFound("there is no node " + text));
  }

  /** The node in the path; 404 where it is not there. */
  static GraphNode node(Request request, GraphRegistry graph) {
    NodeId id = of(request);
    return graph.node(id).orElseThrow(() -> new UnknownNodeException(id));
  }

  /**
   * The nodes of the parameter {@code id}, a list with commas, each once.
   *
   * @throws HttpProblem 400 where it is absent or empty, 404 for an id that no node can have
   */
  static List<NodeId> ofList(Request request) {
    LinkedHashSet<NodeId> ids = new LinkedHashSet<>();
    for (String text : String.join(",", request.query().texts("id")).split(",", -1)) {
      if (!text.isBlank()) {
        ids.add(
            NodeId.parse(text.strip())
                .orElseThrow(() -> HttpProblem.notFound("there is no node " + text)));
      }
    }
    if (ids.isEmpty()) {
      throw HttpProblem.malformed("the parameter id must name nodes, as in id=1,2");
    }
    return new ArrayList<>(ids);
  }
}
