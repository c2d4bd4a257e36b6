package io.millrace.cluster.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Runs the seeds 1 to {@code -Dmillrace.simulation.remoteSeeds}, 350 by default, or replays the one
 * of {@code -Dmillrace.simulation.seed}.
 */
final class RemoteSimulationTest {
  @Test
  void every_item_is_done_and_no_lambda_runs_twice_or_on_another_member_whatever_fails() {
    int runInVain = seeds().mapToInt(seed -> run(seed).runInVain()).sum();
    assertThat(runInVain).as("lambdas that timed out or were cancelled after all").isPositive();
  }

  @Test
  void a_seed_reproduces_its_run() {
    assertThat(run(15).summary()).isEqualTo(run(15).summary());
  }

  private static LongStream seeds() {
    Long one = Long.getLong("millrace.simulation.seed");
    return one != null
        ? LongStream.of(one)
        : LongStream.rangeClosed(1, Long.getLong("millrace.simulation.remoteSeeds", 350))
            .parallel();
  }

  private static RemoteSimulation run(long seed) {
    RemoteSimulation simulation = new RemoteSimulation(seed);
    try {
      simulation.run();
      return simulation;
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
    }
  }
}
