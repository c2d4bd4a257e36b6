package io.millrace.graph;

import io.millrace.blobs.Tail;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * An empty graph with the types of {@link TestType#ALL}, whose nodes nobody starts but the test.
 * The registry may be that of another process.
 */
public interface GraphAccess extends AutoCloseable {
  /** The graph as its users see it. */
  GraphRegistry registry();

  /** The graph as its scheduler sees it. */
  GraphWork work();

  @Override
  void close();

  /** Adds nodes in one request, and gives their ids. */
  default List<NodeId> add(NewNode... forms) {
    return registry().add(Caller.ANYONE, Arrays.asList(forms)).stream().map(GraphNode::id).toList();
  }

  /** Adds a node. */
  default NodeId addOne(NewNode form) {
    return add(form).getFirst();
  }

  /** Adds a node of a type. */
  default NodeId addOne(String type, NodeId... parents) {
    return addOne(GraphForms.form(type, parents));
  }

  /** A node that is there. */
  default GraphNode node(NodeId id) {
    return registry().node(id).orElseThrow();
  }

  /** Where a node stands. */
  default NodeState state(NodeId id) {
    return node(id).state();
  }

  /** Starts nodes. */
  default List<GraphWork.Item> start(NodeId... ids) {
    return work().start(List.of(ids));
  }

  /** Ends what runs of a node. */
  default void end(NodeId id, Outcome outcome) {
    end(id, outcome, Map.of(), Map.of());
  }

  /** Ends what runs of a node, with output. */
  default void end(
      NodeId id, Outcome outcome, Map<String, JsonNode> values, Map<String, Tail> recordings) {
    int attempt = node(id).phase().attempt();
    work().end(List.of(new GraphWork.Ended(id, attempt, outcome, values, recordings)));
  }

  /** Starts a node and ends it well. */
  default void finish(NodeId id) {
    var _ = start(id);
    end(id, new Outcome.Finished(null));
  }

  /** Starts a node and ends it badly. */
  default void fail(NodeId id) {
    var _ = start(id);
    end(id, new Outcome.Failed("it broke"));
  }
}
