package io.millrace.bench;

import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.GroupQuery;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * The latency of commits to a store that holds many tasks, while something else goes on that could
 * stall it.
 */
final class Stalls {
  private static final InProcessLoad SHAPE = new InProcessLoad(4, 1, InProcessLoad.Measure.ANSWERS);
  private static final long SLICE_NANOS = 100_000_000;
  private static final int GROWTH = 100_000;

  /** What may stall the others; called again and again while commits are measured. */
  private interface Disturbance {
    void happen(EmbeddedTaskStore store);
  }

  private final Setting setting;
  private final String scenario;

  Stalls(Setting setting, String scenario) {
    this.setting = setting;
    this.scenario = scenario;
  }

  /** Measures commits alone, and beside each thing that touches all tasks or adds many. */
  void measure(EmbeddedTaskStore store) throws InterruptedException {
    SHAPE.run(store, setting.time());
    report("commits alone", store, _ -> {});
    report("commits beside a snapshot", store, Stalls::snapshot);
    report("commits beside listings", store, Stalls::list);
    report(
        "commits beside growth",
        store,
        it -> Waiting.fill(it, Math.max(1, GROWTH / setting.scale())));
  }

  private static void snapshot(EmbeddedTaskStore store) {
    long published = store.status().snapshots();
    store.requestSnapshot();
    while (store.status().snapshots() == published) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  private static void list(EmbeddedTaskStore store) {
    store.groups().value().forEach(_ -> {});
    store.group(GroupQuery.all(Lifecycle.GROUP)).value().forEach(_ -> {});
  }

  private void report(String what, EmbeddedTaskStore store, Disturbance disturbance)
      throws InterruptedException {
    Histogram latency = Load.histogram();
    long until = System.nanoTime() + setting.time().toNanos();
    do {
      Thread disturbing = Thread.ofPlatform().start(() -> disturbance.happen(store));
      do {
        long now = System.nanoTime();
        latency.add(SHAPE.run(store, new Load.Window(now, now + SLICE_NANOS)).latency());
      } while (disturbing.isAlive());
    } while (System.nanoTime() < until);
    double rare = latency.getValueAtPercentile(99.9) / 1e6;
    setting
        .report()
        .add(
            Figure.of(scenario, what + ": p99.9", rare, "ms")
                .withLatency(
                    latency.getValueAtPercentile(50) / 1e3, latency.getValueAtPercentile(99) / 1e3)
                .withTarget("< 10 ms", rare < 10));
    setting.report().add(Figure.of(scenario, what + ": worst", latency.getMaxValue() / 1e6, "ms"));
  }
}
