package io.millrace.graph;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.FileBlobStore;
import io.millrace.store.Limits;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import io.millrace.store.testkit.line.FaultyStore;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BooleanSupplier;
import tools.jackson.databind.JsonNode;

/** A graph over a store in a simulation, with a clock that the test moves. */
final class GraphFixture implements AutoCloseable {
  private final StoreOptions options;
  private final BlobStore blobs;
  private final Portion portion;
  private TaskStore store;
  private StoredGraph graph;
  private long millis = Instant.parse("2026-01-02T03:04:05Z").toEpochMilli();
  private long seed = 1;
  private BooleanSupplier lineBreaks = () -> false;

  GraphFixture(Path folder) {
    this(folder, Portion.DEFAULT, Limits.defaults());
  }

  GraphFixture(Path folder, Portion portion, Limits limits) {
    this.options =
        StoreOptions.in(Path.of("store"))
            .withLimits(limits)
            .withEnvironment(new SimulatedEnvironment(1));
    this.blobs = FileBlobStore.open(folder);
    this.portion = portion;
    this.store = TaskStore.open(options);
    this.graph = open();
  }

  private StoredGraph open() {
    TaskStore line = FaultyStore.breaking(() -> store, () -> lineBreaks.getAsBoolean());
    GraphEnvironment environment =
        new GraphEnvironment(() -> Instant.ofEpochMilli(millis), new Random(++seed));
    return StoredGraph.open(line, blobs, TestType.ALL, environment, portion);
  }

  /** Closes the store, and opens all again. */
  void restart() {
    store.close();
    store = TaskStore.open(options);
    lineBreaks = () -> false;
    graph = open();
  }

  /** From now on the line between graph and store breaks when this says so. */
  void breakLine(BooleanSupplier when) {
    lineBreaks = when;
  }

  StoredGraph graph() {
    return graph;
  }

  GraphRegistry registry() {
    return graph.registry();
  }

  GraphWork work() {
    return graph.work();
  }

  TaskStore store() {
    return store;
  }

  BlobStore blobs() {
    return blobs;
  }

  long nowMillis() {
    return millis;
  }

  void advance(Duration time) {
    millis += time.toMillis();
  }

  static NodeForm form(String type, NodeId... parents) {
    return form(type, new NewNode.Place(Drive.refs(parents), List.of(), null));
  }

  static NodeForm form(String type, NewNode.Place place) {
    return new NodeForm(null, null, type, place, false, Map.of());
  }

  static NodeForm with(NodeForm form, Map<String, JsonNode> data) {
    return new NodeForm(form.local(), form.name(), form.type(), form.place(), form.always(), data);
  }

  List<NodeId> add(NodeForm... forms) {
    return registry().add(Caller.ANYONE, Arrays.asList(forms)).stream().map(GraphNode::id).toList();
  }

  NodeId addOne(String type, NodeId... parents) {
    return add(form(type, parents)).getFirst();
  }

  GraphNode node(NodeId id) {
    return registry().node(id).orElseThrow();
  }

  NodeState state(NodeId id) {
    return node(id).state();
  }

  void start(NodeId... ids) {
    var _ = work().start(List.of(ids));
  }

  void end(NodeId id, Outcome outcome) {
    end(id, outcome, Map.of(), Map.of());
  }

  void end(NodeId id, Outcome outcome, Map<String, JsonNode> values, Map<String, Tail> recordings) {
    int attempt = node(id).phase().attempt();
    work().end(List.of(new GraphWork.Ended(id, attempt, outcome, values, recordings)));
  }

  void finish(NodeId id) {
    start(id);
    end(id, new Outcome.Finished(null));
  }

  void fail(NodeId id) {
    start(id);
    end(id, new Outcome.Failed("it broke"));
  }

  @Override
  public void close() {
    store.close();
  }
}
