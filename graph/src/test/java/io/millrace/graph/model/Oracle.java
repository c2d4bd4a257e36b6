package io.millrace.graph.model;

import io.millrace.graph.Definition;
import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The state of every node worked out from nothing but the facts, slowly and by recursion. */
public final class Oracle {
  private final Map<NodeId, GraphNode> nodes;
  private final Map<NodeId, NodeState> states = new TreeMap<>();
  private final Map<NodeId, Set<NodeId>> groups = new HashMap<>();

  /** Of the facts of this graph. */
  public Oracle(Graph graph) {
    nodes = new HashMap<>();
    graph.nodesAfter(0).forEach(node -> nodes.put(node.id(), node));
  }

  /** The state of every node. */
  public Map<NodeId, NodeState> states() {
    nodes.keySet().forEach(this::state);
    return new TreeMap<>(states);
  }

  Set<NodeId> ids() {
    return new TreeSet<>(nodes.keySet());
  }

  /** All nodes but one. */
  Set<NodeId> idsWithout(NodeId id) {
    Set<NodeId> left = ids();
    left.remove(id);
    return left;
  }

  /** All nodes to which a way leads from the root that does not pass that one. */
  Set<NodeId> idsWithoutBelow(NodeId id) {
    Set<NodeId> left = ids();
    left.removeIf(it -> !leadsFromRoot(it, id));
    return left;
  }

  private boolean leadsFromRoot(NodeId id, NodeId without) {
    List<NodeId> parents = node(id).definition().parents();
    return !id.equals(without)
        && (parents.isEmpty() || parents.stream().anyMatch(it -> leadsFromRoot(it, without)));
  }

  /** What a node names. */
  List<NodeId> named(NodeId id) {
    return node(id).definition().above().toList();
  }

  /** What it names of these. */
  List<NodeId> named(NodeId id, Set<NodeId> these) {
    return node(id).definition().above().filter(these::contains).toList();
  }

  /** What has to come before a node at whatever distance, but for groups. */
  Set<NodeId> workBefore(NodeId id) {
    Set<NodeId> all = new TreeSet<>();
    addBefore(id, all);
    all.removeIf(this::isGroup);
    return all;
  }

  /** The same without one of them. */
  Set<NodeId> workBefore(NodeId id, NodeId without) {
    Set<NodeId> all = workBefore(id);
    all.remove(without);
    return all;
  }

  private void addBefore(NodeId id, Set<NodeId> all) {
    node(id).definition().above().filter(all::add).forEach(it -> addBefore(it, all));
  }

  /** All groups that a node is in, however deep. */
  private Set<NodeId> groups(NodeId id) {
    Set<NodeId> known = groups.get(id);
    if (known == null) {
      known = around(id);
      groups.put(id, known);
    }
    return known;
  }

  private Set<NodeId> around(NodeId id) {
    TreeSet<NodeId> common = null;
    for (NodeId parent : node(id).definition().parents()) {
      TreeSet<NodeId> around = new TreeSet<>(groups(parent));
      if (isGroup(parent)) {
        around.add(parent);
      }
      if (common == null) {
        common = around;
      } else {
        common.retainAll(around);
      }
    }
    return common == null ? Set.of() : common;
  }

  /** Everything in a group, however deep. */
  List<NodeState> inside(NodeId group) {
    return nodes.keySet().stream()
        .filter(id -> groups(id).contains(group))
        .map(this::state)
        .toList();
  }

  private GraphNode node(NodeId id) {
    return Objects.requireNonNull(nodes.get(id));
  }

  private boolean isGroup(NodeId id) {
    return node(id).definition().kind() == Kind.GROUP;
  }

  private NodeState state(NodeId id) {
    NodeState known = states.get(id);
    if (known == null) {
      known = work(node(id));
      states.put(id, known);
    }
    return known;
  }

  private NodeState work(GraphNode node) {
    if (node.phase() instanceof Phase.Ended ended) {
      return ended.state();
    }
    if (node.phase() instanceof Phase.Running) {
      return NodeState.RUNNING;
    }
    List<Optional<NodeState>> edges = new ArrayList<>();
    boolean elsewhere = true;
    Definition definition = node.definition();
    for (NodeId parent : definition.parents()) {
      boolean started =
          node(parent).phase() instanceof Phase.Running
              || (node(parent).phase() instanceof Phase.Ended ended && ended.startedMillis() > 0);
      boolean untaken =
          definition.branch() != null
              && node(parent).phase() instanceof Phase.Ended ended
              && ended.state() == NodeState.FINISHED
              && ended.taken() != null
              && ended.taken() != definition.branch();
      elsewhere &= untaken;
      edges.add(
          isGroup(parent) && started
              ? Optional.empty()
              : Optional.of(untaken ? NodeState.SKIPPED : state(parent)));
    }
    for (NodeId before : definition.after()) {
      elsewhere = false;
      edges.add(Optional.of(state(before)));
    }
    if (edges.isEmpty()) {
      return NodeState.READY;
    }
    if (elsewhere) {
      return NodeState.SKIPPED;
    }
    List<NodeState> left = edges.stream().flatMap(Optional::stream).toList();
    boolean allSkipped =
        left.size() == edges.size() && left.stream().allMatch(it -> it == NodeState.SKIPPED);
    boolean waiting = left.stream().anyMatch(it -> !it.isSettled());
    if (definition.always()) {
      return waiting ? NodeState.INCIPIENT : NodeState.READY;
    }
    if (allSkipped) {
      return NodeState.SKIPPED;
    }
    if (left.stream().anyMatch(NodeState::holds)) {
      return NodeState.BLOCKED;
    }
    return waiting ? NodeState.INCIPIENT : NodeState.READY;
  }
}
