package io.millrace.journal.sql;

import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Three servers on one simulated database keep the guarantees of one. */
final class SharedStoreSimulationTest {
  @ParameterizedTest
  @MethodSource("seeds")
  void what_clients_are_told_is_what_the_database_has(long seed) {
    SharedStoreSimulation.run(seed);
  }

  static LongStream seeds() {
    long first = Long.getLong("millrace.simulation.seed", 1);
    return LongStream.range(first, first + Integer.getInteger("millrace.simulation.seeds", 1_000));
  }
}
