package io.millrace.cli.graph.view;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The nodes that a command shows or waits for, updated from a feed. Not thread-safe. */
public final class KnownNodes {
  private final NavigableMap<Long, NodeView> nodes = new TreeMap<>();
  private final Map<State, Integer> counts = new EnumMap<>(State.class);
  private final @Nullable Set<Long> scope;

  private KnownNodes(@Nullable Set<Long> scope) {
    this.scope = scope;
  }

  /** All nodes of the feed. */
  public static KnownNodes all() {
    return new KnownNodes(null);
  }

  /** These nodes, and all that are added below them or after them. */
  public static KnownNodes from(Collection<Long> ids) {
    return new KnownNodes(new HashSet<>(ids));
  }

  /**
   * Applies a message of the feed.
   *
   * @return the nodes that are new or have changed state, in the order of the message
   */
  public List<NodeView> apply(GraphFeed.Message message) {
    List<NodeView> changed = new ArrayList<>();
    if (message.whole()) {
      Set<Long> present = message.nodes().stream().map(NodeView::id).collect(Collectors.toSet());
      List.copyOf(nodes.keySet()).stream()
          .filter(id -> !present.contains(id))
          .forEach(this::remove);
    }
    for (NodeView node : message.nodes()) {
      if (belongs(node)) {
        NodeView before = nodes.put(node.id(), node);
        if (before == null || before.state() != node.state()) {
          count(node.state(), 1);
          changed.add(node);
        }
        if (before != null && before.state() != node.state()) {
          count(before.state(), -1);
        }
      }
    }
    message.removed().forEach(this::remove);
    return changed;
  }

  private boolean belongs(NodeView node) {
    if (scope == null || scope.contains(node.id())) {
      return true;
    }
    boolean below =
        node.place().parents().stream().anyMatch(scope::contains)
            || node.place().after().stream().anyMatch(scope::contains);
    if (below) {
      scope.add(node.id());
    }
    return below;
  }

  private void remove(long id) {
    NodeView gone = nodes.remove(id);
    if (gone != null) {
      count(gone.state(), -1);
    }
  }

  private void count(State state, int by) {
    counts.merge(state, by, (a, b) -> a + b == 0 ? null : a + b);
  }

  /** The nodes as they are now, by id. */
  public Collection<NodeView> nodes() {
    return nodes.values();
  }

  /** The node of this id; null if there is none. */
  public @Nullable NodeView find(long id) {
    return nodes.get(id);
  }

  /** The number of nodes. */
  public int size() {
    return nodes.size();
  }

  /** The number of nodes in a state. */
  public int count(State state) {
    return Objects.requireNonNullElse(counts.get(state), 0);
  }

  /** Whether every node has ended or is blocked. */
  public boolean isSettled() {
    return counts.keySet().stream().allMatch(State::isSettled);
  }

  /** Whether every node has finished or was skipped. */
  public boolean isSuccessful() {
    return counts.keySet().stream().allMatch(State::isSuccessful);
  }

  /** The number of nodes in each state, for example {@code 3 finished, 1 failed}. */
  public String summary() {
    return counts.isEmpty()
        ? "no nodes"
        : counts.entrySet().stream()
            .map(count -> count.getValue() + " " + count.getKey().word())
            .collect(Collectors.joining(", "));
  }
}
