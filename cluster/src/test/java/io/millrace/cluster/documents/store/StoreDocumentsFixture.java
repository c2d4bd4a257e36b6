package io.millrace.cluster.documents.store;

import io.millrace.cluster.documents.DocumentsFixture;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.environment.SettableTimeEnvironment;
import io.millrace.store.testkit.environment.SimulatedDisk;
import java.nio.file.Path;
import java.util.SplittableRandom;

/** Documents in a store in this process, with a disk in memory. */
final class StoreDocumentsFixture implements DocumentsFixture {
  private final EmbeddedTaskStore store = newStore();

  private static EmbeddedTaskStore newStore() {
    SettableTimeEnvironment environment =
        new SettableTimeEnvironment(1, new SimulatedDisk(new SplittableRandom(1)));
    return TaskStore.open(StoreOptions.in(Path.of("store")).withEnvironment(environment));
  }

  @Override
  public VersionedDocuments open() {
    return StoreDocuments.of(store);
  }

  @Override
  public VersionedDocuments unreachable() {
    EmbeddedTaskStore stopped = newStore();
    stopped.close();
    return StoreDocuments.of(stopped);
  }

  @Override
  public void close() {
    store.close();
  }
}
