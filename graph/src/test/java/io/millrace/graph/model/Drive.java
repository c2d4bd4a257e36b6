package io.millrace.graph.model;

import io.millrace.graph.Definition.Branch;
import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphForms;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.NewNode;
import io.millrace.graph.NewNode.NodeRef;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Outcome;
import io.millrace.graph.Phase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A graph with its rules, and a clock that goes on with each step. */
final class Drive {
  final Graph graph = new Graph();
  final Rules rules = new Rules(graph);
  private long nowMillis = 1_000;
  private long nextId = 1;

  /** Adds nodes and gives their ids. */
  List<NodeId> add(NewNode... nodes) {
    List<Change.Added> changes = rules.add(List.of(nodes), Kind::valueOf, nextId, now());
    nextId += nodes.length;
    take(changes);
    return changes.stream().map(Change::id).toList();
  }

  NodeId addOne(NewNode node) {
    return add(node).getFirst();
  }

  NodeId work(NodeId... parents) {
    return addOne(node(Kind.WORK, parents));
  }

  NodeId condition(NodeId... parents) {
    return addOne(node(Kind.CONDITION, parents));
  }

  NodeId group(NodeId... parents) {
    return addOne(node(Kind.GROUP, parents));
  }

  NodeId after(NodeId... nodes) {
    return addOne(node(Kind.WORK, GraphForms.after(nodes)));
  }

  NodeId branch(Branch branch, NodeId condition) {
    return addOne(node(Kind.WORK, GraphForms.on(branch, condition)));
  }

  NodeId always(NodeId... parents) {
    return addOne(node(null, Kind.WORK, GraphForms.below(parents), true));
  }

  static NewNode node(Kind kind, NodeId... parents) {
    return node(kind, GraphForms.below(parents));
  }

  static NewNode node(Kind kind, NewNode.Place place) {
    return node(null, kind, place, false);
  }

  /** Here each kind is a type of its name. */
  static NewNode node(@Nullable String local, Kind kind, NewNode.Place place, boolean always) {
    return new NewNode(local, null, kind.name(), place, always, Map.of());
  }

  void start(NodeId id) {
    take(rules.start(id, now()));
  }

  void end(NodeId id, Outcome outcome) {
    int attempt = graph.node(id).orElseThrow().phase().attempt();
    take(rules.end(id, attempt, outcome, null, now()));
  }

  void finish(NodeId id) {
    start(id);
    end(id, new Outcome.Finished(null));
  }

  void choose(NodeId condition, Branch branch) {
    start(condition);
    end(condition, new Outcome.Finished(branch));
  }

  void fail(NodeId id) {
    start(id);
    end(id, new Outcome.Failed("exit code 1"));
  }

  void kill(NodeId... ids) {
    take(rules.kill(List.of(ids), now()));
  }

  void retry(NodeId id) {
    take(rules.retry(id));
  }

  void move(NodeId id, List<NodeRef> parents, List<NodeRef> after) {
    take(rules.move(id, new NewNode.Place(parents, after, null)));
  }

  void remove(NodeId id, Removal removal) {
    take(rules.remove(id, removal));
  }

  long now() {
    return ++nowMillis;
  }

  /** Applies changes with all that follows, and gives every node that was touched. */
  List<GraphNode> take(List<? extends Change> changes) {
    List<GraphNode> touched = new ArrayList<>(graph.apply(changes));
    for (List<Change> more = graph.consequences(now());
        !more.isEmpty();
        more = graph.consequences(now())) {
      touched.addAll(graph.apply(more));
    }
    return touched;
  }

  NodeState state(NodeId id) {
    return graph.node(id).orElseThrow().state();
  }

  Phase phase(NodeId id) {
    return graph.node(id).orElseThrow().phase();
  }

  <T> Map<NodeId, T> all(Function<GraphNode, T> look) {
    TreeMap<NodeId, T> all = new TreeMap<>();
    graph.nodesAfter(0).forEach(node -> all.put(node.id(), look.apply(node)));
    return all;
  }
}
