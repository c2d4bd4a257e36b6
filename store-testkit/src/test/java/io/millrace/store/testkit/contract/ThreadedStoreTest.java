package io.millrace.store.testkit.contract;

import io.millrace.store.Limits;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.environment.SettableTimeEnvironment;
import io.millrace.store.testkit.environment.SimulatedDisk;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;

/** The same store under real threads. */
final class ThreadedStoreTest extends TaskStoreContract {
  @Override
  protected StoreFixture newFixture() {
    return new Fixture();
  }

  private static final class Fixture implements StoreFixture {
    private final SettableTimeEnvironment environment =
        new SettableTimeEnvironment(1, new SimulatedDisk(new SplittableRandom(1)));
    private final StoreOptions options =
        StoreOptions.in(Path.of("store")).withLimits(SMALL_LIMITS).withEnvironment(environment);
    private TaskStore store = TaskStore.open(options);

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
}
