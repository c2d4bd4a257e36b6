package io.millrace.graph.model;

import io.millrace.graph.Definition;
import io.millrace.graph.GraphNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * All nodes of a graph with their states. Applies facts, and derives what follows from them: the
 * work for a change is in proportion to the number of nodes whose state changes. Checks nothing;
 * {@link Rules} says what is allowed. For one thread at a time.
 */
public final class Graph {
  private final TreeMap<NodeId, Vertex> vertices = new TreeMap<>();

  /** Nodes whose state is to be derived again. */
  private final ArrayDeque<Vertex> stale = new ArrayDeque<>();

  private final Set<Vertex> queued = new HashSet<>();

  /**
   * Groups that have to start, to end, or to go on, and nodes with a timing that may have become
   * ready.
   */
  private final SequencedSet<Vertex> due = new LinkedHashSet<>();

  private SequencedSet<Vertex> touched = new LinkedHashSet<>();
  private long version;

  /** An empty graph, of version 0. */
  public Graph() {
    this(0);
  }

  /** An empty graph of this version, from 0. */
  public Graph(long version) {
    this.version = version;
  }

  /** Grows with each change. */
  public long version() {
    return version;
  }

  /** How many nodes there are. */
  public int size() {
    return vertices.size();
  }

  /** The node of this id; empty if there is none. */
  public Optional<GraphNode> node(NodeId id) {
    return Optional.ofNullable(vertices.get(id)).map(Vertex::snapshot);
  }

  /** The nodes with greater ids, as they are now, in the order of their ids. */
  public List<GraphNode> nodesAfter(long id) {
    NavigableMap<NodeId, Vertex> tail = id < 1 ? vertices : vertices.tailMap(new NodeId(id), false);
    return tail.values().stream().map(Vertex::snapshot).toList();
  }

  /**
   * Applies facts that become true together.
   *
   * @return the nodes that changed or whose state changed, as they are now, in the order of these
   *     changes, without removed nodes
   */
  public List<GraphNode> apply(List<? extends Change> changes) {
    version++;
    touched = new LinkedHashSet<>();
    List<Vertex> added = new ArrayList<>();
    for (Change change : changes) {
      if (change instanceof Change.Added news) {
        Vertex vertex = new Vertex(news);
        vertices.put(vertex.id, vertex);
        added.add(vertex);
      }
    }
    added.forEach(this::link);
    sorted(added, it -> it.parents).forEach(this::enterGroup);
    for (Change change : changes) {
      switch (change) {
        case Change.Added _ -> {}
        case Change.Moved(NodeId id, Definition definition) -> move(vertex(id), definition);
        case Change.Progressed(NodeId id, Phase phase) -> progress(vertex(id), phase);
        case Change.Renamed(NodeId id, String name) -> rename(vertex(id), name);
        case Change.Touched(NodeId id) -> touched.add(vertex(id));
        case Change.Removed(NodeId id) -> remove(vertex(id));
      }
    }
    added.forEach(this::look);
    settle();
    touched.removeIf(vertex -> !vertices.containsKey(vertex.id));
    touched.forEach(vertex -> vertex.version = version);
    return touched.stream().map(Vertex::snapshot).toList();
  }

  /**
   * The facts that follow: a group starts when it may, and ends when all nodes in it have settled;
   * and of a node with a timing that has become ready it is recorded when it is due. Applying them
   * may have further consequences.
   *
   * @param nowMillis the time of the change
   */
  public List<Change> consequences(long nowMillis) {
    List<Change> changes = new ArrayList<>();
    for (Vertex vertex : due) {
      Phase next =
          vertex.isGroup() ? Groups.next(vertex, nowMillis) : nextOfTimed(vertex, nowMillis);
      // A node of a group may be removed after it.
      if (next != null && vertex.equals(vertices.get(vertex.id))) {
        changes.add(new Change.Progressed(vertex.id, next));
      }
    }
    due.clear();
    return changes;
  }

  /** The next phase of a node with a timing; null if it does not change. */
  private static @Nullable Phase nextOfTimed(Vertex vertex, long nowMillis) {
    if (!(vertex.phase instanceof Phase.Waiting waiting)) {
      return null;
    }
    boolean recorded = waiting.dueMillis() > 0;
    if (vertex.state == NodeState.READY) {
      return recorded ? null : vertex.definition.timing().ready(waiting, nowMillis);
    }
    return recorded ? waiting.notReady() : null;
  }

  /** Gives a node the version with which it was shown. */
  public void restoreVersion(NodeId id, long nodeVersion) {
    vertex(id).version = nodeVersion;
  }

  Vertex vertex(NodeId id) {
    return Objects.requireNonNull(vertices.get(id), () -> "there is no node " + id);
  }

  @Nullable Vertex find(NodeId id) {
    return vertices.get(id);
  }

  /**
   * These vertices and all that can be reached from them, each once and after one that leads to it.
   */
  static SequencedSet<Vertex> reach(List<Vertex> from, Function<Vertex, Collection<Vertex>> step) {
    SequencedSet<Vertex> reached = new LinkedHashSet<>(from);
    List<Vertex> left = new ArrayList<>(from);
    while (!left.isEmpty()) {
      for (Vertex next : step.apply(left.removeLast())) {
        if (reached.add(next)) {
          left.add(next);
        }
      }
    }
    return reached;
  }

  /**
   * These in topological order: each after those above it, and otherwise in the order given. Those
   * on a circle or below one are left out.
   *
   * @param above those directly above one; those that are not among {@code all} are ignored
   */
  static <T> List<T> sorted(Collection<T> all, Function<T, Collection<T>> above) {
    Set<T> known = new HashSet<>(all);
    Map<T, Integer> waitingFor = new HashMap<>();
    Map<T, List<T>> below = new HashMap<>();
    List<T> order = new ArrayList<>(all.size());
    for (T each : all) {
      Set<T> needed = new HashSet<>(above.apply(each));
      needed.retainAll(known);
      needed.forEach(it -> below.computeIfAbsent(it, _ -> new ArrayList<>()).add(each));
      waitingFor.put(each, needed.size());
      if (needed.isEmpty()) {
        order.add(each);
      }
    }
    for (int i = 0; i < order.size(); i++) {
      for (T next : below.getOrDefault(order.get(i), List.of())) {
        if (waitingFor.merge(next, -1, Integer::sum) == 0) {
          order.add(next);
        }
      }
    }
    return order;
  }

  private void link(Vertex vertex) {
    vertex.parents = vertex.definition.parents().stream().map(this::vertex).toList();
    vertex.after = vertex.definition.after().stream().map(this::vertex).toList();
    above(vertex).forEach(it -> it.dependents.add(vertex));
  }

  private void unlink(Vertex vertex) {
    above(vertex).forEach(it -> it.dependents.remove(vertex));
  }

  private static Set<Vertex> above(Vertex vertex) {
    Set<Vertex> above = new LinkedHashSet<>(vertex.parents);
    above.addAll(vertex.after);
    return above;
  }

  private void enterGroup(Vertex vertex) {
    vertex.group = Groups.innermost(vertex.parents, Vertex::groupOfChildren, it -> it.group);
    Groups.enter(vertex, due);
  }

  /** Puts a node that was moved, and the nodes below it, into the groups to which they belong. */
  private void place(Vertex first) {
    SequencedSet<Vertex> left = new LinkedHashSet<>(List.of(first));
    while (!left.isEmpty()) {
      Vertex vertex = left.removeFirst();
      Groups.leave(vertex, due);
      enterGroup(vertex);
      vertex.dependents.stream().filter(it -> it.parents.contains(vertex)).forEach(left::addLast);
    }
  }

  private void move(Vertex vertex, Definition definition) {
    unlink(vertex);
    vertex.definition = definition;
    link(vertex);
    place(vertex);
    touched.add(vertex);
    look(vertex);
  }

  private void rename(Vertex vertex, @Nullable String name) {
    vertex.name = name;
    touched.add(vertex);
  }

  private void progress(Vertex vertex, Phase phase) {
    vertex.phase = phase;
    touched.add(vertex);
    // The branch that was taken matters below even if the state stays the same.
    vertex.dependents.forEach(this::look);
    look(vertex);
  }

  private void remove(Vertex vertex) {
    unlink(vertex);
    Groups.leave(vertex, due);
    vertices.remove(vertex.id);
    due.remove(vertex);
  }

  private void look(Vertex vertex) {
    if (queued.add(vertex)) {
      stale.add(vertex);
    }
  }

  private void settle() {
    for (Vertex vertex = stale.poll(); vertex != null; vertex = stale.poll()) {
      queued.remove(vertex);
      NodeState state = Readiness.of(vertex);
      if (vertex.isGroup() || !vertex.definition.timing().isNone()) {
        due.add(vertex);
      }
      if (state != vertex.state) {
        Groups.count(vertex, -1, due);
        vertex.state = state;
        Groups.count(vertex, 1, due);
        touched.add(vertex);
        vertex.dependents.forEach(this::look);
      } else if (vertex.version == 0) {
        touched.add(vertex);
      }
    }
  }
}
