package io.millrace.bench;

import io.millrace.bench.Measurement.Load;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/** The latency of commits during a snapshot of a million tasks, and without one. */
final class SnapshotLatency extends Scenario {
  private static final int TASKS = 1_000_000;
  private static final int MAX_SNAPSHOTS = 20;
  private static final InProcessLoad SHAPE =
      new InProcessLoad(4, 1, InProcessLoad.LatencyKind.ANSWERS);

  SnapshotLatency() {
    super(
        "snapshot", "the latency of strict commits while a snapshot of a million tasks is written");
  }

  @Override
  void run(Context context) throws IOException, InterruptedException {
    Path folder = context.newFolder("snapshot");
    Backlog.WaitingTasks.fill(folder, TASKS / context.scale());
    try (EmbeddedTaskStore store =
        TaskStore.open(StoreOptions.in(folder).withSnapshotEvery(Long.MAX_VALUE))) {
      SHAPE.run(store, context.time());
      Load quiet = SHAPE.run(store, context.time());
      report(context, "without a snapshot", quiet.latency());
      Histogram busy = snapshots(context, store);
      double worst = busy.getValueAtPercentile(99.9) / 1e6;
      report(context, "while snapshots are written", busy);
      context.add(
          Measurement.of(name(), "p99.9 of commits during a snapshot", worst, "ms")
              .withRatio(worst * 1e6 / quiet.latency().getValueAtPercentile(99.9), "without")
              .withTarget("< 10 ms", worst < 10));
    }
  }

  /** The latency of commits while one snapshot follows the other. */
  private static Histogram snapshots(Context context, EmbeddedTaskStore store)
      throws InterruptedException {
    Histogram latency = Load.histogram();
    long until = System.nanoTime() + context.time().toNanos();
    for (int i = 0; i < MAX_SNAPSHOTS && (i == 0 || System.nanoTime() < until); i++) {
      long published = store.status().snapshots();
      store.requestSnapshot();
      while (store.status().snapshots() == published) {
        latency.add(SHAPE.run(store, soon()).latency());
      }
    }
    return latency;
  }

  private static Load.Window soon() {
    long now = System.nanoTime();
    return new Load.Window(now, now + 100_000_000L);
  }

  private void report(Context context, String what, Histogram latency) {
    List<String> shares = new ArrayList<>();
    for (double percentile : new double[] {99.9, 99.99, 100}) {
      shares.add("p" + percentile + " " + latency.getValueAtPercentile(percentile) / 1000 + " µs");
    }
    context.add(
        Measurement.of(
                name(),
                what + ": " + String.join(", ", shares),
                (double) latency.getTotalCount(),
                "commits")
            .withLatency(
                latency.getValueAtPercentile(50) / 1e3, latency.getValueAtPercentile(99) / 1e3));
  }
}
