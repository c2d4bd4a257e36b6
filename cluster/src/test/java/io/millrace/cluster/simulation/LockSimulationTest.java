package io.millrace.cluster.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.lock.LeaseTerms;
import java.time.Duration;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Runs the seeds 1 to {@code -Dmillrace.simulation.lockSeeds}, 1,000 by default, or replays the one
 * of {@code -Dmillrace.simulation.seed}.
 */
final class LockSimulationTest {
  private static final LeaseTerms TERMS = LeaseTerms.of(Duration.ofSeconds(2));
  private static final double ALMOST = 0.99;

  @Test
  void a_lock_has_one_holder_at_a_time_through_all_trouble() {
    int refused = seeds().mapToInt(seed -> simulate(seed, true).refused()).sum();
    assertThat(refused).as("writes that came too late, and were refused").isPositive();
  }

  @Test
  void without_pauses_nobody_is_inside_the_guard_beside_another() {
    assertThat(seeds().mapToInt(seed -> simulate(seed, false).writes()).boxed())
        .as("writes of each run")
        .allMatch(writes -> writes > 0);
  }

  @Test
  void without_the_margin_two_hold_a_lock_at_once() {
    LeaseTerms none = new LeaseTerms(TERMS.lease(), Duration.ZERO);
    assertThat(LongStream.rangeClosed(1, 200).filter(seed -> overlaps(seed, none)).findFirst())
        .as("a seed that shows it")
        .isPresent();
  }

  @Test
  void a_seed_gives_the_same_run_again() {
    assertThat(simulate(15, true).summary()).isEqualTo(simulate(15, true).summary());
  }

  private static LongStream seeds() {
    Long one = Long.getLong("millrace.simulation.seed");
    return one != null
        ? LongStream.of(one)
        : LongStream.rangeClosed(1, Long.getLong("millrace.simulation.lockSeeds", 1000)).parallel();
  }

  private static boolean overlaps(long seed, LeaseTerms terms) {
    try {
      new LockSimulation(seed, terms, ALMOST * TERMS.drift(), true).run();
      return false;
    } catch (AssertionError e) {
      return String.valueOf(e.getMessage()).contains("hold the lock at once");
    }
  }

  private static LockSimulation simulate(long seed, boolean pauses) {
    LockSimulation simulation = new LockSimulation(seed, TERMS, ALMOST * TERMS.drift(), pauses);
    try {
      simulation.run();
      return simulation;
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
    }
  }
}
