package io.millrace.store.testkit.contract;

import io.millrace.store.testkit.environment.SettableTimeEnvironment;
import io.millrace.store.testkit.environment.SimulatedDisk;
import java.util.SplittableRandom;

/** The same store under real threads. */
final class ThreadedStoreTest extends TaskStoreContract {
  @Override
  protected StoreFixture newFixture() {
    SettableTimeEnvironment environment =
        new SettableTimeEnvironment(1, new SimulatedDisk(new SplittableRandom(1)));
    return new EmbeddedFixture(environment, environment::advance);
  }
}
