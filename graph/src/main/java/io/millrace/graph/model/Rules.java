package io.millrace.graph.model;

import io.millrace.graph.Definition;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.Kind;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Outcome;
import io.millrace.graph.Phase;
import io.millrace.graph.Removal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SequencedSet;
import java.util.function.Function;

/**
 * What may be asked of a graph, and what becomes of it. Each method looks, and gives the changes to
 * apply; it changes nothing itself. All times in milliseconds since 1970.
 */
public final class Rules {
  private final Graph graph;

  /** For this graph. */
  public Rules(Graph graph) {
    this.graph = graph;
  }

  /**
   * New nodes, with growing ids from {@code firstId} in the order given.
   *
   * @param kinds the kind of each type
   * @throws InvalidGraphException if a name is unknown or given twice, a branch has no condition,
   *     or a node would wait for itself
   * @throws NodeStateException if a parent is a group that has ended
   */
  public List<Change.Added> add(
      List<NewNode> nodes, Function<String, Kind> kinds, long firstId, long nowMillis) {
    List<Change.Added> added = new ArrayList<>(nodes.size());
    new EdgeRules(graph, firstId)
        .of(nodes, kinds)
        .forEach((id, definition) -> {
          String name = nodes.get(added.size()).name();
          added.add(new Change.Added(id, definition, Phase.NEW, name, nowMillis));
        });
    return added;
  }

  /**
   * A node somewhere else, while it waits.
   *
   * @throws UnknownNodeException where there is no such node
   * @throws InvalidGraphException as {@link #add}
   * @throws NodeStateException where it has started or ended, or a new parent is a group that ended
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
   * The start of a node that is ready.
   *
   * @throws UnknownNodeException where there is no such node
   * @throws NodeStateException where it is not ready, is a group, or is to wait for longer
   */
  public List<Change> start(NodeId id, long nowMillis) {
    Vertex vertex = known(id);
    if (vertex.state == NodeState.READY
        && !vertex.isGroup()
        && vertex.phase instanceof Phase.Waiting waiting
        && waiting.notBeforeMillis() <= nowMillis) {
      int attempt = waiting.attempt() + 1;
      return List.of(new Change.Progressed(id, new Phase.Running(attempt, nowMillis, false)));
    }
    throw new NodeStateException("node " + id + " is " + vertex.state.word() + ", not due");
  }

  /**
   * The end of an attempt.
   *
   * @param attempt which one; that of a node that was started again since changes nothing
   * @throws UnknownNodeException where there is no such node
   * @throws NodeStateException where that attempt is not the one that runs
   */
  public List<Change> end(NodeId id, int attempt, Outcome outcome, long nowMillis) {
    Vertex vertex = known(id);
    if (vertex.isGroup()
        || !(vertex.phase instanceof Phase.Running running)
        || running.attempt() != attempt) {
      throw new NodeStateException("attempt " + attempt + " of node " + id + " does not run");
    }
    return List.of(new Change.Progressed(id, outcome.after(running, nowMillis)));
  }

  /**
   * The end of nodes that somebody wants ended: those that wait are killed at once, those that run
   * are marked, all that is in a group with it. Those that have ended stay.
   *
   * @throws UnknownNodeException where there is no such node
   */
  public List<Change> kill(Collection<NodeId> ids, long nowMillis) {
    List<Change> changes = new ArrayList<>();
    List<Vertex> named = ids.stream().map(this::known).toList();
    for (Vertex vertex : Graph.reach(named, it -> it.members)) {
      Phase next =
          switch (vertex.phase) {
            case Phase.Waiting waiting when vertex.state != NodeState.SKIPPED ->
                new Phase.Ended(
                    waiting.attempt(),
                    NodeState.KILLED,
                    "it was killed before it started",
                    null,
                    0,
                    nowMillis);
            case Phase.Running running when !running.killing() ->
                new Phase.Running(running.attempt(), running.startedMillis(), true);
            default -> vertex.phase;
          };
      if (!next.equals(vertex.phase)) {
        changes.add(new Change.Progressed(vertex.id, next));
      }
    }
    return changes;
  }

  /**
   * Those that are to be ended and still run, among these nodes and all that is in groups among
   * them; no groups.
   *
   * @throws UnknownNodeException where there is no such node
   */
  public List<NodeId> killing(Collection<NodeId> ids) {
    return Graph.reach(ids.stream().map(this::known).toList(), it -> it.members).stream()
        .filter(it -> it.phase instanceof Phase.Running running && running.killing())
        .filter(it -> !it.isGroup())
        .map(it -> it.id)
        .toList();
  }

  /**
   * Another attempt of a node that failed or was killed; of a group, of all such nodes in it.
   *
   * @throws UnknownNodeException where there is no such node
   * @throws NodeStateException where it has neither failed nor been killed
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
        changes.add(new Change.Progressed(vertex.id, new Phase.Waiting(vertex.phase.attempt(), 0)));
      }
    }
    return changes;
  }

  /**
   * The removal of a node. Those that stay and named it are moved by it, whatever has become of
   * them.
   *
   * @throws UnknownNodeException where there is no such node
   * @throws NodeStateException where one that goes runs, or one that stays would wait for itself or
   *     for what nobody tells it any more
   */
  public List<Change> remove(NodeId id, Removal removal) {
    return new Removals(graph).of(known(id), removal);
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
}
