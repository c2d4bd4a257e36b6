package io.millrace.cluster.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.lock.LeaseTerms;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Runs the seeds 1 to {@code -Dmillrace.simulation.lockSeeds}, 1,000 by default, or replays the one
 * of {@code -Dmillrace.simulation.seed}.
 */
final class LockSimulationTest {
  private static final LeaseTerms TERMS = ClusterSimulation.TERMS;
  private static final int PERMITS = 2;

  @Test
  void a_lock_has_one_holder_at_a_time_through_all_trouble() {
    int refused = seeds().mapToInt(seed -> simulate(seed, true, Prize.lock()).refused()).sum();
    assertThat(refused).as("writes that came too late, and were refused").isPositive();
  }

  @Test
  void a_lock_for_which_members_queue_up_has_one_holder_at_a_time_through_all_trouble() {
    assertThat(seeds().map(seed -> simulate(seed, true, Prize.namedLock()).writes()).boxed())
        .allMatch(writes -> writes > 0);
  }

  @Test
  void without_pauses_nobody_is_inside_the_guard_beside_another() {
    assertThat(seeds().mapToInt(seed -> simulate(seed, false, Prize.lock()).writes()).boxed())
        .as("writes of each run")
        .allMatch(writes -> writes > 0);
  }

  @Test
  void without_the_margin_two_hold_a_lock_at_once() {
    LeaseTerms none = new LeaseTerms(TERMS.lease(), Duration.ZERO);
    assertThat(
            LongStream.rangeClosed(1, 200)
                .filter(seed -> overlaps(seed, none, Prize.lock()))
                .findFirst())
        .as("a seed that shows it")
        .isPresent();
  }

  @Test
  void a_permit_has_one_holder_at_a_time_through_all_trouble_and_comes_back_after_a_crash() {
    int refused =
        seeds().mapToInt(seed -> simulate(seed, true, Prize.semaphore(PERMITS)).refused()).sum();
    assertThat(refused).as("writes that came too late, and were refused").isPositive();
  }

  @Test
  void without_the_margin_two_hold_a_permit_at_once() {
    Prize prize = Prize.semaphore(PERMITS);
    LeaseTerms none = new LeaseTerms(TERMS.lease(), Duration.ZERO);
    assertThat(
            LongStream.rangeClosed(1, 200).filter(seed -> overlaps(seed, none, prize)).findFirst())
        .as("a seed that shows it")
        .isPresent();
  }

  @Test
  void a_seed_gives_the_same_run_again() {
    for (Prize prize : List.of(Prize.lock(), Prize.namedLock(), Prize.semaphore(PERMITS))) {
      assertThat(simulate(15, true, prize).summary())
          .isEqualTo(simulate(15, true, prize).summary());
    }
  }

  private static LongStream seeds() {
    Long one = Long.getLong("millrace.simulation.seed");
    return one != null
        ? LongStream.of(one)
        : LongStream.rangeClosed(1, Long.getLong("millrace.simulation.lockSeeds", 1000)).parallel();
  }

  private static boolean overlaps(long seed, LeaseTerms terms, Prize prize) {
    try {
      new LockSimulation(seed, terms, ClusterSimulation.ALMOST * TERMS.drift(), true, prize).run();
      return false;
    } catch (AssertionError e) {
      return String.valueOf(e.getMessage()).contains("hold the lock at once");
    }
  }

  private static LockSimulation simulate(long seed, boolean pauses, Prize prize) {
    LockSimulation simulation = LockSimulation.of(seed, pauses, prize);
    try {
      simulation.run();
      return simulation;
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
    }
  }
}
