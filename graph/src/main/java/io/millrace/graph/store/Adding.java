package io.millrace.graph.store;

import io.millrace.graph.Caller;
import io.millrace.graph.Definition;
import io.millrace.graph.GraphException.InvalidGraphException;
import io.millrace.graph.GraphException.VersionException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.NewNode;
import io.millrace.graph.NodeForm;
import io.millrace.graph.NodeId;
import io.millrace.graph.model.Change;
import io.millrace.graph.store.GraphCommits.Done;
import io.millrace.graph.type.NodeType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Adds nodes. */
final class Adding {
  /** The most nodes of one request. */
  static final int MOST_NODES = 10_000;

  /** The most characters of a name. */
  static final int MOST_NAME = 128;

  private final GraphCommits commits;
  private final ValueStore contents;
  private final DataRules inputs;

  Adding(GraphCommits commits, ValueStore contents, DataRules inputs) {
    this.commits = commits;
    this.contents = contents;
    this.inputs = inputs;
  }

  List<GraphNode> add(Caller caller, List<NodeForm> forms, @Nullable Long expected) {
    if (forms.size() > MOST_NODES) {
      throw new InvalidGraphException(
          forms.size() + " nodes are too many for one request; up to " + MOST_NODES + " go in one");
    }
    if (forms.isEmpty()) {
      return List.of();
    }
    try (Upload upload = contents.upload()) {
      List<NewNode> nodes = new ArrayList<>(forms.size());
      List<NodeData> data = new ArrayList<>(forms.size());
      for (NodeForm form : forms) {
        try {
          nodes.add(check(form));
          data.add(store(form, upload));
        } catch (InvalidGraphException e) {
          int number = data.size() + 1;
          throw new InvalidGraphException("new node " + number + ": " + e.getMessage());
        }
      }
      Done<List<NodeId>> done =
          commits.run(model -> {
            checkVersion(model.version(), expected);
            return add(model, caller, nodes, forms, data);
          });
      Map<NodeId, GraphNode> added = new HashMap<>();
      done.event().changed().forEach(node -> added.put(node.id(), node));
      return done.value().stream().map(id -> Objects.requireNonNull(added.get(id))).toList();
    }
  }

  private static void checkVersion(long version, @Nullable Long expected) {
    if (expected != null && version != expected) {
      throw new VersionException("the graph has version " + version + ", not " + expected);
    }
  }

  private NewNode check(NodeForm form) {
    NodeType type = inputs.type(form.type());
    checkName(form.name());
    checkName(form.local());
    for (String key : form.data().keySet()) {
      DataRules.checkKey(key);
      if (type.outputs().contains(key)) {
        throw new InvalidGraphException("\"" + key + "\" is written by the node itself");
      }
    }
    NewNode node = new NewNode(form.local(), form.type(), type.kind(), form.place(), form.always());
    form.data()
        .forEach((key, value) -> {
          if (type.inputs().contains(key)) {
            DataRules.checkSize(key, value);
          }
        });
    inputs.check(
        new Definition(form.type(), type.kind(), List.of(), List.of(), null, false), form.data());
    return node;
  }

  /** Looks at what people call a node, or throws {@link InvalidGraphException}. */
  static void checkName(@Nullable String name) {
    if (name != null && (name.isEmpty() || name.length() > MOST_NAME)) {
      throw new InvalidGraphException(
          "a name has 1 to " + MOST_NAME + " characters, not " + name.length());
    }
  }

  private static NodeData store(NodeForm form, Upload upload) {
    Map<String, StoredValue> values = new HashMap<>();
    form.data().forEach((key, value) -> values.put(key, upload.value(value)));
    NodeData data = NodeData.EMPTY.with(values);
    data.check();
    return data;
  }

  private static List<NodeId> add(
      WriteModel model,
      Caller caller,
      List<NewNode> nodes,
      List<NodeForm> forms,
      List<NodeData> data) {
    Permissions permissions = Permissions.of(caller, model);
    permissions.checkNamed(nodes);
    List<Change.Added> added = new ArrayList<>(nodes.size());
    long now = model.nowMillis();
    for (Change change : model.rules().add(nodes, model.next())) {
      if (change instanceof Change.Added it) {
        String name = forms.get(added.size()).name();
        added.add(new Change.Added(it.id(), it.definition(), it.phase(), name, now));
      }
    }
    permissions.checkPlaces(added);
    model.take(List.copyOf(added));
    String view = StoredValue.viewOf(model.version());
    for (int i = 0; i < added.size(); i++) {
      model.add(added.get(i).id(), data.get(i).seenAs(view));
    }
    return added.stream().map(Change.Added::id).toList();
  }
}
