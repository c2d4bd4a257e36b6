package io.millrace.cli.queues;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.HttpBlobStore;
import io.millrace.cli.remote.ServerLocation;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.queues.runner.Connector;
import io.millrace.store.TaskStore;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A server as a task runner speaks to it. Safe for use by any number of threads. */
final class RunnerServer implements Connector.Connection {
  /** Short, since a runner tries again by itself as long as it must. */
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final ClientOptions options;
  private final HttpTaskStore store;
  private @Nullable HttpBlobStore blobs;

  /** The server there. */
  RunnerServer(ServerLocation location) {
    options = location.client(RETRY);
    store = HttpTaskStore.open(options);
  }

  @Override
  public TaskStore store() {
    return store;
  }

  /** Made when it is first asked for: short output needs none. */
  @Override
  public synchronized BlobStore blobs() {
    HttpBlobStore made = blobs;
    if (made == null) {
      made = HttpBlobStore.at(options.server(), options.token(), options.tls());
      blobs = made;
    }
    return made;
  }

  @Override
  public synchronized void close() {
    store.close();
    if (blobs != null) {
      blobs.close();
    }
  }
}
