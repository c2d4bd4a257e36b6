package io.millrace.cluster.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Runs the seeds 1 to {@code -Dmillrace.simulation.clusterSeeds}, 1,000 by default, or replays the
 * one of {@code -Dmillrace.simulation.seed}.
 */
final class ClusterSimulationTest {
  @Test
  void every_task_is_done_and_completed_once_through_all_trouble() {
    int refused = seeds().mapToInt(seed -> windowed(seed).refused()).sum();
    assertThat(refused).as("results that came too late, and were refused").isPositive();
  }

  @Test
  void supervised_work_is_spread_evenly_after_members_have_come_and_gone() {
    assertThat(seeds().mapToObj(ClusterSimulationTest::supervised)).doesNotContain("");
  }

  @Test
  void a_seed_gives_the_same_run_again() {
    assertThat(windowed(15).summary()).isEqualTo(windowed(15).summary());
  }

  private static LongStream seeds() {
    Long one = Long.getLong("millrace.simulation.seed");
    return one != null
        ? LongStream.of(one)
        : LongStream.rangeClosed(1, Long.getLong("millrace.simulation.clusterSeeds", 1000))
            .parallel();
  }

  private static WindowedSimulation windowed(long seed) {
    WindowedSimulation simulation = new WindowedSimulation(seed);
    try {
      simulation.run();
      return simulation;
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
    }
  }

  private static String supervised(long seed) {
    SupervisedSimulation simulation = new SupervisedSimulation(seed);
    try {
      simulation.run();
      return simulation.summary();
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
    }
  }
}
