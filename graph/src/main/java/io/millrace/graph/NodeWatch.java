package io.millrace.graph;

import io.millrace.graph.GraphChanges.GraphEvent;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphException.VersionLostException;
import io.millrace.work.Watch;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Watches nodes until all of them have ended at the same time. */
public final class NodeWatch implements Watch.Source<NodeId, GraphNode> {
  private final GraphRegistry graph;
  private final Collection<NodeId> ids;
  private final boolean untilSettled;

  private NodeWatch(GraphRegistry graph, Collection<NodeId> ids, boolean untilSettled) {
    this.graph = graph;
    this.ids = new LinkedHashSet<>(ids);
    this.untilSettled = untilSettled;
  }

  /**
   * Begins to watch.
   *
   * @param untilSettled whether a blocked node counts as ended too; otherwise, only a terminal
   *     state does
   * @throws UnknownNodeException if one of them does not exist
   */
  public static Watch<NodeId, GraphNode> begin(
      GraphRegistry graph, Collection<NodeId> ids, boolean untilSettled) {
    Watch<NodeId, GraphNode> watch = Watch.begin(new NodeWatch(graph, ids, untilSettled), ids);
    for (NodeId id : ids) {
      if (watch.states().get(id) == null) {
        watch.close();
        throw new UnknownNodeException(id);
      }
    }
    return watch;
  }

  @Override
  public Map<NodeId, GraphNode> read(Collection<NodeId> keys) {
    Map<NodeId, GraphNode> found = new LinkedHashMap<>();
    keys.forEach(id -> graph.node(id).ifPresent(node -> found.put(id, node)));
    return found;
  }

  @Override
  public boolean isOver(@Nullable GraphNode node) {
    return node == null || (untilSettled ? node.state().isSettled() : node.state().isTerminal());
  }

  /** A node that has ended can be retried. */
  @Override
  public boolean canReopen() {
    return true;
  }

  @Override
  public Watch.Changes<NodeId, GraphNode> open() {
    return new Watch.Changes<>() {
      private GraphChanges changes = graph.changes(null);

      @Override
      public Map<NodeId, @Nullable GraphNode> next(Duration timeout, Predicate<NodeId> wanted)
          throws InterruptedException {
        Map<NodeId, @Nullable GraphNode> found = new LinkedHashMap<>();
        try {
          for (GraphEvent event : changes.next(timeout)) {
            event.changed().forEach(node -> found.put(node.id(), node));
            event.removed().forEach(node -> found.put(node.id(), null));
          }
        } catch (VersionLostException _) {
          // Too much has happened to follow each change.
          changes.close();
          changes = graph.changes(null);
          ids.forEach(id -> found.put(id, graph.node(id).orElse(null)));
        }
        found.keySet().removeIf(wanted.negate());
        return found;
      }

      @Override
      public void close() {
        changes.close();
      }
    };
  }
}
