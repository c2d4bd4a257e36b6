package io.millrace.graph.store;

import io.millrace.blobs.Value;
import io.millrace.graph.Caller;
import io.millrace.graph.Definition;
import io.millrace.graph.GraphChanges;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphException.StaleViewException;
import io.millrace.graph.GraphException.UnknownKeyException;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphException.VersionException;
import io.millrace.graph.GraphGroups;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphRegistry.Added;
import io.millrace.graph.GraphRegistry.DataPage;
import io.millrace.graph.GraphRegistry.DataWrite;
import io.millrace.graph.GraphRegistry.Page;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.Kill;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.NodeLimits;
import io.millrace.graph.NodeState;
import io.millrace.graph.Phase;
import io.millrace.graph.Timing;
import io.millrace.graph.Uniqueness;
import io.millrace.graph.model.Change;
import io.millrace.graph.store.GraphCommits.Done;
import io.millrace.graph.store.GraphCommits.Operation;
import io.millrace.graph.store.NodeData.StoredValue;
import io.millrace.graph.type.NodeType;
import io.millrace.graph.type.RunPolicy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The registry over a store. */
final class StoreGraphRegistry implements GraphRegistry {
  static final int MAX_NODES = 10_000;

  static final int MAX_NAME = 128;

  private final GraphCommits commits;
  private final ValueStore values;
  private final DataRules rules;
  private final ReadModel readModel;
  private final DataReader reader;

  StoreGraphRegistry(StoredGraph.Parts parts, DataReader reader) {
    this.commits = parts.commits();
    this.values = parts.values();
    this.rules = parts.rules();
    this.readModel = parts.readModel();
    this.reader = reader;
  }

  /** Throws {@link VersionException} if a node does not have the expected version. */
  static void checkVersion(GraphNode node, @Nullable Long expected) {
    if (expected != null && node.version() != expected) {
      throw new VersionException(
          "node " + node.id() + " has version " + node.version() + ", not " + expected);
    }
  }

  @Override
  public Added add(Caller caller, List<NewNode> nodes, Uniqueness unique, @Nullable Long expected) {
    if (nodes.size() > MAX_NODES) {
      throw new InvalidGraphException(
          nodes.size() + " nodes are too many for one request; up to " + MAX_NODES + " go in one");
    }
    if (nodes.isEmpty()) {
      return new Added(List.of(), List.of(), false);
    }
    check(nodes, rules);
    UniqueNodes keys = new UniqueNodes(caller, unique, nodes);
    try (ValueStore.Upload upload = values.upload()) {
      List<NodeData> data = store(nodes, upload);
      Done<Placed> done =
          commits.run(model -> {
            Optional<List<NodeId>> holders = keys.holders(model);
            if (holders.isPresent()) {
              return new Placed(holders.get(), true);
            }
            checkGraphVersion(model.version(), expected);
            List<NodeId> ids = add(model, caller, nodes, data, rules);
            keys.take(model, ids);
            return new Placed(ids, false);
          });
      List<NodeId> ids = done.value().ids();
      if (done.value().duplicate()) {
        return new Added(
            ids, ids.stream().flatMap(id -> readModel.find(id).stream()).toList(), true);
      }
      Map<NodeId, GraphNode> added = new HashMap<>();
      done.event().changed().forEach(node -> added.put(node.id(), node));
      return new Added(
          ids, ids.stream().map(id -> Objects.requireNonNull(added.get(id))).toList(), false);
    }
  }

  /**
   * The nodes of a request.
   *
   * @param duplicate whether they were there already
   */
  private record Placed(List<NodeId> ids, boolean duplicate) {}

  private static void checkGraphVersion(long version, @Nullable Long expected) {
    if (expected != null && version != expected) {
      throw new VersionException("the graph has version " + version + ", not " + expected);
    }
  }

  /** Checks each node by itself. */
  static void check(List<NewNode> nodes, DataRules rules) {
    numbered(nodes, node -> check(node, rules));
  }

  private static void numbered(List<NewNode> nodes, Consumer<NewNode> each) {
    for (int i = 0; i < nodes.size(); i++) {
      try {
        each.accept(nodes.get(i));
      } catch (InvalidGraphException e) {
        throw new InvalidGraphException("new node " + (i + 1) + ": " + e.getMessage());
      }
    }
  }

  private static void check(NewNode node, DataRules rules) {
    NodeType type = rules.type(node.type());
    checkName(node.name());
    checkName(node.local());
    for (String key : node.data().keySet()) {
      DataRules.checkKey(key);
      if (type.outputs().contains(key)) {
        throw new InvalidGraphException("\"" + key + "\" is written by the node itself");
      }
    }
    rules.check(node.type(), node.data());
  }

  /** Checks a name for people, or throws {@link InvalidGraphException}. */
  private static void checkName(@Nullable String name) {
    if (name != null && (name.isEmpty() || name.length() > MAX_NAME)) {
      throw new InvalidGraphException(
          "a name has 1 to " + MAX_NAME + " characters, not " + name.length());
    }
  }

  /** Stores the data of nodes. */
  static List<NodeData> store(List<NewNode> nodes, ValueStore.Upload upload) {
    List<NodeData> data = new ArrayList<>(nodes.size());
    numbered(nodes, node -> data.add(store(node.data(), upload)));
    return data;
  }

  private static NodeData store(Map<String, JsonNode> values, ValueStore.Upload upload) {
    Map<String, StoredValue> stored = new HashMap<>();
    values.forEach((key, value) -> stored.put(key, upload.value(value)));
    NodeData data = NodeData.EMPTY.with(stored);
    data.check();
    return data;
  }

  /** Adds nodes that were checked, with their stored data. */
  static List<NodeId> add(
      WriteModel model, Caller caller, List<NewNode> nodes, List<NodeData> data, DataRules rules) {
    Permissions permissions = Permissions.of(caller, model);
    permissions.checkNamed(nodes);
    List<Change.Added> added = model.rules().add(nodes, rules, model.next(), model.nowMillis());
    permissions.checkPlaces(added);
    model.take(added);
    String view = StoredValue.viewOf(model.version());
    for (int i = 0; i < added.size(); i++) {
      model.add(added.get(i).id(), data.get(i).seenAs(view));
    }
    return added.stream().map(Change.Added::id).toList();
  }

  /** Makes a change; returns the node that it is about. */
  private GraphNode change(
      Caller caller, NodeId id, @Nullable Long expected, Operation<List<Change>> changes) {
    Done<NodeId> done =
        commits.run(model -> {
          checkVersion(model.node(id), expected);
          Permissions permissions = Permissions.of(caller, model);
          permissions.checkChange(id);
          List<Change> all = changes.run(model);
          for (Change change : all) {
            if (change instanceof Change.Moved(NodeId _, Definition definition)) {
              permissions.checkPlace(definition);
            }
          }
          model.take(all);
          return id;
        });
    return done.event().changed().stream()
        .filter(node -> node.id().equals(id))
        .findFirst()
        .orElseThrow(() -> new UnknownNodeException(id));
  }

  @Override
  public GraphNode move(Caller caller, NodeId id, NewNode.Place place, @Nullable Long expected) {
    return change(caller, id, expected, model -> model.rules().move(id, place));
  }

  @Override
  public GraphNode rename(
      Caller caller, NodeId id, @Nullable String name, @Nullable Long expected) {
    checkName(name);
    return change(caller, id, expected, _ -> List.of(new Change.Renamed(id, name)));
  }

  @Override
  public GraphNode retry(Caller caller, NodeId id, @Nullable Long expected) {
    return change(caller, id, expected, model -> model.rules().retry(id));
  }

  @Override
  public int remove(Caller caller, NodeId id, Removal removal, @Nullable Long expected) {
    Done<Integer> done =
        commits.run(model -> {
          checkVersion(model.node(id), expected);
          Permissions permissions = Permissions.of(caller, model);
          List<Change> changes = model.rules().remove(id, removal);
          changes.forEach(change -> permissions.checkChange(change.id()));
          model.take(changes);
          return (int) changes.stream().filter(Change.Removed.class::isInstance).count();
        });
    return done.value();
  }

  @Override
  public void kill(Caller caller, Collection<NodeId> ids, Kill kill, @Nullable Long expected) {
    var _ =
        commits.run(model -> {
          Permissions permissions = Permissions.of(caller, model);
          for (NodeId id : ids) {
            checkVersion(model.node(id), expected);
            permissions.checkChange(id);
          }
          model.take(model.rules().kill(ids, model.nowMillis()));
          model.rules().killing(ids).forEach(id -> model.kill(id, kill));
          return ids;
        });
  }

  @Override
  public long version() {
    return readModel.version();
  }

  @Override
  public Optional<GraphNode> node(NodeId id) {
    return readModel.find(id);
  }

  @Override
  public Page<GraphNode> nodes(
      NodeFilter filter, @Nullable String text, Page.@Nullable Wanted wanted) {
    return reader.nodes(filter, text, wanted);
  }

  @Override
  public Snapshot snapshot(NodeFilter filter) {
    return readModel.snapshot(filter);
  }

  @Override
  public Map<NodeState, Long> counts() {
    return readModel.counts();
  }

  @Override
  public GraphGroups groups(UnaryOperator<String> label, String none) {
    return readModel.groups(label, none);
  }

  @Override
  public List<GraphNode> running() {
    return readModel.running();
  }

  @Override
  public Page<String> keys(NodeId id, Page.@Nullable Wanted wanted) {
    return reader.keys(id, wanted);
  }

  @Override
  public DataPage data(NodeId id, String key, @Nullable String view, int slot) {
    return reader.data(id, key, view, slot);
  }

  @Override
  public GraphChanges changes(@Nullable Long after) {
    return readModel.changes(after);
  }

  /** A value as it will be stored, with the requested page. */
  private record Next(StoredValue value, boolean grows, int slot, @Nullable Integer next) {}

  @Override
  public DataPage put(
      Caller caller, NodeId id, String key, DataWrite write, @Nullable Long expected) {
    DataRules.checkKey(key);
    try (ValueStore.Upload upload = values.upload()) {
      Done<DataPage> done =
          switch (write) {
            case DataWrite.Whole(JsonNode value) -> {
              StoredValue stored = upload.value(value);
              JsonNode shown = values.page(stored, 0).data();
              yield commits.run(model ->
                  put(open(model, caller, id, key, expected), whole(stored, pages(stored)), shown));
            }
            case DataWrite.IfUnset(JsonNode value) -> {
              StoredValue stored = upload.value(value);
              JsonNode shown = values.page(stored, 0).data();
              yield commits.run(model -> {
                Target place = open(model, caller, id, key, expected);
                if (isSet(place.old())) {
                  throw new NodeStateException("\"" + key + "\" of node " + id + " is set already");
                }
                return put(place, whole(stored, 0), shown);
              });
            }
            case DataWrite.Slot slot -> {
              Value page = upload.page(slot.value(), slot.slot());
              yield commits.run(model -> {
                Target place = open(model, caller, id, key, expected);
                return put(place, page(place, slot, page), slot.value());
              });
            }
          };
      return done.value();
    }
  }

  /** The place of a value that the caller may write. */
  private record Target(
      WriteModel model, GraphNode node, String key, NodeData data, @Nullable StoredValue old) {}

  private Target open(
      WriteModel model, Caller caller, NodeId id, String key, @Nullable Long expected) {
    GraphNode node = model.node(id);
    Permissions.of(caller, model).checkData(id);
    checkVersion(node, expected);
    if (rules.written(node.definition()).contains(key)) {
      throw new NodeStateException(
          "\"" + key + "\" of node " + id + " is written by the node itself");
    }
    boolean mayChange =
        node.phase() instanceof Phase.Waiting || RunPolicy.OF_RETENTION.contains(key);
    if (!mayChange && rules.read(node.definition()).contains(key)) {
      throw new NodeStateException(
          "\""
              + key
              + "\" of node "
              + id
              + " changes only while the node waits; it is "
              + node.state().word());
    }
    NodeData data = model.data(id);
    return new Target(model, node, key, data, data.values().get(key));
  }

  /** A JSON null counts as unset, as it does for types. */
  private static boolean isSet(@Nullable StoredValue value) {
    return value != null
        && !(value instanceof StoredValue.Inline(JsonNode inline, String _) && inline.isNull());
  }

  private static @Nullable Integer pages(StoredValue value) {
    return switch (value) {
      case StoredValue.Pages texts -> texts.pages().size();
      case StoredValue.Inline inline when inline.value().isString() -> 1;
      default -> null;
    };
  }

  /** With the page to write next, if it is a text. */
  private static Next whole(StoredValue value, @Nullable Integer next) {
    return new Next(value, false, 0, pages(value) == null ? null : next);
  }

  private static Next page(Target place, DataWrite.Slot write, Value page) {
    StoredValue old = place.old();
    if (old == null) {
      throw new UnknownKeyException(place.node().id(), place.key());
    }
    if (!old.view().equals(write.view())) {
      throw new StaleViewException("\"" + place.key() + "\" was changed since; read it again");
    }
    List<Value> pages = new ArrayList<>();
    switch (old) {
      case StoredValue.Pages texts -> pages.addAll(texts.pages());
      case StoredValue.Inline(JsonNode value, String _) when value.isString() ->
          pages.add(new Value.Inline(TextPages.bytes(value.asString())));
      default ->
          throw new InvalidGraphException("\"" + place.key() + "\" is no text and has no pages");
    }
    int slot = write.slot();
    int most = Math.min(pages.size(), ValueStore.Upload.MAX_PAGES - 1);
    if (slot < 0 || slot > most) {
      throw new InvalidGraphException(
          "\"" + place.key() + "\" has no page " + slot + "; write 0 to " + most);
    }
    boolean grows = slot == pages.size();
    if (grows) {
      pages.add(page);
    } else {
      pages.set(slot, page);
    }
    return new Next(new StoredValue.Pages(pages, old.view()), grows, slot, slot + 1);
  }

  private DataPage put(Target place, Next next, JsonNode shown) {
    WriteModel model = place.model();
    NodeId id = place.node().id();
    NodeData data = place.data().with(Map.of(place.key(), next.value()));
    data.check();
    Definition definition = place.node().definition();
    Set<String> inputs = rules.read(definition);
    List<Change> changes = List.of(new Change.Touched(id));
    if (inputs.contains(place.key())) {
      Map<String, JsonNode> read = values.values(data, inputs);
      rules.check(definition.type(), read);
      Timing timing = rules.timing(definition.type(), read);
      NodeLimits limits = rules.limits(definition.type(), read);
      if (!timing.equals(definition.timing()) || !limits.equals(definition.limits())) {
        changes = model.rules().restrict(id, timing, limits);
      }
    }
    model.take(changes);
    StoredValue stored =
        next.grows() ? next.value() : next.value().seenAs(StoredValue.viewOf(model.version()));
    model.replace(id, place.data(), data.with(Map.of(place.key(), stored)));
    return new DataPage(shown, stored.view(), next.slot(), next.next(), false);
  }
}
