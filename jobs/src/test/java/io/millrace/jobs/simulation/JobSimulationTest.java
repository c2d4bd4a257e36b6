package io.millrace.jobs.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Runs the seeds 1 to {@code -Dmillrace.simulation.jobSeeds}, or replays the one of {@code
 * -Dmillrace.simulation.seed}.
 */
final class JobSimulationTest {
  private static final long SEEDS = Long.getLong("millrace.simulation.jobSeeds", 40);

  @Test
  void jobs_keep_what_they_promise_through_crashes_and_broken_lines() {
    Long one = Long.getLong("millrace.simulation.seed");
    long last = one == null ? SEEDS : one;
    for (long seed = one == null ? 1 : one; seed <= last; seed++) {
      assertThat(JobSimulation.simulate(seed)).contains("starts");
    }
  }

  @Test
  void a_seed_gives_the_same_run_again() {
    assertThat(JobSimulation.simulate(7)).isEqualTo(JobSimulation.simulate(7));
  }
}
