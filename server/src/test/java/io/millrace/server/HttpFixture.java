package io.millrace.server;

import io.millrace.client.HttpTaskStore;
import io.millrace.server.config.Configuration;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.contract.StoreFixture;
import io.millrace.store.testkit.environment.SettableTimeEnvironment;
import io.millrace.store.testkit.environment.SimulatedDisk;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** A started server on a store whose time the test moves, and the HTTP client of that store. */
public final class HttpFixture implements StoreFixture {
  private final Path blobs;
  private final SettableTimeEnvironment environment =
      new SettableTimeEnvironment(1, new SimulatedDisk(new SplittableRandom(1)));
  private final Traffic submissions = new Traffic();
  private final Traffic cancellations = new Traffic();
  private final Traffic unsubscriptions = new Traffic();
  private MillraceServer server;
  private TaskStore client;

  public HttpFixture(Path blobs) {
    this.blobs = blobs;
    server = serve();
    client = connect();
  }

  private MillraceServer serve() {
    Configuration configuration =
        Configuration.read(
            MillraceServer.SECTIONS,
            null,
            Map.of(
                "server.port", "0",
                "blobs.data", blobs.toString(),
                // Tests of positions count commits, to which the audit log would add its own.
                "audit.enabled", "false",
                // Sweeping is for the test, by its own clock.
                "queues.sweep-interval", "1h",
                "queues.keep-finished", "1000000h"));
    AtomicReference<EmbeddedTaskStore> store = new AtomicReference<>();
    MillraceServer started =
        MillraceServer.start(configuration, _ -> store.updateAndGet(_ -> open()));
    // Those of the server open beside its start, and would take the place of a test's.
    while (store.get().status().subscribers() < ownSubscriptions()) {
      LockSupport.parkNanos(1_000_000);
    }
    return started;
  }

  private EmbeddedTaskStore open() {
    StoreOptions options =
        StoreOptions.in(Path.of("store")).withLimits(SMALL_LIMITS).withEnvironment(environment);
    return new ObservedStore(submissions::got, cancellations::got, unsubscriptions::got)
        .of(EmbeddedTaskStore.class, TaskStore.open(options));
  }

  private TaskStore connect() {
    URI address = URI.create("http://127.0.0.1:" + server.port());
    return new ObservedStore(submissions::sent, cancellations::sent, unsubscriptions::sent)
        .of(TaskStore.class, HttpTaskStore.open(address));
  }

  @Override
  public TaskStore store() {
    return client;
  }

  @Override
  public void settle() {
    submissions.settle();
    cancellations.settle();
    unsubscriptions.settle();
  }

  @Override
  public boolean movesTime() {
    return true;
  }

  @Override
  public void advance(Duration time) {
    environment.advance(time);
  }

  @Override
  public boolean restarts() {
    return true;
  }

  @Override
  public TaskStore restart() {
    close();
    server = serve();
    client = connect();
    return client;
  }

  /** All requests of one server come under the principal of its credentials. */
  @Override
  public boolean severalPrincipals() {
    return false;
  }

  /** The schedules and the metrics of the server follow the store. */
  @Override
  public int ownSubscriptions() {
    return 2;
  }

  @Override
  public Limits limits() {
    return SMALL_LIMITS;
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }
}
