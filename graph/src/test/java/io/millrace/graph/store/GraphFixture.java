package io.millrace.graph.store;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.FileBlobStore;
import io.millrace.graph.GraphAccess;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphWork;
import io.millrace.graph.TestType;
import io.millrace.graph.store.GraphSession.TransactionLimits;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.environment.FaultyStore;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import java.util.function.BooleanSupplier;

/** A graph over a store in a simulation, with a clock that the test moves. */
final class GraphFixture implements GraphAccess {
  private final SimulatedEnvironment environment = new SimulatedEnvironment(1);
  private final StoreOptions options;
  private final BlobStore blobs;
  private final TransactionLimits limits;
  private TaskStore store;
  private StoredGraph graph;
  private long millis = Instant.parse("2026-01-02T03:04:05Z").toEpochMilli();
  private long seed = 1;
  private BooleanSupplier lineBreaks = () -> false;

  GraphFixture(Path folder) {
    this(folder, TransactionLimits.DEFAULT, Limits.defaults());
  }

  GraphFixture(Path folder, TransactionLimits limits, Limits storeLimits) {
    this.options =
        StoreOptions.in(Path.of("store")).withLimits(storeLimits).withEnvironment(environment);
    this.blobs = FileBlobStore.open(folder);
    this.limits = limits;
    this.store = TaskStore.open(options);
    this.graph = open();
  }

  private StoredGraph open() {
    TaskStore line = FaultyStore.breaking(() -> store, () -> lineBreaks.getAsBoolean());
    return StoredGraph.open(line, blobs, TestType.ALL, this::now, new Random(++seed), limits);
  }

  /** Closes the store, and opens all again. */
  void restart() {
    store.close();
    store = TaskStore.open(options);
    lineBreaks = () -> false;
    graph = open();
  }

  /** Cuts the power at so many operations of the disk from now. */
  void cutPowerAfter(long operations) {
    environment.disk().cutPowerAfter(operations);
  }

  /** The power goes, if it has not gone, and comes back; what was not synced may be lost. */
  void crash() {
    environment.cutPower();
    store = TaskStore.open(options);
    graph = open();
  }

  /** From now on the line between graph and store breaks when this says so. */
  void breakLine(BooleanSupplier when) {
    lineBreaks = when;
  }

  /** Another graph over the same store, as of another process. */
  StoredGraph another() {
    return open();
  }

  StoredGraph graph() {
    return graph;
  }

  @Override
  public GraphRegistry registry() {
    return graph.registry();
  }

  @Override
  public GraphWork work() {
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

  Instant now() {
    return Instant.ofEpochMilli(millis);
  }

  void advance(Duration time) {
    millis += time.toMillis();
  }

  @Override
  public void close() {
    store.close();
  }
}
