package io.millrace.cluster.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.lock.LeaseTerms;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Runs the seeds 1 to {@code -Dmillrace.simulation.clusterSeeds}, 350 by default, or replays the
 * one of {@code -Dmillrace.simulation.seed}.
 */
final class ClusterSimulationTest {
  private static final long SEEDS = Long.getLong("millrace.simulation.clusterSeeds", 350);

  @Test
  void every_task_is_done_and_completed_whatever_fails() {
    int refused = seeds().mapToInt(seed -> windowed(seed).refused()).sum();
    assertThat(refused).as("results that came too late, and were refused").isPositive();
  }

  @Test
  void supervised_work_is_divided_evenly_after_members_have_joined_and_left() {
    assertThat(seeds().mapToObj(ClusterSimulationTest::supervised)).doesNotContain("");
  }

  @Test
  void supervised_work_runs_again_within_three_leases_of_the_death_of_the_leader() {
    assertThat(seeds(SEEDS / 5).mapToObj(ClusterSimulationTest::afterACrash)).doesNotContain("");
  }

  @Test
  void supervised_work_stalls_for_at_most_lease_margin_and_two_seconds_after_a_death() {
    assertThat(seeds(SEEDS / 5).mapToObj(ClusterSimulationTest::supervisedStall))
        .doesNotContain("");
  }

  @Test
  void the_tasks_of_a_dead_member_are_done_within_lease_margin_and_two_seconds() {
    assertThat(seeds(SEEDS / 5).mapToObj(ClusterSimulationTest::windowedStall)).doesNotContain("");
  }

  @Test
  void a_seed_reproduces_its_run() {
    assertThat(windowed(15).summary()).isEqualTo(windowed(15).summary());
  }

  private static LongStream seeds() {
    return seeds(SEEDS);
  }

  private static LongStream seeds(long max) {
    Long one = Long.getLong("millrace.simulation.seed");
    return one != null ? LongStream.of(one) : LongStream.rangeClosed(1, max).parallel();
  }

  private static WindowedSimulation windowed(long seed) {
    return judged(
        seed,
        () -> {
          WindowedSimulation simulation = new WindowedSimulation(seed);
          simulation.run();
          return simulation;
        });
  }

  private static String supervised(long seed) {
    return judged(
        seed,
        () -> {
          SupervisedSimulation simulation = new SupervisedSimulation(seed, ClusterSimulation.TERMS);
          simulation.run();
          return simulation.summary();
        });
  }

  private static String afterACrash(long seed) {
    return judged(
        seed,
        () -> {
          SupervisedSimulation simulation = new SupervisedSimulation(seed, LeaseTerms.DEFAULT);
          simulation.requireNoLongStall();
          return simulation.summary();
        });
  }

  private static String supervisedStall(long seed) {
    return judged(
        seed,
        () -> {
          SupervisedSimulation simulation = new SupervisedSimulation(seed, LeaseTerms.DEFAULT);
          simulation.requireShortStall();
          return simulation.summary();
        });
  }

  private static String windowedStall(long seed) {
    return judged(
        seed,
        () -> {
          WindowedSimulation simulation = new WindowedSimulation(seed, LeaseTerms.DEFAULT);
          simulation.requireShortStall();
          return simulation.summary();
        });
  }

  private static <T> T judged(long seed, Supplier<T> run) {
    try {
      return run.get();
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
    }
  }
}
