package io.millrace.graph.model;

import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphGroups.ReadyGroup;
import io.millrace.graph.GraphNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeLimits;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that may start, by type, without groups. Nodes with limits are listed apart, as they
 * need permits besides. For one thread at a time.
 */
public final class ReadyNodes {
  /**
   * A node that is ready.
   *
   * @param order grows with each node that becomes ready
   * @param sinceMillis when it became ready
   * @param notBeforeMillis when it may start; 0 for at once
   * @param expiryMillis when it has waited too long; the largest number for never
   */
  private record Place(
      NodeId id,
      String type,
      NodeLimits limits,
      long order,
      long sinceMillis,
      long notBeforeMillis,
      long expiryMillis) {
    /** When it could start for the first time. */
    long startableMillis() {
      return Math.max(sinceMillis, notBeforeMillis);
    }
  }

  private static final Comparator<Place> BY_ORDER = Comparator.comparingLong(Place::order);
  private static final Comparator<Place> BY_TIME =
      Comparator.comparingLong(Place::notBeforeMillis).thenComparingLong(Place::order);

  private static final Comparator<Place> BY_EXPIRY =
      Comparator.comparingLong(Place::expiryMillis).thenComparingLong(Place::order);

  private static final Comparator<Place> BY_START =
      Comparator.comparingLong(Place::startableMillis).thenComparingLong(Place::order);

  private final Map<NodeId, Place> places = new HashMap<>();
  private final Map<String, TreeSet<Place>> due = new HashMap<>();
  private final TreeSet<Place> later = new TreeSet<>(BY_TIME);

  /** Those with limits that may start as far as time is concerned. */
  private final TreeSet<Place> limited = new TreeSet<>(BY_ORDER);

  /** The nodes with limits that have become due, started or changed since the last look. */
  private Set<NodeId> limitedChanges = new HashSet<>();

  /** Those that may wait too long. */
  private final TreeSet<Place> expiring = new TreeSet<>(BY_EXPIRY);

  /** All, by type and graph. */
  private final Map<ReadyGroup, TreeSet<Place>> groups = new HashMap<>();

  /**
   * The graph of each, for metrics alone: when and in which order nodes start is not its matter.
   */
  private final Map<NodeId, ReadyGroup> groupOf = new HashMap<>();

  private Function<GraphNode, String> graphs = _ -> "";
  private long last;

  /** Forgets all nodes. */
  public void clear() {
    places.clear();
    due.clear();
    later.clear();
    expiring.clear();
    limited.clear();
    limitedChanges.clear();
    groups.clear();
    groupOf.clear();
  }

  /**
   * Says which graph nodes are in, from now on and of all that are ready.
   *
   * @param find gives a node that is ready
   */
  public void groupBy(
      Function<GraphNode, String> graphs, Function<NodeId, @Nullable GraphNode> find) {
    this.graphs = graphs;
    places.forEach((id, place) -> {
      GraphNode node = find.apply(id);
      if (node != null) {
        removeFrom(groups, groupOf.get(id), place);
        group(place, graphs.apply(node));
      }
    });
  }

  private void group(Place place, String graph) {
    ReadyGroup group = new ReadyGroup(place.type, graph);
    groupOf.put(place.id, group);
    groups.computeIfAbsent(group, _ -> new TreeSet<>(BY_START)).add(place);
  }

  /**
   * Takes note of a node that may have become ready, or may no longer be.
   *
   * @param nowMillis when
   */
  public void note(GraphNode node, long nowMillis) {
    NodeLimits limits = node.definition().limits();
    if (!limits.isNone()) {
      limitedChanges.add(node.id());
    }
    if (node.state() != NodeState.READY
        || node.definition().kind() == Kind.GROUP
        || !(node.phase() instanceof Phase.Waiting waiting)) {
      remove(node.id());
      return;
    }
    Place there = places.get(node.id());
    long expiry = node.definition().timing().expiryMillis(waiting);
    if (there == null
        || there.notBeforeMillis != waiting.notBeforeMillis()
        || there.expiryMillis != expiry
        || !there.limits.equals(limits)) {
      remove(node.id());
      String type = node.definition().type();
      Place place =
          new Place(node.id(), type, limits, ++last, nowMillis, waiting.notBeforeMillis(), expiry);
      add(place);
      group(place, graphs.apply(node));
    }
  }

  private void add(Place place) {
    places.put(place.id, place);
    if (place.expiryMillis != Long.MAX_VALUE) {
      expiring.add(place);
    }
    if (place.notBeforeMillis == 0) {
      addDue(place);
    } else {
      later.add(place);
    }
  }

  /** Forgets a node. */
  public void remove(NodeId id) {
    Place place = places.remove(id);
    if (place == null) {
      return;
    }
    expiring.remove(place);
    removeFrom(groups, groupOf.remove(id), place);
    if (!place.limits.isNone()) {
      limitedChanges.add(id);
    }
    if (!later.remove(place) && !limited.remove(place)) {
      removeFrom(due, place.type, place);
    }
  }

  private static <K, S extends Set<Place>> void removeFrom(
      Map<K, S> sets, @Nullable K key, Place place) {
    S set = key == null ? null : sets.get(key);
    if (key != null && set != null && set.remove(place) && set.isEmpty()) {
      sets.remove(key);
    }
  }

  private void addDue(Place place) {
    if (!place.limits.isNone()) {
      limited.add(place);
      limitedChanges.add(place.id);
      return;
    }
    due.computeIfAbsent(place.type, _ -> new TreeSet<>(BY_ORDER)).add(place);
  }

  private void advance(long nowMillis) {
    while (!later.isEmpty() && later.first().notBeforeMillis <= nowMillis) {
      addDue(later.removeFirst());
    }
  }

  /**
   * The nodes of a type that may start, without those that have limits; those that have been ready
   * longest come first.
   */
  public List<NodeId> due(String type, int most, long nowMillis) {
    advance(nowMillis);
    List<NodeId> ids = new ArrayList<>();
    for (Place place : due.getOrDefault(type, new TreeSet<>(BY_ORDER))) {
      if (ids.size() == most) {
        break;
      }
      ids.add(place.id);
    }
    return ids;
  }

  /**
   * The nodes that have or had limits and have changed since the last call in whether they may
   * start; others may be among them.
   */
  public Set<NodeId> limitedChanges(long nowMillis) {
    advance(nowMillis);
    Set<NodeId> changes = limitedChanges;
    limitedChanges = new HashSet<>();
    return changes;
  }

  /** The nodes with limits that may start once they have permits, the longest ready ones first. */
  public List<NodeId> limited() {
    return limited.stream().map(Place::id).toList();
  }

  /** Whether a node with limits may start once it has a permit. */
  public boolean isLimited(NodeId id) {
    Place place = places.get(id);
    return place != null && limited.contains(place);
  }

  /** Since when these nodes could have been started, without those that are not ready. */
  public Map<NodeId, Long> since(List<NodeId> ids) {
    Map<NodeId, Long> since = new HashMap<>();
    for (NodeId id : ids) {
      Place place = places.get(id);
      if (place != null) {
        since.put(id, place.startableMillis());
      }
    }
    return since;
  }

  /** The same of the node of each type in each graph that comes first; it may be in the future. */
  public Map<ReadyGroup, Long> oldest() {
    Map<ReadyGroup, Long> oldest = new HashMap<>();
    groups.forEach((group, ready) -> oldest.put(group, ready.first().startableMillis()));
    return oldest;
  }

  /** The nodes that have waited too long. */
  public List<NodeId> expired(long nowMillis) {
    List<NodeId> ids = new ArrayList<>();
    for (Place place : expiring) {
      if (place.expiryMillis > nowMillis) {
        break;
      }
      ids.add(place.id);
    }
    return ids;
  }

  /**
   * The earliest time at which a node may start that could not at the last call of {@link #due}, or
   * has waited too long.
   */
  public OptionalLong nextMillis() {
    long start = later.isEmpty() ? Long.MAX_VALUE : later.first().notBeforeMillis;
    long expiry = expiring.isEmpty() ? Long.MAX_VALUE : expiring.first().expiryMillis;
    long next = Math.min(start, expiry);
    return next == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(next);
  }
}
