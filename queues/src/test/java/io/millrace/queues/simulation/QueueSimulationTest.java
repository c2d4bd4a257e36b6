package io.millrace.queues.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Runs the simulation of queues; {@code -Dmillrace.simulation.seed} repeats a seed, {@code
 * -Dmillrace.simulation.queueSeeds} says how many are run.
 */
final class QueueSimulationTest {
  private static final long SEEDS = Long.getLong("millrace.simulation.queueSeeds", 12);

  @Test
  void queues_keep_what_they_promise_through_crashes_and_broken_lines() {
    Long one = Long.getLong("millrace.simulation.seed");
    long last = one == null ? SEEDS : one;
    for (long seed = one == null ? 1 : one; seed <= last; seed++) {
      assertThat(QueueSimulation.simulate(seed)).contains("starts");
    }
  }

  @Test
  void a_seed_gives_the_same_run_again() {
    assertThat(QueueSimulation.simulate(7)).isEqualTo(QueueSimulation.simulate(7));
  }
}
