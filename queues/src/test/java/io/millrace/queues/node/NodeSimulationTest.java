package io.millrace.queues.node;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Runs the seeds 1 to {@code -Dmillrace.simulation.nodeSeeds}, 50 by default, or replays the one of
 * {@code -Dmillrace.simulation.seed}.
 */
final class NodeSimulationTest {
  @Test
  void a_hundred_nodes_keep_the_promises_of_queues_through_all_trouble() {
    Long one = Long.getLong("millrace.simulation.seed");
    long first = one == null ? 1 : one;
    long last = one == null ? Long.getLong("millrace.simulation.nodeSeeds", 50) : one;
    for (long seed = first; seed <= last; seed++) {
      assertThat(simulate(seed)).isNotEmpty();
    }
  }

  private static String simulate(long seed) {
    NodeSimulation simulation = new NodeSimulation(seed);
    try {
      simulation.run();
      return simulation.summary();
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
    }
  }
}
