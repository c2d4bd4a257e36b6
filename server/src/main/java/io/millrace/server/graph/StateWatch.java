package io.millrace.server.graph;

import io.millrace.graph.GraphEvent;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.UnknownNodeException;
import io.millrace.server.http.HttpProblem;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import tools.jackson.databind.node.ObjectNode;

/** Waits until nodes have all come to an end. For use by one thread. */
final class StateWatch implements Waiting.Condition {
  private final GraphRegistry graph;
  private final Predicate<NodeState> isEnd;
  private final Map<NodeId, NodeState> states = new LinkedHashMap<>();
  private int pending;

  /**
   * Has not looked yet.
   *
   * @param isEnd which states count as an end
   */
  StateWatch(GraphRegistry graph, Collection<NodeId> ids, Predicate<NodeState> isEnd) {
    this.graph = graph;
    this.isEnd = isEnd;
    ids.forEach(id -> states.put(id, NodeState.INCIPIENT));
  }

  /** Throws {@link UnknownNodeException} where one is not there. */
  @Override
  public boolean look() {
    states.replaceAll((id, _) ->
        graph.node(id).map(GraphNode::state).orElseThrow(() -> new UnknownNodeException(id)));
    pending = (int) states.values().stream().filter(isEnd.negate()).count();
    return pending == 0;
  }

  /** Throws a {@link HttpProblem}, 410, where one was removed. */
  @Override
  public boolean see(GraphEvent event) {
    for (GraphNode node : event.changed()) {
      NodeState before = states.get(node.id());
      if (before != null) {
        pending += (isEnd.test(before) ? 1 : 0) - (isEnd.test(node.state()) ? 1 : 0);
        states.put(node.id(), node.state());
      }
    }
    for (GraphNode node : event.removed()) {
      if (states.containsKey(node.id())) {
        throw new HttpProblem(410, "node " + node.id() + " was removed while it was waited for");
      }
    }
    return pending == 0;
  }

  /** The state of each as it was last known. */
  ObjectNode shape() {
    ObjectNode json = Json.object();
    states.forEach((id, state) -> json.put(id.toString(), state.word()));
    return json;
  }
}
