package io.millrace.journal.shared;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Three servers on one simulated database or bucket keep the guarantees of one. */
final class SharedStoreSimulationTest {
  private static final String MINUTES = "millrace.simulation.minutes";

  @ParameterizedTest
  @MethodSource("seeds")
  void what_clients_are_told_is_what_the_database_has(long seed) {
    SharedStoreSimulation.run(seed, SimulatedDatabase::new);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void what_clients_are_told_is_what_the_bucket_has(long seed) {
    SharedStoreSimulation.run(seed, SimulatedBucket::new);
  }

  static LongStream seeds() {
    long first = Long.getLong("millrace.simulation.seed", 1);
    return LongStream.range(first, first + Integer.getInteger("millrace.simulation.seeds", 500));
  }

  /** Ten minutes with {@code -Pfull}. Fresh seeds are never those of another run. */
  @Test
  @EnabledIfSystemProperty(named = MINUTES, matches = "[1-9][0-9]*")
  void fresh_seeds_find_nothing() {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(Long.getLong(MINUTES));
    long first = System.currentTimeMillis() << 20;
    long seed = first;
    for (; System.nanoTime() < end; seed++) {
      SharedStoreSimulation.run(seed, SimulatedDatabase::new);
      SharedStoreSimulation.run(seed, SimulatedBucket::new);
    }
    assertThat(seed).as("the number after the last seed").isGreaterThan(first);
  }
}
