package io.millrace.server;

import io.millrace.store.DiskState;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Position;
import io.millrace.store.Read;
import io.millrace.store.StoreStatus;
import java.io.OutputStream;
import java.util.concurrent.CompletableFuture;

/** An {@link ObservedStore} of this process. */
final class ObservedEmbeddedStore extends ObservedStore implements EmbeddedTaskStore {
  private final EmbeddedTaskStore store;

  ObservedEmbeddedStore(
      EmbeddedTaskStore store, Runnable submitted, Runnable cancelled, Runnable unsubscribed) {
    super(store, submitted, cancelled, unsubscribed);
    this.store = store;
  }

  @Override
  public long timeAheadMillis() {
    return store.timeAheadMillis();
  }

  @Override
  public StoreStatus status() {
    return store.status();
  }

  @Override
  public DiskState disk() {
    return store.disk();
  }

  @Override
  public CompletableFuture<Throwable> stopped() {
    return store.stopped();
  }

  @Override
  public Position backup(OutputStream target) {
    return store.backup(target);
  }

  @Override
  public void requestSnapshot() {
    store.requestSnapshot();
  }

  @Override
  public Read<String> digest() {
    return store.digest();
  }
}
