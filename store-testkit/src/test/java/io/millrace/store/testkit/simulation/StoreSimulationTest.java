package io.millrace.store.testkit.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.testkit.environment.SimulatedDisk;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * Runs the seeds 1 to {@code -Dmillrace.simulation.seeds}, 500 by default, or fresh seeds for
 * {@code -Dmillrace.simulation.minutes}, or replays the one of {@code -Dmillrace.simulation.seed};
 * {@code -Dmillrace.simulation.steps} makes runs longer.
 */
final class StoreSimulationTest {
  private static final int STEPS =
      Integer.getInteger("millrace.simulation.steps", SimulationOptions.STEPS);
  private static final int THREADS = 2;

  @Test
  void the_store_keeps_its_promises_through_crashes_and_faults()
      throws InterruptedException, ExecutionException {
    Long one = Long.getLong("millrace.simulation.seed");
    if (one != null) {
      simulate(one);
      return;
    }
    long minutes = Long.getLong("millrace.simulation.minutes", 0);
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(minutes);
    // Fresh seeds are never those of another run; a failure names its own.
    long first = minutes == 0 ? 0 : System.currentTimeMillis() << 20;
    long last = minutes == 0 ? Long.getLong("millrace.simulation.seeds", 500) : Long.MAX_VALUE;
    AtomicLong next = new AtomicLong(first);
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<?>> runs = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        runs.add(
            threads.submit(() -> {
              for (long seed = next.incrementAndGet();
                  seed <= last && (minutes == 0 || System.nanoTime() < end);
                  seed = next.incrementAndGet()) {
                simulate(seed);
              }
            }));
      }
      for (Future<?> run : runs) {
        run.get();
      }
      if (minutes > 0) {
        System.out.println(next.get() - first + " fresh seeds found nothing");
      }
    }
  }

  @Test
  void a_disk_whose_syncs_do_nothing_is_caught_and_the_seed_replays_it() {
    String first = failureOnLyingDisk();
    assertThat(first).contains("seed ").contains(", step ");
    assertThat(failureOnLyingDisk()).isEqualTo(first);
  }

  @Test
  void a_run_without_steps_is_refused() {
    assertThatThrownBy(() -> SimulationOptions.seed(1).withSteps(0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static void simulate(long seed) {
    StoreSimulation.run(SimulationOptions.seed(seed).withSteps(STEPS));
  }

  /** The message of the first seed that fails on a disk that only says that it syncs. */
  private static String failureOnLyingDisk() {
    for (long seed = 1; seed <= 50; seed++) {
      try {
        StoreSimulation.run(
            SimulationOptions.seed(seed).withDisk((SimulatedDisk disk) -> disk.forgetSyncs(true)));
      } catch (SimulationFailure failure) {
        return String.valueOf(failure.getMessage());
      }
    }
    throw new AssertionError("no simulation noticed that syncs do nothing");
  }
}
