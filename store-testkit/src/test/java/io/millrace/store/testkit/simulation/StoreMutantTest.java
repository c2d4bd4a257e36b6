package io.millrace.store.testkit.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.testkit.mutation.Mutant;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;

/** Plants a fault for each promise that the simulation checks; it must notice every one. */
final class StoreMutantTest {
  private static final String JOURNAL = "io.millrace.store.journal.";

  /** A run of the simulation. */
  static final class StoreRun implements LongConsumer {
    @Override
    public void accept(long seed) {
      StoreSimulation.run(seed);
    }
  }

  @Test
  void a_lost_sync_is_noticed() {
    assertNoticed(Mutant.of(JOURNAL + "ActiveSegment", "sync").withoutCall("sync"), "x");
  }

  private static void assertNoticed(Mutant mutant, String message) {
    Mutant.Failure failure = mutant.firstFailure(40, StoreRun.class);
    assertThat(failure.failure()).hasMessageContaining(message);
  }
}
