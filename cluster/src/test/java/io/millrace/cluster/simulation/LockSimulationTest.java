package io.millrace.cluster.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.lock.LeaseTerms;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Runs the seeds 1 to {@code -Dmillrace.simulation.lockSeeds}, 350 by default, or replays the one
 * of {@code -Dmillrace.simulation.seed}.
 */
final class LockSimulationTest {
  private static final LeaseTerms TERMS = ClusterSimulation.TERMS;
  private static final int PERMITS = 2;

  @Test
  void a_lock_has_one_holder_at_a_time_whatever_fails() {
    int refused =
        seeds().mapToInt(seed -> simulate(seed, true, ContendedLocks.lock()).refused()).sum();
    assertThat(refused).as("writes that came too late, and were refused").isPositive();
  }

  @Test
  void a_lock_with_a_queue_has_one_holder_at_a_time_whatever_fails() {
    assertThat(
            seeds().map(seed -> simulate(seed, true, ContendedLocks.namedLock()).writes()).boxed())
        .allMatch(writes -> writes > 0);
  }

  @Test
  void without_pauses_no_two_processes_are_inside_the_guard() {
    assertThat(
            seeds().mapToInt(seed -> simulate(seed, false, ContendedLocks.lock()).writes()).boxed())
        .as("writes of each run")
        .allMatch(writes -> writes > 0);
  }

  @Test
  void without_the_margin_two_hold_a_lock_at_once() {
    LeaseTerms none = new LeaseTerms(TERMS.lease(), Duration.ZERO);
    assertThat(
            LongStream.rangeClosed(1, 200)
                .filter(seed -> overlaps(seed, none, ContendedLocks.lock()))
                .findFirst())
        .as("a seed that shows it")
        .isPresent();
  }

  @Test
  void a_permit_has_one_holder_at_a_time_whatever_fails_and_is_taken_again_after_a_crash() {
    int refused =
        seeds()
            .mapToInt(seed -> simulate(seed, true, ContendedLocks.semaphore(PERMITS)).refused())
            .sum();
    assertThat(refused).as("writes that came too late, and were refused").isPositive();
  }

  @Test
  void without_the_margin_two_hold_a_permit_at_once() {
    ContendedLocks contended = ContendedLocks.semaphore(PERMITS);
    LeaseTerms none = new LeaseTerms(TERMS.lease(), Duration.ZERO);
    assertThat(
            LongStream.rangeClosed(1, 1000)
                .filter(seed -> overlaps(seed, none, contended))
                .findFirst())
        .as("a seed that shows it")
        .isPresent();
  }

  @Test
  void a_seed_reproduces_its_run() {
    for (ContendedLocks contended :
        List.of(
            ContendedLocks.lock(), ContendedLocks.namedLock(), ContendedLocks.semaphore(PERMITS))) {
      assertThat(simulate(15, true, contended).summary())
          .isEqualTo(simulate(15, true, contended).summary());
    }
  }

  private static LongStream seeds() {
    Long one = Long.getLong("millrace.simulation.seed");
    return one != null
        ? LongStream.of(one)
        : LongStream.rangeClosed(1, Long.getLong("millrace.simulation.lockSeeds", 350)).parallel();
  }

  private static boolean overlaps(long seed, LeaseTerms terms, ContendedLocks contended) {
    try {
      new LockSimulation(
              seed, terms, ClusterSimulation.DRIFT_FRACTION * TERMS.drift(), true, contended)
          .run();
      return false;
    } catch (AssertionError e) {
      return String.valueOf(e.getMessage()).contains("hold the lock at once");
    }
  }

  private static LockSimulation simulate(long seed, boolean pauses, ContendedLocks contended) {
    LockSimulation simulation = LockSimulation.of(seed, pauses, contended);
    try {
      simulation.run();
      return simulation;
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
    }
  }
}
