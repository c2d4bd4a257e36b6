package io.millrace.graph.store;

import io.millrace.graph.Definition.Kind;
import io.millrace.graph.GraphException.NodeStateException;
import io.millrace.graph.GraphException.UnknownNodeException;
import io.millrace.graph.GraphNode;
import io.millrace.graph.GraphWork;
import io.millrace.graph.Kill;
import io.millrace.graph.NodeId;
import io.millrace.graph.Outcome;
import io.millrace.graph.store.GraphCommits.Done;
import io.millrace.graph.store.NodeData.StoredValue;
import io.millrace.work.policy.EndedAttempt;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The graph of a store as its scheduler sees it. */
final class StoreGraphWork implements GraphWork {
  private final ReadModel readModel;
  private final DataReader reader;
  private final GraphCommits commits;
  private final ValueStore values;
  private final DataRules rules;
  private final StorePermits permits;

  StoreGraphWork(StoredGraph.Parts parts, DataReader reader, StorePermits permits) {
    this.readModel = parts.readModel();
    this.reader = reader;
    this.commits = parts.commits();
    this.values = parts.values();
    this.rules = parts.rules();
    this.permits = permits;
  }

  @Override
  public List<GraphNode> ready(String type, int most, long nowMillis) {
    return readModel.ready(type, most, nowMillis);
  }

  @Override
  public Map<NodeId, Long> readySince(List<NodeId> ids) {
    return readModel.readySince(ids);
  }

  @Override
  public OptionalLong nextDueMillis() {
    return readModel.nextDueMillis();
  }

  @Override
  public void expire(long nowMillis) {
    List<NodeId> expired = readModel.expired(nowMillis);
    if (expired.isEmpty()) {
      return;
    }
    var _ =
        commits.run(model -> {
          for (NodeId id : expired) {
            try {
              model.take(model.rules().expire(id, model.nowMillis()));
            } catch (UnknownNodeException | NodeStateException _) {
              // It has started or changed meanwhile.
            }
          }
          return expired;
        });
  }

  @Override
  public List<Item> running() {
    return readModel.running().stream()
        .filter(node -> node.definition().kind() != Kind.GROUP)
        .map(reader::item)
        .toList();
  }

  @Override
  public Map<NodeId, Kill> killing() {
    return readModel.killing();
  }

  @Override
  public List<Item> start(List<NodeId> ids) {
    return startReady(ids).stream().map(reader::item).toList();
  }

  @Override
  public void readOutputsFrom(Outputs outputs) {
    reader.readOutputsFrom(outputs);
  }

  @Override
  public void onChange(Runnable wake) {
    readModel.onChange(wake);
  }

  @Override
  public Permits permits() {
    return permits;
  }

  /** Starts the nodes that are ready, and returns them. */
  private List<GraphNode> startReady(List<NodeId> ids) {
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
      if (!permits.allows(model.node(id))) {
        return false;
      }
      model.take(model.rules().start(id, model.nowMillis()));
    } catch (UnknownNodeException | NodeStateException _) {
      return false;
    }
    GraphNode node = model.node(id);
    if (node.phase().attempt() > 1) {
      NodeData data = model.data(id);
      NodeData without = data.without(rules.written(node.definition()));
      if (!without.equals(data)) {
        model.replace(id, data, without);
      }
    }
    return true;
  }

  /**
   * The end of an attempt, with its output stored.
   *
   * @param log the end of its output; null for none, and if it has succeeded
   */
  private record Output(Ended ended, Map<String, StoredValue> values, @Nullable String log) {}

  /** The end of what an attempt wrote that did not succeed. */
  private static @Nullable String log(Ended ended) {
    return ended.outcome() instanceof Outcome.Finished
        ? null
        : Stream.of("stderr", "stdout")
            .flatMap(key -> Stream.ofNullable(ended.recordings().get(key)))
            .flatMap(tail -> Stream.ofNullable(tail.lastText(EndedAttempt.MAX_LOG)))
            .findFirst()
            .orElse(null);
  }

  @Override
  public void end(List<Ended> all) {
    try (ValueStore.Upload upload = values.upload()) {
      List<Output> outputs = new ArrayList<>(all.size());
      for (Ended ended : all) {
        Map<String, StoredValue> stored = new HashMap<>();
        ended.values().forEach((key, value) -> stored.put(key, upload.value(value)));
        ended.recordings().forEach((key, tail) -> stored.put(key, upload.recording(tail)));
        String view = StoredValue.viewOf(ended.attempt());
        stored.replaceAll((_, value) -> value.seenAs(view));
        outputs.add(new Output(ended, stored, log(ended)));
      }
      var _ =
          commits.run(model -> {
            outputs.forEach(output -> end(model, output));
            return outputs;
          });
    }
  }

  private static void end(WriteModel model, Output output) {
    Ended ended = output.ended();
    NodeId id = ended.id();
    try {
      model.take(
          model.rules().end(id, ended.attempt(), ended.outcome(), output.log(), model.nowMillis()));
    } catch (UnknownNodeException | NodeStateException _) {
      return;
    }
    if (!output.values().isEmpty()) {
      NodeData data = model.data(id);
      model.replace(id, data, data.with(output.values()));
    }
  }
}
