package io.millrace.graph.store;

import io.millrace.graph.Caller;
import io.millrace.graph.GraphChanges;
import io.millrace.graph.GraphGroups;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.Kill;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import io.millrace.graph.Uniqueness;
import io.millrace.graph.store.DataReader.PagedViews;
import io.millrace.graph.store.GraphSession.Head;
import io.millrace.graph.store.ValueStore.RandomNames;
import io.millrace.graph.type.NodeTypes;
import io.millrace.store.Document;
import io.millrace.store.StandbyStore.LeaderNeededException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A graph that is only read, from a store that another server leads. It is read anew whenever a
 * read finds that it has changed; documents of nodes that have not are not parsed again. The nodes
 * of its answers have no versions: those are the leader's, and not stored.
 *
 * <p>Throws {@link LeaderNeededException} for what only the leader knows: lists of more than one
 * page, which are kept for the next page by the server that gave the first; the output of running
 * nodes; and while a large change is being carried out.
 */
final class StandbyGraph implements GraphRegistry {
  private final GraphSession session;
  private final ValueStore values;
  private final DataRules rules;
  private final InstantSource clock;
  private final RandomNames names;

  private @Nullable Loaded latest;

  /** The graph reads its store through the session. */
  StandbyGraph(
      GraphSession session,
      ValueStore values,
      NodeTypes types,
      InstantSource clock,
      RandomNames names) {
    this.session = session;
    this.values = values;
    this.rules = new DataRules(types);
    this.clock = clock;
    this.names = names;
  }

  /**
   * A graph that was read.
   *
   * @param head the version of the document of its head; 0 if there is none
   * @param nodes the nodes as they are stored, by the versions of their documents
   */
  private record Loaded(long head, Map<Long, StoredNode> nodes, ReadModel model) {}

  /** The graph as the store has it now. */
  private synchronized ReadModel model() {
    Head head = session.head();
    if (head.pending() > 0) {
      throw new LeaderNeededException("a large change of the graph is being carried out");
    }
    Loaded known = latest;
    if (known == null || known.head() != head.document()) {
      known = load(head, known == null ? Map.of() : known.nodes());
      latest = known;
    }
    return known.model();
  }

  private Loaded load(Head head, Map<Long, StoredNode> known) {
    Map<Long, StoredNode> nodes = new HashMap<>();
    List<StoredNode> all = new ArrayList<>();
    for (Document document : session.pages(Keys.NODES)) {
      // Nodes of a change that has not happened yet may be there already.
      if (Keys.id(document.key()).value() < head.next()) {
        StoredNode before = known.get(document.version());
        StoredNode node = before == null ? StoredNode.read(document) : before;
        nodes.put(document.version(), node);
        all.add(node);
      }
    }
    WriteModel loaded = new WriteModel(session, clock, head, all);
    ReadModel model = new ReadModel();
    // Without versions of nodes.
    loaded.seenAs(model);
    model.replace(loaded);
    return new Loaded(head.document(), nodes, model);
  }

  private static LeaderNeededException laterPages() {
    return new LeaderNeededException(
        "only the leader answers lists of more than " + PagedViews.PAGE + " items");
  }

  @Override
  public long version() {
    return model().version();
  }

  @Override
  public Optional<GraphNode> node(NodeId id) {
    return model().find(id);
  }

  @Override
  public Page<GraphNode> nodes(
      NodeFilter filter, @Nullable String text, Page.@Nullable Wanted wanted) {
    if (wanted != null) {
      throw laterPages();
    }
    ReadModel.Listing listing =
        model().listing(filter).with(NodeSearch.having(text, session, rules));
    if (listing.nodes().size() > PagedViews.PAGE) {
      throw laterPages();
    }
    return new Page<>(listing.explained(listing.nodes()), names.next(), null, listing.version());
  }

  @Override
  public Map<NodeState, Long> counts() {
    return model().counts();
  }

  @Override
  public Snapshot snapshot(NodeFilter filter) {
    return model().snapshot(filter);
  }

  @Override
  public List<GraphNode> running() {
    return model().running();
  }

  @Override
  public Page<String> keys(NodeId id, Page.@Nullable Wanted wanted) {
    if (wanted != null) {
      throw laterPages();
    }
    ReadModel model = model();
    TreeSet<String> all = new TreeSet<>(rules.written(model.node(id).definition()));
    all.addAll(session.data(id).values().keySet());
    if (all.size() > PagedViews.PAGE) {
      throw laterPages();
    }
    return new Page<>(List.copyOf(all), names.next(), null, model.version());
  }

  @Override
  public DataPage data(NodeId id, String key, @Nullable String view, int slot) {
    ReadModel model = model();
    DataReader reader = new DataReader(model, session, values, rules, clock, names);
    reader.readOutputsFrom((node, _) -> {
      if (model.node(node).phase() instanceof Phase.Running) {
        throw new LeaderNeededException("only the leader has the output of running nodes");
      }
      return null;
    });
    return reader.data(id, key, view, slot);
  }

  @Override
  public GraphChanges changes(@Nullable Long after) {
    throw new LeaderNeededException("only the leader waits for changes of the graph");
  }

  // ---- what changes it

  private static UnsupportedOperationException refused() {
    return new UnsupportedOperationException("a standby changes nothing");
  }

  @Override
  public Added add(Caller caller, List<NewNode> nodes, Uniqueness unique, @Nullable Long expected) {
    throw refused();
  }

  @Override
  public GraphNode move(Caller caller, NodeId id, NewNode.Place place, @Nullable Long expected) {
    throw refused();
  }

  @Override
  public GraphNode rename(
      Caller caller, NodeId id, @Nullable String name, @Nullable Long expected) {
    throw refused();
  }

  @Override
  public int remove(Caller caller, NodeId id, Removal removal, @Nullable Long expected) {
    throw refused();
  }

  @Override
  public GraphNode retry(Caller caller, NodeId id, @Nullable Long expected) {
    throw refused();
  }

  @Override
  public void kill(Caller caller, Collection<NodeId> ids, Kill kill, @Nullable Long expected) {
    throw refused();
  }

  @Override
  public GraphGroups groups(UnaryOperator<String> label, String none) {
    throw refused();
  }

  @Override
  public DataPage put(
      Caller caller, NodeId id, String key, DataWrite write, @Nullable Long expected) {
    throw refused();
  }
}
