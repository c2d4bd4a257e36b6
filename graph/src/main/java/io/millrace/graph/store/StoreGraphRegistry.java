package io.millrace.graph.store;

import io.millrace.graph.Caller;
import io.millrace.graph.Definition;
import io.millrace.graph.GraphChanges;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphException.VersionException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphRegistry.DataPage;
import io.millrace.graph.GraphRegistry.DataWrite;
import io.millrace.graph.GraphRegistry.Page;
import io.millrace.graph.GraphRegistry.Removal;
import io.millrace.graph.Kill;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeId;
import io.millrace.graph.model.Change;
import io.millrace.graph.store.GraphCommits.Done;
import io.millrace.graph.store.GraphCommits.Operation;
import io.millrace.graph.store.NodeData.StoredValue;
import io.millrace.graph.type.NodeType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The registry over a store. */
final class StoreGraphRegistry implements GraphRegistry {
  /** The most nodes of one request. */
  static final int MOST_NODES = 10_000;

  /** The most characters of a name. */
  static final int MOST_NAME = 128;

  private final GraphCommits commits;
  private final ValueStore values;
  private final DataRules rules;
  private final ReadModel readModel;
  private final DataReader reader;
  private final DataWriter writer;

  StoreGraphRegistry(StoredGraph.Parts parts, DataReader reader) {
    this.commits = parts.commits();
    this.values = parts.values();
    this.rules = parts.rules();
    this.readModel = parts.readModel();
    this.reader = reader;
    this.writer = new DataWriter(commits, values, rules);
  }

  /** Throws {@link VersionException} if a node is not of the version that somebody has seen. */
  static void checkVersion(GraphNode node, @Nullable Long expected) {
    if (expected != null && node.version() != expected) {
      throw new VersionException(
          "node " + node.id() + " has version " + node.version() + ", not " + expected);
    }
  }

  @Override
  public List<GraphNode> add(Caller caller, List<NewNode> nodes, @Nullable Long expected) {
    if (nodes.size() > MOST_NODES) {
      throw new InvalidGraphException(
          nodes.size() + " nodes are too many for one request; up to " + MOST_NODES + " go in one");
    }
    if (nodes.isEmpty()) {
      return List.of();
    }
    try (ValueStore.Upload upload = values.upload()) {
      List<NodeData> data = new ArrayList<>(nodes.size());
      for (NewNode node : nodes) {
        try {
          check(node);
          data.add(store(node.data(), upload));
        } catch (InvalidGraphException e) {
          int number = data.size() + 1;
          throw new InvalidGraphException("new node " + number + ": " + e.getMessage());
        }
      }
      Done<List<NodeId>> done =
          commits.run(model -> {
            checkGraphVersion(model.version(), expected);
            return add(model, caller, nodes, data);
          });
      Map<NodeId, GraphNode> added = new HashMap<>();
      done.event().changed().forEach(node -> added.put(node.id(), node));
      return done.value().stream().map(id -> Objects.requireNonNull(added.get(id))).toList();
    }
  }

  private static void checkGraphVersion(long version, @Nullable Long expected) {
    if (expected != null && version != expected) {
      throw new VersionException("the graph has version " + version + ", not " + expected);
    }
  }

  private void check(NewNode node) {
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

  /** Looks at what people call a node, or throws {@link InvalidGraphException}. */
  private static void checkName(@Nullable String name) {
    if (name != null && (name.isEmpty() || name.length() > MOST_NAME)) {
      throw new InvalidGraphException(
          "a name has 1 to " + MOST_NAME + " characters, not " + name.length());
    }
  }

  private static NodeData store(Map<String, JsonNode> values, ValueStore.Upload upload) {
    Map<String, StoredValue> stored = new HashMap<>();
    values.forEach((key, value) -> stored.put(key, upload.value(value)));
    NodeData data = NodeData.EMPTY.with(stored);
    data.check();
    return data;
  }

  private List<NodeId> add(
      WriteModel model, Caller caller, List<NewNode> nodes, List<NodeData> data) {
    Permissions permissions = Permissions.of(caller, model);
    permissions.checkNamed(nodes);
    List<Change.Added> added =
        model.rules().add(nodes, name -> rules.type(name).kind(), model.next(), model.nowMillis());
    permissions.checkPlaces(added);
    model.take(added);
    String view = StoredValue.viewOf(model.version());
    for (int i = 0; i < added.size(); i++) {
      model.add(added.get(i).id(), data.get(i).seenAs(view));
    }
    return added.stream().map(Change.Added::id).toList();
  }

  /** The node that a change was about. */
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
  public Page<GraphNode> nodes(NodeFilter filter, Page.@Nullable Wanted wanted) {
    return reader.nodes(filter, wanted);
  }

  @Override
  public Snapshot snapshot(NodeFilter filter) {
    return readModel.snapshot(filter);
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
  public DataPage put(
      Caller caller, NodeId id, String key, DataWrite write, @Nullable Long expected) {
    return writer.put(caller, id, key, write, expected);
  }

  @Override
  public GraphChanges changes(@Nullable Long after) {
    return readModel.changes(after);
  }
}
