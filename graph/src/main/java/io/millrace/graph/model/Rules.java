package io.millrace.graph.model;

import io.millrace.graph.Definition;
import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.NewNode;
import io.millrace.graph.NewNode.NodeRef;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeLimits;
import io.millrace.graph.NodeState;
import io.millrace.graph.Outcome;
import io.millrace.graph.Phase;
import io.millrace.graph.Timing;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which changes to a graph are allowed. Each method checks a request and returns the changes to
 * apply; it changes nothing itself. All times are in milliseconds since 1970.
 */
public final class Rules {
  private final Graph graph;

  /** The rules for this graph. */
  public Rules(Graph graph) {
    this.graph = graph;
  }

  /** What the types say about new nodes, by the data of these. */
  @FunctionalInterface
  public interface Settings {
    /** The kind of a type. */
    Kind kind(String type);

    /** When a node may start, and how long it may wait and take. */
    default Timing timing(NewNode node) {
      return Timing.NONE;
    }

    /** The limits under which a node starts. */
    default NodeLimits limits(NewNode node) {
      return NodeLimits.NONE;
    }
  }

  /**
   * Adds nodes, with growing ids from {@code firstId} in the order given.
   *
   * @throws InvalidGraphException if a name is unknown or given twice, a branch has no condition,
   *     or a node would wait for itself
   * @throws NodeStateException if a parent is a group that has ended
   */
  public List<Change.Added> add(
      List<NewNode> nodes, Settings settings, long firstId, long nowMillis) {
    List<Change.Added> added = new ArrayList<>(nodes.size());
    new EdgeRules(graph, firstId)
        .of(nodes, settings)
        .forEach((id, definition) -> {
          String name = nodes.get(added.size()).name();
          added.add(new Change.Added(id, definition, Phase.first(), name, nowMillis));
        });
    return added;
  }

  /**
   * Moves a waiting node.
   *
   * @throws UnknownNodeException if there is no such node
   * @throws InvalidGraphException as {@link #add}
   * @throws NodeStateException if it has started or ended, or a new parent is a group that has
   *     ended
   */
  public List<Change> move(NodeId id, NewNode.Place place) {
    Vertex vertex = known(id);
    if (!(vertex.phase instanceof Phase.Waiting)) {
      throw new NodeStateException("node " + id + " is " + vertex.state.word() + " and stays");
    }
    SequencedSet<Vertex> dependents = Graph.reach(List.of(vertex), it -> it.dependents);
    Definition definition = new EdgeRules(graph).of(vertex, dependents, place);
    return List.of(new Change.Moved(id, definition));
  }

  /**
   * Starts a ready node.
   *
   * @throws UnknownNodeException if there is no such node
   * @throws NodeStateException if it is not ready, is a group, may not start yet, or has waited too
   *     long
   */
  public List<Change> start(NodeId id, long nowMillis) {
    Vertex vertex = known(id);
    if (vertex.state == NodeState.READY
        && !vertex.isGroup()
        && vertex.phase instanceof Phase.Waiting waiting
        && waiting.notBeforeMillis() <= nowMillis
        && vertex.definition.timing().expiryMillis(waiting) > nowMillis) {
      Phase running =
          new Phase.Running(waiting.attempts().next(), nowMillis, false, waiting.dueMillis());
      return List.of(new Change.Progressed(id, running));
    }
    throw new NodeStateException("node " + id + " is " + vertex.state.word() + ", not due");
  }

  /**
   * Fails a ready node that has waited too long.
   *
   * @throws UnknownNodeException if there is no such node
   * @throws NodeStateException if it has not
   */
  public List<Change> expire(NodeId id, long nowMillis) {
    Vertex vertex = known(id);
    Timing timing = vertex.definition.timing();
    if (vertex.state == NodeState.READY
        && vertex.phase instanceof Phase.Waiting waiting
        && timing.expiryMillis(waiting) <= nowMillis) {
      String reason = timing.expiryReason(waiting);
      return List.of(
          new Change.Progressed(
              id,
              new Phase.Ended(waiting.attempts(), NodeState.FAILED, reason, null, 0, nowMillis)));
    }
    throw new NodeStateException("node " + id + " has not waited too long");
  }

  /**
   * Gives a node another timing and other limits; those of a node that does not wait stay. If the
   * timing concerns more than how long the node stays, it counts from now if the node is ready.
   *
   * @throws UnknownNodeException if there is no such node
   * @throws NodeStateException if the timing concerns more than that, and the node does not wait
   */
  public List<Change> restrict(NodeId id, Timing timing, NodeLimits limits) {
    Vertex vertex = known(id);
    Definition old = vertex.definition;
    Phase.@Nullable Waiting waiting = vertex.phase instanceof Phase.Waiting phase ? phase : null;
    Change moved =
        new Change.Moved(id, old.starting(timing, waiting == null ? old.limits() : limits));
    if (timing.keeping(old.timing().keep()).equals(old.timing())) {
      return List.of(moved);
    }
    if (waiting == null) {
      throw new NodeStateException("node " + id + " is " + vertex.state.word());
    }
    return List.of(moved, new Change.Progressed(id, waiting.notReady()));
  }

  /**
   * Ends an attempt.
   *
   * @param attempt the attempt; nothing changes if the node has been started again since
   * @param log the end of what it wrote, for the history of the node; null for nothing
   * @throws UnknownNodeException if there is no such node
   * @throws NodeStateException if that attempt is not the running one
   */
  public List<Change> end(
      NodeId id, int attempt, Outcome outcome, @Nullable String log, long nowMillis) {
    Vertex vertex = known(id);
    if (vertex.isGroup()
        || !(vertex.phase instanceof Phase.Running running)
        || running.attempt() != attempt) {
      throw new NodeStateException("attempt " + attempt + " of node " + id + " does not run");
    }
    return List.of(new Change.Progressed(id, outcome.after(running, log, nowMillis)));
  }

  /**
   * Kills nodes: waiting nodes at once, running ones are marked, and with a group all nodes in it.
   * Nodes that have ended stay as they are.
   *
   * @throws UnknownNodeException if there is no such node
   */
  public List<Change> kill(Collection<NodeId> ids, long nowMillis) {
    List<Change> changes = new ArrayList<>();
    List<Vertex> named = ids.stream().map(this::known).toList();
    for (Vertex vertex : Graph.reach(named, it -> it.members)) {
      Phase next =
          switch (vertex.phase) {
            case Phase.Waiting waiting when vertex.state != NodeState.SKIPPED ->
                new Phase.Ended(
                    waiting.attempts(),
                    NodeState.KILLED,
                    "it was killed before it started",
                    null,
                    0,
                    nowMillis);
            case Phase.Running running when !running.killing() ->
                new Phase.Running(
                    running.attempts(), running.startedMillis(), true, running.dueMillis());
            default -> vertex.phase;
          };
      if (!next.equals(vertex.phase)) {
        changes.add(new Change.Progressed(vertex.id, next));
      }
    }
    return changes;
  }

  /**
   * The running nodes that are being killed, among these nodes and all nodes in groups among them;
   * no groups.
   *
   * @throws UnknownNodeException if there is no such node
   */
  public List<NodeId> killing(Collection<NodeId> ids) {
    return Graph.reach(ids.stream().map(this::known).toList(), it -> it.members).stream()
        .filter(it -> it.phase instanceof Phase.Running running && running.killing())
        .filter(it -> !it.isGroup())
        .map(it -> it.id)
        .toList();
  }

  /**
   * Retries a node that failed or was killed; of a group, all such nodes in it.
   *
   * @throws UnknownNodeException if there is no such node
   * @throws NodeStateException if it has neither failed nor been killed
   */
  public List<Change> retry(NodeId id) {
    Vertex named = known(id);
    if (!mayBeRetried(named)) {
      throw new NodeStateException(
          "node " + id + " is " + named.state.word() + ", neither failed nor killed");
    }
    List<Change> changes = new ArrayList<>();
    for (Vertex vertex : Graph.reach(List.of(named), it -> it.members)) {
      if (mayBeRetried(vertex)) {
        Phase again = new Phase.Waiting(vertex.phase.attempts(), 0, "");
        changes.add(new Change.Progressed(vertex.id, again));
      }
    }
    return changes;
  }

  /**
   * Removes a node. Nodes that stay and referred to it are moved, in whatever state they are.
   *
   * @throws UnknownNodeException if there is no such node
   * @throws NodeStateException if a removed node is running, or if one that stays would wait for
   *     itself or would lose what it waits for
   */
  public List<Change> remove(NodeId id, Removal removal) {
    return new Removals(graph).of(known(id), removal);
  }

  /**
   * Removes nodes that have ended and that no other node is connected with.
   *
   * @throws UnknownNodeException if one of them does not exist
   * @throws NodeStateException if one has not ended, or is connected with a node that is not among
   *     them
   */
  public List<Change> retire(List<NodeId> ids) {
    return new Removals(graph).ofWhole(ids.stream().map(this::known).toList());
  }

  private static boolean mayBeRetried(Vertex vertex) {
    return vertex.state == NodeState.FAILED || vertex.state == NodeState.KILLED;
  }

  private Vertex known(NodeId id) {
    Vertex vertex = graph.find(id);
    if (vertex == null) {
      throw new UnknownNodeException(id);
    }
    return vertex;
  }

  /** Checks whether nodes may have the places that are requested for them. */
  private static final class EdgeRules {
    private final Graph graph;

    /** The first id that is not given yet; new nodes are known by their place in the request. */
    private final long firstNew;

    /** Checks new nodes of a graph whose next node gets this id. */
    EdgeRules(Graph graph, long firstNew) {
      this.graph = graph;
      this.firstNew = firstNew;
    }

    /** Checks existing nodes. */
    EdgeRules(Graph graph) {
      this(graph, NodeId.MOST + 1);
    }

    private String label(NodeId id) {
      return id.value() < firstNew ? "node " + id : "new node " + (id.value() - firstNew + 1);
    }

    /**
     * The definitions of new nodes by their ids, which grow from the next id in the order given.
     *
     * @throws InvalidGraphException if they are invalid
     * @throws NodeStateException if a group accepts no more nodes
     */
    Map<NodeId, Definition> of(List<NewNode> nodes, Settings settings) {
      Map<String, NodeId> locals = new HashMap<>();
      long next = firstNew;
      for (NewNode node : nodes) {
        NodeId id = new NodeId(next++);
        if (node.local() != null && locals.putIfAbsent(node.local(), id) != null) {
          throw new InvalidGraphException("two nodes have the local name " + node.local());
        }
      }
      Map<NodeId, Definition> definitions = new LinkedHashMap<>();
      next = firstNew;
      for (NewNode node : nodes) {
        NewNode.Place place = node.place();
        NodeId id = new NodeId(next++);
        definitions.put(
            id,
            new Definition(
                node.type(),
                settings.kind(node.type()),
                resolve(id, place.parents(), locals),
                resolve(id, place.after(), locals),
                place.branch(),
                node.always(),
                settings.timing(node),
                settings.limits(node)));
      }
      check(new PlannedGraph(graph, definitions), definitions.keySet());
      return definitions;
    }

    /**
     * The definition of a node at another place.
     *
     * @param dependents the node, and all nodes that are below or after it, directly or not
     * @throws InvalidGraphException if that is invalid
     * @throws NodeStateException if a group accepts no more nodes
     */
    Definition of(Vertex vertex, Collection<Vertex> dependents, NewNode.Place place) {
      Definition old = vertex.definition;
      Definition definition =
          new Definition(
              old.type(),
              old.kind(),
              resolve(vertex.id, place.parents(), Map.of()),
              resolve(vertex.id, place.after(), Map.of()),
              place.branch(),
              old.always(),
              old.timing(),
              old.limits());
      Map<NodeId, Definition> planned = new LinkedHashMap<>();
      dependents.forEach(it -> planned.put(it.id, it.definition));
      planned.put(vertex.id, definition);
      check(new PlannedGraph(graph, planned), Set.of(vertex.id));
      return definition;
    }

    private List<NodeId> resolve(NodeId of, List<NodeRef> refs, Map<String, NodeId> locals) {
      SequencedSet<NodeId> ids = new LinkedHashSet<>();
      for (NodeRef ref : refs) {
        NodeId id =
            switch (ref) {
              case NodeRef.Existing(NodeId existing) when graph.find(existing) != null -> existing;
              case NodeRef.Local(String name) when locals.containsKey(name) -> locals.get(name);
              default -> throw new InvalidGraphException(label(of) + ": there is no node " + ref);
            };
        if (!ids.add(id)) {
          throw new InvalidGraphException(label(of) + ": node " + ref + " is named twice");
        }
      }
      return List.copyOf(ids);
    }

    private void check(PlannedGraph plan, Set<NodeId> changed) {
      plan.inCircle()
          .ifPresent(id -> {
            throw new InvalidGraphException(label(id) + " would be below or after itself");
          });
      for (NodeId id : changed) {
        checkParents(id, plan);
      }
      plan.cycle()
          .ifPresent(circle -> {
            throw new InvalidGraphException(
                "nodes would wait for themselves: "
                    + String.join(" < ", circle.stream().map(this::label).toList()));
          });
    }

    private void checkParents(NodeId id, PlannedGraph plan) {
      Definition definition = plan.definition(id);
      boolean chosen = false;
      for (NodeId parent : definition.parents()) {
        chosen |= plan.definition(parent).kind() == Kind.CONDITION;
        Vertex there = graph.find(parent);
        if (there != null && there.isGroup()) {
          checkOpen(there);
        }
      }
      // A node below one in a group belongs to the group: in a finished one it would be held back.
      NodeId group = plan.group(id);
      Vertex around = group == null ? null : graph.find(group);
      if (around != null) {
        checkOpen(around);
      }
      if (definition.branch() != null && !chosen) {
        throw new InvalidGraphException(label(id) + " has a branch and no condition above it");
      }
    }

    private static void checkOpen(Vertex group) {
      switch (group.phase) {
        case Phase.Ended _ -> throw new NodeStateException("group " + group.id + " has ended");
        case Phase.Running running when running.killing() ->
            throw new NodeStateException("group " + group.id + " is being killed");
        default -> {}
      }
    }
  }
}
