package io.millrace.graph.store;

import io.millrace.graph.GraphChanges;
import io.millrace.graph.GraphChanges.GraphEvent;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphGroups;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.Kill;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.model.ReadyNodes;
import io.millrace.graph.model.Reasons;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The graph as all readers see it: everything in it is durable, and reading never waits for the
 * store. Safe for use by any number of threads.
 */
final class ReadModel {
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private final TreeMap<NodeId, GraphNode> nodes = new TreeMap<>();
  private final Map<NodeState, Long> counts = new EnumMap<>(NodeState.class);
  private final Map<NodeId, Kill> kills = new HashMap<>();
  private final TreeSet<NodeId> running = new TreeSet<>();
  private final ReadyNodes ready = new ReadyNodes();
  private @Nullable GroupCounts groups;
  private final History history = new History();
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private long version;

  /** Whether the graph has been replaced since {@link #limited} was called. */
  private boolean replaced = true;

  /** Replaces the graph by one that was loaded. */
  void replace(WriteModel loaded) {
    lock.writeLock().lock();
    try {
      nodes.clear();
      counts.clear();
      kills.clear();
      running.clear();
      ready.clear();
      loaded.nodes().forEach(node -> nodes.put(node.id(), node));
      loaded.nodes().forEach(node -> show(null, node, loaded));
      if (groups != null) {
        groups.forget();
      }
      replaced = true;
      version = loaded.version();
      history.restart(version);
    } finally {
      lock.writeLock().unlock();
    }
    listeners.forEach(Runnable::run);
  }

  /**
   * Adds changes that have become durable.
   *
   * @return the same events, with reasons
   */
  List<GraphEvent> publish(List<GraphEvent> events, WriteModel model) {
    List<GraphEvent> explained = new ArrayList<>(events.size());
    lock.writeLock().lock();
    try {
      for (GraphEvent event : events) {
        if (groups != null) {
          groups.leave(event.removed());
        }
        event.removed().forEach(this::hide);
        List<@Nullable GraphNode> before = new ArrayList<>(event.changed().size());
        event.changed().forEach(node -> before.add(nodes.put(node.id(), node)));
        for (int i = 0; i < before.size(); i++) {
          show(before.get(i), event.changed().get(i), model);
        }
        Reasons reasons = new Reasons(nodes::get);
        List<GraphNode> changed = event.changed().stream().map(reasons::explain).toList();
        explained.add(new GraphEvent(event.version(), changed, event.removed()));
        version = event.version();
      }
      history.add(explained);
    } finally {
      lock.writeLock().unlock();
    }
    if (!events.isEmpty()) {
      listeners.forEach(Runnable::run);
    }
    return explained;
  }

  /** Takes note of a node that is there; {@code before} is null if it is new. */
  private void show(@Nullable GraphNode before, GraphNode node, WriteModel model) {
    uncount(before);
    if (groups != null) {
      groups.changed(before, node);
    }
    counts.merge(node.state(), 1L, Long::sum);
    ready.note(node, model.nowMillis());
    if (node.state() == NodeState.RUNNING) {
      running.add(node.id());
    } else {
      running.remove(node.id());
    }
    Kill kill = model.kills().get(node.id());
    if (kill == null) {
      kills.remove(node.id());
    } else {
      kills.put(node.id(), kill);
    }
  }

  private void uncount(@Nullable GraphNode before) {
    if (before != null) {
      counts.merge(before.state(), -1L, Long::sum);
    }
  }

  private void hide(GraphNode node) {
    uncount(nodes.remove(node.id()));
    ready.remove(node.id());
    running.remove(node.id());
    kills.remove(node.id());
  }

  private <T> T read(Supplier<T> look) {
    lock.readLock().lock();
    try {
      return look.get();
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * Looks at all nodes as they are at one moment; changes wait for that.
   *
   * @param look gets the nodes, without reasons, and must not keep the map
   */
  <T> T look(Function<NavigableMap<NodeId, GraphNode>, T> look) {
    return read(() -> look.apply(Collections.unmodifiableNavigableMap(nodes)));
  }

  private List<GraphNode> explain(Collection<GraphNode> some) {
    Reasons reasons = new Reasons(nodes::get);
    return some.stream().map(reasons::explain).toList();
  }

  /** All nodes as they are stored. */
  List<StoredNode> stored() {
    return read(() ->
        nodes.values().stream().map(node -> StoredNode.of(node, kills.get(node.id()))).toList());
  }

  long version() {
    return read(() -> version);
  }

  /** The version of a node; that of the graph if the node does not exist. */
  long version(NodeId id) {
    return read(() -> {
      GraphNode node = nodes.get(id);
      return node == null ? version : node.version();
    });
  }

  Optional<GraphNode> find(NodeId id) {
    return read(() -> Optional.ofNullable(nodes.get(id)).map(new Reasons(nodes::get)::explain));
  }

  /** A node; throws {@link UnknownNodeException} if it does not exist. */
  GraphNode node(NodeId id) {
    return find(id).orElseThrow(() -> new UnknownNodeException(id));
  }

  /** All nodes that match, and the version of the graph. */
  GraphRegistry.Snapshot snapshot(NodeFilter filter) {
    return read(() -> new GraphRegistry.Snapshot(version, explain(wanted(filter))));
  }

  /** The nodes that match, as they are now. */
  Listing listing(NodeFilter filter) {
    return read(() -> new Listing(wanted(filter), new ArrayList<>(nodes.values()), version));
  }

  private List<GraphNode> wanted(NodeFilter filter) {
    NodeId below = filter.below();
    if (below != null && !nodes.containsKey(below)) {
      throw new UnknownNodeException(below);
    }
    return candidates(filter).stream()
        .filter(
            node -> filter.types().isEmpty() || filter.types().contains(node.definition().type()))
        .filter(node -> filter.states().isEmpty() || filter.states().contains(node.state()))
        .toList();
  }

  private Collection<GraphNode> candidates(NodeFilter filter) {
    if (filter.newerThan() >= NodeId.MOST) {
      return List.of();
    }
    NodeId from = new NodeId(Math.max(0, filter.newerThan()) + 1);
    NodeId top = filter.below();
    return top == null
        ? nodes.tailMap(from, true).values()
        : below(top).tailSet(from, true).stream().map(nodes::get).toList();
  }

  private NavigableSet<NodeId> below(NodeId top) {
    Map<NodeId, List<NodeId>> children = new HashMap<>();
    for (GraphNode node : nodes.values()) {
      for (NodeId parent : node.definition().parents()) {
        children.computeIfAbsent(parent, _ -> new ArrayList<>()).add(node.id());
      }
    }
    TreeSet<NodeId> found = new TreeSet<>(List.of(top));
    Deque<NodeId> left = new ArrayDeque<>(found);
    for (NodeId id = left.poll(); id != null; id = left.poll()) {
      for (NodeId child : children.getOrDefault(id, List.of())) {
        if (found.add(child)) {
          left.add(child);
        }
      }
    }
    return found;
  }

  /** How many nodes there are in each state; states without any may be left out. */
  Map<NodeState, Long> counts() {
    return read(() -> new EnumMap<>(counts));
  }

  /** Counts nodes by graph from now on; see {@link GroupCounts}. */
  GraphGroups groups(UnaryOperator<String> label, String none) {
    GroupCounts counted = new GroupCounts(label, none, nodes::get);
    lock.writeLock().lock();
    try {
      groups = counted;
      ready.groupBy(counted::labelOf, nodes::get);
    } finally {
      lock.writeLock().unlock();
    }
    return new GraphGroups() {
      @Override
      public String labelOf(GraphNode node) {
        return read(() -> counted.labelOf(node));
      }

      @Override
      public Load load() {
        lock.writeLock().lock();
        try {
          if (counted.isStale()) {
            counted.recount(nodes.values());
            ready.groupBy(counted::labelOf, nodes::get);
          }
          return new Load(counted.counts(), ready.oldest());
        } finally {
          lock.writeLock().unlock();
        }
      }
    };
  }

  List<GraphNode> running() {
    return read(() -> explain(running.stream().map(nodes::get).toList()));
  }

  /** Running nodes that are to be killed, and how; no groups. */
  Map<NodeId, Kill> killing() {
    return read(() -> new LinkedHashMap<>(kills));
  }

  List<GraphNode> ready(String type, int most, long nowMillis) {
    lock.writeLock().lock();
    try {
      return explain(ready.due(type, most, nowMillis).stream().map(nodes::get).toList());
    } finally {
      lock.writeLock().unlock();
    }
  }

  /**
   * Nodes that have or had limits, as they are now.
   *
   * @param all whether these are all that are due or run, and not only those that have changed
   * @param nodes the nodes in the order in which they became ready
   * @param due those that may start once they have permits
   */
  record LimitedNodes(boolean all, Map<NodeId, @Nullable GraphNode> nodes, Set<NodeId> due) {}

  /**
   * The nodes with limits that have changed since the last call.
   *
   * @param all whether to return all that are due or run; so it is done after the graph was
   *     replaced, too
   */
  LimitedNodes limited(boolean all, long nowMillis) {
    lock.writeLock().lock();
    try {
      Set<NodeId> ids = new TreeSet<>(ready.limitedChanges(nowMillis));
      boolean whole = all || replaced;
      replaced = false;
      if (whole) {
        ids = new LinkedHashSet<>(ready.limited());
        for (NodeId id : running) {
          if (!Objects.requireNonNull(nodes.get(id)).definition().limits().isNone()) {
            ids.add(id);
          }
        }
      }
      Map<NodeId, @Nullable GraphNode> found = new LinkedHashMap<>();
      Set<NodeId> due = new HashSet<>();
      for (NodeId id : ids) {
        found.put(id, nodes.get(id));
        if (ready.isLimited(id)) {
          due.add(id);
        }
      }
      return new LimitedNodes(whole, found, due);
    } finally {
      lock.writeLock().unlock();
    }
  }

  /** Tells those that wait for changes that there may be something to do. */
  void wake() {
    listeners.forEach(Runnable::run);
  }

  List<NodeId> expired(long nowMillis) {
    return read(() -> ready.expired(nowMillis));
  }

  Map<NodeId, Long> readySince(List<NodeId> ids) {
    return read(() -> ready.since(ids));
  }

  OptionalLong nextDueMillis() {
    return read(ready::nextMillis);
  }

  GraphChanges changes(@Nullable Long after) {
    return history.changes(after);
  }

  void onChange(Runnable wake) {
    listeners.add(wake);
  }

  /**
   * Nodes as they were at one moment. Their reasons are added only to those that are shown, since
   * of a long list usually only a part is.
   *
   * @param nodes the nodes that are wanted, without reasons
   * @param all all nodes of that moment, in the order of their ids
   * @param version the version of the graph at that moment
   */
  record Listing(List<GraphNode> nodes, List<GraphNode> all, long version) {
    /** The same with only some of the wanted nodes. */
    Listing with(Predicate<GraphNode> wanted) {
      return new Listing(nodes.stream().filter(wanted).toList(), all, version);
    }

    /** A part of the wanted nodes, with reasons. */
    List<GraphNode> explained(List<GraphNode> part) {
      Reasons reasons = new Reasons(this::find);
      return part.stream().map(reasons::explain).toList();
    }

    private @Nullable GraphNode find(NodeId id) {
      int low = 0;
      int high = all.size() - 1;
      while (low <= high) {
        int middle = (low + high) >>> 1;
        GraphNode node = all.get(middle);
        int order = node.id().compareTo(id);
        if (order == 0) {
          return node;
        }
        if (order < 0) {
          low = middle + 1;
        } else {
          high = middle - 1;
        }
      }
      return null;
    }
  }
}
