package io.millrace.graph.store;

import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphWork;
import io.millrace.graph.NodeId;
import io.millrace.graph.store.GraphCommits.Done;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Starts and ends attempts. */
final class Ending {
  private final GraphCommits commits;
  private final ValueStore contents;
  private final DataRules inputs;

  Ending(GraphCommits commits, ValueStore contents, DataRules inputs) {
    this.commits = commits;
    this.contents = contents;
    this.inputs = inputs;
  }

  /** Starts those that are ready, and gives them. */
  List<GraphNode> start(List<NodeId> ids) {
    Done<List<NodeId>> done =
        commits.run(model -> {
          List<NodeId> started = new ArrayList<>();
          for (NodeId id : ids) {
            if (isStarted(model, id)) {
              started.add(id);
            }
          }
          return started;
        });
    Map<NodeId, GraphNode> nodes = new HashMap<>();
    done.event().changed().forEach(node -> nodes.put(node.id(), node));
    return done.value().stream().flatMap(id -> Stream.ofNullable(nodes.get(id))).toList();
  }

  private boolean isStarted(WriteModel model, NodeId id) {
    try {
      model.take(model.rules().start(id, model.nowMillis()));
    } catch (UnknownNodeException | NodeStateException _) {
      return false;
    }
    GraphNode node = model.node(id);
    if (node.phase().attempt() > 1) {
      NodeData data = model.data(id);
      NodeData without = data.without(inputs.written(node.definition()));
      if (!without.equals(data)) {
        model.replace(id, data, without);
      }
    }
    return true;
  }

  /** What an attempt left, stored. */
  private record Output(GraphWork.Ended ended, Map<String, StoredValue> values) {}

  void end(List<GraphWork.Ended> all) {
    try (Upload upload = contents.upload()) {
      List<Output> outputs = new ArrayList<>(all.size());
      for (GraphWork.Ended ended : all) {
        Map<String, StoredValue> values = new HashMap<>();
        ended.values().forEach((key, value) -> values.put(key, upload.value(value)));
        ended.recordings().forEach((key, tail) -> values.put(key, upload.recording(tail)));
        String view = StoredValue.viewOf(ended.attempt());
        values.replaceAll((_, value) -> value.seenAs(view));
        outputs.add(new Output(ended, values));
      }
      var _ =
          commits.run(model -> {
            outputs.forEach(output -> end(model, output));
            return outputs;
          });
    }
  }

  private static void end(WriteModel model, Output output) {
    GraphWork.Ended ended = output.ended();
    NodeId id = ended.id();
    try {
      model.take(model.rules().end(id, ended.attempt(), ended.outcome(), model.nowMillis()));
    } catch (UnknownNodeException | NodeStateException _) {
      return;
    }
    if (!output.values().isEmpty()) {
      NodeData data = model.data(id);
      model.replace(id, data, data.with(output.values()));
    }
  }
}
