package io.millrace.graph.store;

import io.millrace.graph.GraphChanges.GraphEvent;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.Kill;
import io.millrace.graph.NodeId;
import io.millrace.graph.Phase;
import io.millrace.graph.model.Change;
import io.millrace.graph.model.Graph;
import io.millrace.graph.model.Rules;
import io.millrace.graph.store.GraphSession.DocumentWrite;
import io.millrace.graph.store.GraphSession.Head;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The graph in memory, with changes that are not durable yet: several operations one after the
 * other, which are committed together. If the commit fails, this is discarded as a whole. For one
 * thread at a time.
 */
final class WriteModel {
  private final GraphSession session;
  private final InstantSource clock;
  private final Graph graph;
  private final Rules rules;
  private final Map<NodeId, Kill> kills = new HashMap<>();
  private long next;
  private long firstFresh;

  private final Set<NodeId> changed = new LinkedHashSet<>();
  private final Set<NodeId> removed = new LinkedHashSet<>();
  private final Map<NodeId, NodeData> data = new LinkedHashMap<>();

  private final Map<String, UniqueNodes.Hold> holds = new LinkedHashMap<>();

  private final List<String> discarded = new ArrayList<>();

  private Map<NodeId, GraphNode> touched = new LinkedHashMap<>();
  private Map<NodeId, GraphNode> gone = new LinkedHashMap<>();

  /** The graph as it was loaded, with the version in its head. */
  WriteModel(GraphSession session, InstantSource clock, Head head, List<StoredNode> nodes) {
    this.session = session;
    this.clock = clock;
    this.graph = new Graph(head.version() - 1);
    this.rules = new Rules(graph);
    this.next = head.next();
    List<Change> facts = new ArrayList<>(nodes.size());
    for (StoredNode node : nodes) {
      facts.add(node.facts());
      if (node.kill() != null) {
        kills.put(node.facts().id(), node.kill());
      }
    }
    graph.apply(facts);
    begin();
  }

  /** Takes over the versions of nodes that were shown, if they are those of this graph. */
  void seenAs(ReadModel readModel) {
    for (GraphNode node : nodes()) {
      graph.restoreVersion(node.id(), readModel.version(node.id()));
    }
  }

  /** Forgets changes that are durable now. */
  void begin() {
    changed.clear();
    removed.clear();
    data.clear();
    holds.clear();
    discarded.clear();
    firstFresh = next;
  }

  Rules rules() {
    return rules;
  }

  long nowMillis() {
    return clock.millis();
  }

  long version() {
    return graph.version();
  }

  /** The id of the next node that is added. */
  long next() {
    return next;
  }

  List<GraphNode> nodes() {
    return graph.nodesAfter(0);
  }

  Map<NodeId, Kill> kills() {
    return kills;
  }

  /** A node without its reason. */
  Optional<GraphNode> find(NodeId id) {
    return graph.node(id);
  }

  /** A node without its reason; throws {@link UnknownNodeException} if it does not exist. */
  GraphNode node(NodeId id) {
    return find(id).orElseThrow(() -> new UnknownNodeException(id));
  }

  /** Applies changes with all that follows from them. */
  void take(List<? extends Change> changes) {
    for (List<? extends Change> more = changes;
        !more.isEmpty();
        more = graph.consequences(nowMillis())) {
      more.forEach(this::note);
      graph.apply(more).forEach(node -> touched.put(node.id(), node));
    }
  }

  private void note(Change change) {
    NodeId id = change.id();
    switch (change) {
      case Change.Touched _ -> {}
      case Change.Removed _ -> {
        gone.put(id, node(id));
        touched.remove(id);
        changed.remove(id);
        removed.add(id);
        data.remove(id);
        kills.remove(id);
      }
      case Change.Added _ -> {
        changed.add(id);
        next = Math.max(next, id.value() + 1);
      }
      case Change.Progressed(NodeId _, Phase phase) -> {
        changed.add(id);
        if (!(phase instanceof Phase.Running)) {
          kills.remove(id);
        }
      }
      case Change.Moved _, Change.Renamed _ -> changed.add(id);
    }
  }

  /** Sets how a running node is to be killed. */
  void kill(NodeId id, Kill kill) {
    if (!kill.equals(kills.put(id, kill))) {
      changed.add(id);
      take(List.of(new Change.Touched(id)));
    }
  }

  NodeData data(NodeId id) {
    NodeData written = data.get(id);
    return written != null ? written : session.data(id);
  }

  void add(NodeId id, NodeData values) {
    data.put(id, values);
  }

  /** Who holds a unique key, by its hash; null if nobody has held it. */
  UniqueNodes.@Nullable Hold hold(String hash) {
    UniqueNodes.Hold taken = holds.get(hash);
    return taken != null
        ? taken
        : session.document(Keys.unique(hash)).map(UniqueNodes.Hold::read).orElse(null);
  }

  /** Gives a unique key to nodes that were added. */
  void hold(String hash, UniqueNodes.Hold hold) {
    holds.put(hash, hold);
  }

  /**
   * Replaces the data of a node; a {@link Change} of that node must come with it.
   *
   * @param old the data as {@link #data(NodeId)} returns it
   */
  void replace(NodeId id, NodeData old, NodeData values) {
    data.put(id, values);
    Set<String> unnamed = old.blobs().collect(Collectors.toCollection(LinkedHashSet::new));
    values.blobs().forEach(unnamed::remove);
    discarded.addAll(unnamed);
  }

  /** The blobs that are no longer referred to once this is durable. */
  List<String> discarded() {
    return discarded;
  }

  /** The changes since the last call; null for none. */
  @Nullable GraphEvent event() {
    if (touched.isEmpty() && gone.isEmpty()) {
      return null;
    }
    GraphEvent event =
        new GraphEvent(version(), List.copyOf(touched.values()), List.copyOf(gone.values()));
    touched = new LinkedHashMap<>();
    gone = new LinkedHashMap<>();
    return event;
  }

  /** How many documents there are to write. */
  int size() {
    return changed.size() + 2 * removed.size() + data.size() + holds.size();
  }

  /** The documents of nodes that are new. */
  List<DocumentWrite> fresh() {
    List<DocumentWrite> writes = new ArrayList<>();
    addPuts(writes, true);
    return writes;
  }

  /** The changes of other documents. */
  List<DocumentWrite> changes() {
    List<DocumentWrite> writes = new ArrayList<>();
    addPuts(writes, false);
    holds.forEach(
        (hash, hold) -> writes.add(new DocumentWrite(Keys.unique(hash), Json.write(hold.json()))));
    for (NodeId id : removed) {
      if (!isFresh(id)) {
        writes.add(new DocumentWrite(Keys.node(id), null));
        writes.add(new DocumentWrite(Keys.data(id), null));
      }
    }
    return writes;
  }

  private void addPuts(List<DocumentWrite> writes, boolean ofFresh) {
    for (NodeId id : changed) {
      if (isFresh(id) == ofFresh) {
        writes.add(
            new DocumentWrite(Keys.node(id), StoredNode.of(node(id), kills.get(id)).write()));
      }
    }
    data.forEach((id, values) -> {
      if (isFresh(id) == ofFresh) {
        writes.add(new DocumentWrite(Keys.data(id), values.write()));
      }
    });
  }

  private boolean isFresh(NodeId id) {
    return id.value() >= firstFresh;
  }
}
