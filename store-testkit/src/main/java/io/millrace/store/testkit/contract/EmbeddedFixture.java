package io.millrace.store.testkit.contract;

import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Limits;
import io.millrace.store.TaskStore;
import io.millrace.store.environment.Environment;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;

/** A store in this process, in an environment with settable time. */
public final class EmbeddedFixture implements StoreFixture {
  private final Consumer<Duration> time;
  private final StoreOptions options;
  private TaskStore store;

  /**
   * An empty strict store with {@link StoreFixture#SMALL_LIMITS} in a simulated environment with
   * this seed.
   */
  public EmbeddedFixture(long seed) {
    this(new SimulatedEnvironment(seed));
  }

  private EmbeddedFixture(SimulatedEnvironment environment) {
    this(environment, environment::advance);
  }

  /**
   * An empty strict store with {@link StoreFixture#SMALL_LIMITS}.
   *
   * @param environment its environment, with an empty disk
   * @param time advances the time of the environment
   */
  public EmbeddedFixture(Environment environment, Consumer<Duration> time) {
    this.time = time;
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
    this.time.accept(time);
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
