package io.millrace.graph.store;

import io.millrace.graph.Caller;
import io.millrace.graph.DataPage;
import io.millrace.graph.DataWrite;
import io.millrace.graph.Definition;
import io.millrace.graph.GraphChanges;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphException.VersionException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.Kill;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeFilter;
import io.millrace.graph.NodeForm;
import io.millrace.graph.NodeId;
import io.millrace.graph.Page;
import io.millrace.graph.Removal;
import io.millrace.graph.model.Change;
import io.millrace.graph.store.GraphCommits.Done;
import io.millrace.graph.store.GraphCommits.Operation;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The registry over a store; its parts do the work. */
final class StoreGraphRegistry implements GraphRegistry {
  private final GraphCommits commits;
  private final ReadModel readModel;
  private final Adding adding;
  private final DataReader reading;
  private final DataWriter putting;

  StoreGraphRegistry(StoredGraph.Parts parts, DataReader reading) {
    this.commits = parts.commits();
    this.readModel = parts.readModel();
    this.reading = reading;
    this.adding = new Adding(commits, parts.contents(), parts.inputs());
    this.putting = new DataWriter(commits, parts.contents(), parts.inputs());
  }

  /** Throws {@link VersionException} where a node is not of the version that somebody has seen. */
  static void checkVersion(GraphNode node, @Nullable Long expected) {
    if (expected != null && node.version() != expected) {
      throw new VersionException(
          "node " + node.id() + " has version " + node.version() + ", not " + expected);
    }
  }

  @Override
  public List<GraphNode> add(Caller caller, List<NodeForm> nodes, @Nullable Long expected) {
    return adding.add(caller, nodes, expected);
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
    Adding.checkName(name);
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
    return reading.nodes(filter, wanted);
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
    return reading.keys(id, wanted);
  }

  @Override
  public DataPage data(NodeId id, String key, @Nullable String view, int slot) {
    return reading.data(id, key, view, slot);
  }

  @Override
  public DataPage put(
      Caller caller, NodeId id, String key, DataWrite write, @Nullable Long expected) {
    return putting.put(caller, id, key, write, expected);
  }

  @Override
  public GraphChanges changes(@Nullable Long after) {
    return readModel.changes(after);
  }
}
