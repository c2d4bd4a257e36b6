package io.millrace.store.testkit.contract;

import io.millrace.store.Limits;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.nio.file.Path;
import java.time.Duration;

/** The store of this process in a simulated environment: nothing in it waits. */
public final class EmbeddedFixture implements StoreFixture {
  private final SimulatedEnvironment environment;
  private final StoreOptions options;
  private TaskStore store;

  /** An empty strict store with {@link StoreFixture#SMALL_LIMITS}, drawn from {@code seed}. */
  public EmbeddedFixture(long seed) {
    environment = new SimulatedEnvironment(seed);
    options =
        StoreOptions.in(Path.of("store")).withLimits(SMALL_LIMITS).withEnvironment(environment);
    store = TaskStore.open(options);
  }

  @Override
  public TaskStore store() {
    return store;
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
    store.close();
    store = TaskStore.open(options);
    return store;
  }

  @Override
  public Limits limits() {
    return SMALL_LIMITS;
  }

  @Override
  public void close() {
    store.close();
  }
}
