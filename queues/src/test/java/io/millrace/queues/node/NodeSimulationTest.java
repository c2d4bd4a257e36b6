package io.millrace.queues.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * Runs the seeds 1 to {@code -Dmillrace.simulation.nodeSeeds}, 14 by default, or replays the one of
 * {@code -Dmillrace.simulation.seed}.
 */
final class NodeSimulationTest {
  private static final int THREADS = 2;

  @Test
  void a_hundred_nodes_keep_the_promises_of_queues_through_all_trouble()
      throws InterruptedException, ExecutionException {
    Long one = Long.getLong("millrace.simulation.seed");
    if (one != null) {
      simulate(one);
      return;
    }
    long seeds = Long.getLong("millrace.simulation.nodeSeeds", 14);
    AtomicLong next = new AtomicLong();
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<?>> runs = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        runs.add(
            threads.submit(() -> {
              for (long seed = next.incrementAndGet();
                  seed <= seeds;
                  seed = next.incrementAndGet()) {
                simulate(seed);
              }
            }));
      }
      for (Future<?> run : runs) {
        run.get();
      }
    }
  }

  @Test
  void a_seed_gives_the_same_run_again() {
    assertThat(simulate(15)).isEqualTo(simulate(15));
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
