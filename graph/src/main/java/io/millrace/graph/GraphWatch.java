package io.millrace.graph;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Watches some nodes until all of them have ended together. For use by one thread; to be closed.
 */
public final class GraphWatch implements AutoCloseable {
  private final GraphRegistry graph;
  private final boolean untilSettled;
  private final Map<NodeId, NodeState> states = new LinkedHashMap<>();
  private final Set<NodeId> pending = new LinkedHashSet<>();
  private GraphChanges changes;

  private GraphWatch(GraphRegistry graph, boolean untilSettled) {
    this.graph = graph;
    this.untilSettled = untilSettled;
    this.changes = graph.changes(null);
  }

  /**
   * Begins to watch.
   *
   * @param untilSettled whether being blocked is an end as well; otherwise only a terminal state is
   * @throws UnknownNodeException where one of them is not there
   */
  public static GraphWatch begin(
      GraphRegistry graph, Collection<NodeId> ids, boolean untilSettled) {
    GraphWatch watch = new GraphWatch(graph, untilSettled);
    try {
      for (NodeId id : ids) {
        watch.note(graph.node(id).orElseThrow(() -> new UnknownNodeException(id)));
      }
      return watch;
    } catch (RuntimeException e) {
      watch.close();
      throw e;
    }
  }

  private void note(GraphNode node) {
    NodeState state = node.state();
    states.put(node.id(), state);
    if (untilSettled ? state.isSettled() : state.isTerminal()) {
      pending.remove(node.id());
    } else {
      pending.add(node.id());
    }
  }

  /** Where each stands, in the order asked; one that was removed, where it stood last. */
  public Map<NodeId, NodeState> states() {
    return states;
  }

  /** Whether all have ended. */
  public boolean isOver() {
    return pending.isEmpty();
  }

  /** Waits for something to happen, so long at most; returns at once where all have ended. */
  public void await(Duration timeout) throws InterruptedException {
    if (isOver()) {
      return;
    }
    try {
      for (GraphEvent event : changes.next(timeout)) {
        event.changed().stream().filter(it -> states.containsKey(it.id())).forEach(this::note);
        event.removed().forEach(it -> pending.remove(it.id()));
      }
    } catch (VersionLostException _) {
      // Too much has happened to follow it one by one.
      changes.close();
      changes = graph.changes(null);
      for (NodeId id : Set.copyOf(states.keySet())) {
        graph.node(id).ifPresentOrElse(this::note, () -> pending.remove(id));
      }
    }
  }

  @Override
  public void close() {
    changes.close();
  }
}
