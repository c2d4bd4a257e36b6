package io.millrace.server.graph;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.Request;
import io.millrace.http.message.HttpProblem;
import io.millrace.server.security.Principals;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which nodes a caller reaches. A running command reads all of them and changes those below its
 * own. A principal with a limited reach sees and changes the nodes that its reach names and those
 * below them; the others are as if they were not there.
 */
final class GraphReach {
  private final GraphRegistry graph;

  /** The nodes that the reach of a principal names; null if it has no limit. */
  private final @Nullable Set<NodeId> tops;

  private final Request request;

  private GraphReach(GraphRegistry graph, @Nullable Set<NodeId> tops, Request request) {
    this.graph = graph;
    this.tops = tops;
    this.request = request;
  }

  static GraphReach of(Request request, GraphRegistry graph) {
    return new GraphReach(graph, tops(request), request);
  }

  private static @Nullable Set<NodeId> tops(Request request) {
    return request.caller().reach() instanceof Principals.Limited(var reach)
            && !reach.graph().contains("")
        ? reach.graph().stream()
            .flatMap(text -> NodeId.parse(text).stream())
            .collect(Collectors.toUnmodifiableSet())
        : null;
  }

  /** For whom the graph decides what may be changed. */
  static Caller caller(Request request) {
    if (request.caller().reach() instanceof GraphTokens.Subtree(Caller.RunningNode node)) {
      return node;
    }
    Set<NodeId> tops = tops(request);
    return tops == null ? Caller.ANYONE : new Caller.Subtrees(tops);
  }

  /** Whether all nodes are in reach, also new ones directly below the root. */
  boolean isUnlimited() {
    return tops == null;
  }

  /** Whether a node is in reach: one of the tops, or below one. */
  boolean includes(NodeId id) {
    if (tops == null) {
      return true;
    }
    Set<NodeId> seen = new HashSet<>();
    Deque<NodeId> left = new ArrayDeque<>(List.of(id));
    for (NodeId next = left.poll(); next != null; next = left.poll()) {
      if (tops.contains(next)) {
        return true;
      }
      if (seen.add(next)) {
        graph.node(next).ifPresent(node -> left.addAll(node.definition().parents()));
      }
    }
    return false;
  }

  /** The node of this id, if there is one in reach. */
  Optional<GraphNode> find(NodeId id) {
    return graph.node(id).filter(node -> includes(node.id()));
  }

  /** Those of these nodes that are in reach. */
  List<GraphNode> within(List<GraphNode> nodes) {
    return tops == null ? nodes : nodes.stream().filter(node -> includes(node.id())).toList();
  }

  /**
   * The nodes of a list or a stream of changes: all below one node. A principal whose reach names
   * one node need not say which.
   *
   * @throws HttpProblem 403 if the filter does not keep to the reach
   */
  NodeFilter within(NodeFilter filter) {
    if (tops == null) {
      return filter;
    }
    NodeId below = filter.below();
    if (below == null && tops.size() == 1) {
      return new NodeFilter(
          filter.types(), filter.states(), tops.iterator().next(), filter.newerThan());
    }
    if (below == null) {
      throw new HttpProblem(
          403,
          "the reach of "
              + request.caller().principal()
              + " is limited: name one of its nodes by the parameter below");
    }
    if (!includes(below)) {
      throw HttpProblem.notFound("there is no node " + below);
    }
    return filter;
  }

  /**
   * Checks the types of nodes that are to be added: what a node submits to queues or to the job
   * server is decided when it runs, so a caller whose reach of these is limited may not add such.
   *
   * @throws HttpProblem 403 if the caller may not add one of them
   */
  void checkTypes(List<NewNode> nodes) {
    unreachable(nodes)
        .ifPresent(node -> {
          throw new HttpProblem(
              403,
              "nodes of type %s need a reach without limit of %s, which %s does not have"
                  .formatted(
                      node.type(),
                      node.type().equals("job") ? "job types" : "queues",
                      request.caller().principal()));
        });
  }

  /** The first of these nodes that the caller may not add because of its type. */
  Optional<NewNode> unreachable(List<NewNode> nodes) {
    return nodes.stream()
        .filter(node ->
            switch (node.type()) {
              case "queue task" -> !request.caller().reach().includes(Area.QUEUES, "");
              case "job" -> !request.caller().reach().includes(Area.TYPES, "");
              default -> false;
            })
        .findFirst();
  }
}
