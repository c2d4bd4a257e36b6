package io.millrace.bench;

import io.millrace.bench.Measurement.Load;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Stores with many waiting tasks: their throughput beside that of an empty store, their heap and
 * their start.
 */
final class Backlog extends Scenario {
  private static final InProcessLoad SHAPE = InProcessLoad.of(32, 16);

  private final int most;

  Backlog(String name, int most) {
    super(
        name,
        String.format(
            Locale.ROOT, "%,d waiting tasks: throughput beside an empty store, heap, start", most));
    this.most = most;
  }

  @Override
  void run(Context context) throws IOException, InterruptedException {
    int tasks = most / context.scale();
    Path folder = context.newFolder("backlog");
    Path empty = context.newFolder("empty");
    heap(context, folder, tasks);
    for (Journaling journaling : List.of(Journaling.OPPORTUNISTIC, Journaling.STRICT)) {
      inProcess(context, folder, empty, journaling);
    }
    overHttp(context, folder, empty);
  }

  /** Fills the store and measures the heap that it takes. */
  private void heap(Context context, Path folder, int tasks) {
    long before = usedAfterCollection();
    StoreOptions options = StoreOptions.in(folder).withJournaling(Journaling.OPPORTUNISTIC);
    try (EmbeddedTaskStore store = TaskStore.open(options)) {
      long paused = collectionMillis();
      long began = System.nanoTime();
      WaitingTasks.fill(store, tasks);
      double seconds = (System.nanoTime() - began) / 1e9;
      context.add(
          Measurement.of(
              name(),
              "adds in transactions of 1,000 (collector " + (collectionMillis() - paused) + " ms)",
              tasks / seconds,
              "tasks/s"));
      double bytes = (double) (usedAfterCollection() - before) / tasks - Lifecycle.DATA.size();
      context.add(
          Measurement.of(name(), "heap for a task beyond its data", bytes, "bytes")
              .withTarget("≤ 150", bytes <= 150));
    }
  }

  private void inProcess(Context context, Path folder, Path empty, Journaling journaling)
      throws InterruptedException {
    String kind = journaling.name().toLowerCase(Locale.ROOT) + ", " + SHAPE;
    long began = System.nanoTime();
    try (EmbeddedTaskStore full =
            TaskStore.open(StoreOptions.in(folder).withJournaling(journaling));
        EmbeddedTaskStore none =
            TaskStore.open(StoreOptions.in(empty).withJournaling(journaling))) {
      double seconds = (System.nanoTime() - began) / 1e9;
      context.add(Measurement.of(name(), "opening in process", seconds, "s"));
      Duration half = context.time().dividedBy(2);
      double before = SHAPE.run(none, half).perSecond();
      Load load = SHAPE.run(full, context.time());
      double base = (before + SHAPE.run(none, half).perSecond()) / 2;
      double ratio = load.perSecond() / base;
      context.add(
          Measurement.of(name(), kind, load)
              .withRatio(ratio, "an empty store")
              .withTarget("≥ 0.80", ratio >= 0.8));
      if (journaling == Journaling.STRICT) {
        new Stalls(context, name()).measure(full);
      }
    }
  }

  private void overHttp(Context context, Path folder, Path empty) throws IOException {
    try (ServerProcess full = ServerProcess.store(context, folder, Journaling.STRICT);
        ServerProcess none = ServerProcess.store(context, empty, Journaling.STRICT)) {
      double seconds = full.startTime().toMillis() / 1e3;
      context.add(
          Measurement.of(name(), "start of a server process until it is ready", seconds, "s")
              .withTarget("≤ 15 s", seconds <= 15));
      // Both servers should have compiled their code before either is measured.
      drive(context, none);
      drive(context, full);
      double before = drive(context, none).load().perSecond();
      CommandLoad driven = drive(context, full);
      double base = (before + drive(context, none).load().perSecond()) / 2;
      double ratio = driven.load().perSecond() / base;
      context.add(
          Measurement.of(name(), driven.describe("strict, 32 connections"), driven.load())
              .withRatio(ratio, "an empty store")
              .withTarget("≥ 0.80", ratio >= 0.8));
    }
  }

  private static CommandLoad drive(Context context, ServerProcess child) throws IOException {
    int port = child.port();
    return CommandLoad.run(
        context,
        child,
        CommandLoad.Clients.ofOneThread(32),
        client -> new Protocol.StoreTasks(port, client, 1));
  }

  /** The bytes of heap in use after a garbage collection. */
  private static long usedAfterCollection() {
    long used = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      System.gc();
      used = Math.min(used, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
    return used;
  }

  private static long collectionMillis() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionTime)
        .sum();
  }

  /**
   * The latency of commits to a store that holds many tasks, while something else that could stall
   * it is going on.
   */
  private static final class Stalls {
    private static final InProcessLoad SHAPE =
        new InProcessLoad(4, 1, InProcessLoad.LatencyKind.ANSWERS);
    private static final long SLICE_NANOS = 100_000_000;
    private static final int GROWTH = 100_000;

    /** What could stall the commits; repeated while they are measured. */
    private interface Disturbance {
      void happen(EmbeddedTaskStore store);
    }

    private final Context context;
    private final String scenario;

    Stalls(Context context, String scenario) {
      this.context = context;
      this.scenario = scenario;
    }

    /** Measures commits alone, and beside each operation that touches all tasks or adds many. */
    void measure(EmbeddedTaskStore store) throws InterruptedException {
      SHAPE.run(store, context.time());
      report("commits alone", store, _ -> {});
      report("commits beside a snapshot", store, Stalls::snapshot);
      report("commits beside listings", store, Stalls::list);
      report(
          "commits beside growth",
          store,
          it -> WaitingTasks.fill(it, Math.max(1, GROWTH / context.scale())));
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
      long until = System.nanoTime() + context.time().toNanos();
      do {
        Thread disturbing = Thread.ofPlatform().start(() -> disturbance.happen(store));
        do {
          long now = System.nanoTime();
          latency.add(SHAPE.run(store, new Load.Window(now, now + SLICE_NANOS)).latency());
        } while (disturbing.isAlive());
      } while (System.nanoTime() < until);
      double rare = latency.getValueAtPercentile(99.9) / 1e6;
      context.add(
          Measurement.of(scenario, what + ": p99.9", rare, "ms")
              .withLatency(
                  latency.getValueAtPercentile(50) / 1e3, latency.getValueAtPercentile(99) / 1e3)
              .withTarget("< 10 ms", rare < 10));
      context.add(Measurement.of(scenario, what + ": worst", latency.getMaxValue() / 1e6, "ms"));
    }
  }

  /** Fills stores with waiting tasks. */
  static final class WaitingTasks {
    private static final int PART = 1_000;
    private static final int OUTSTANDING = 8;

    private WaitingTasks() {}

    /** Fills a new store in {@code folder} with this many waiting tasks, and closes it. */
    static void fill(Path folder, int tasks) {
      try (EmbeddedTaskStore store =
          TaskStore.open(StoreOptions.in(folder).withJournaling(Journaling.OPPORTUNISTIC))) {
        fill(store, tasks);
      }
    }

    /** Adds this many tasks. */
    static void fill(TaskStore store, int tasks) {
      ArrayDeque<CompletableFuture<Outcome>> answers = new ArrayDeque<>();
      for (int left = tasks; left > 0; left -= PART) {
        Transaction.Builder part = Transaction.by(Owner.client(1));
        for (int i = 0; i < Math.min(PART, left); i++) {
          part.add(Lifecycle.GROUP, Lifecycle.data());
        }
        answers.add(store.submit(part.build()));
        if (answers.size() > OUTSTANDING) {
          answers.remove().join().done();
        }
      }
      answers.forEach(answer -> answer.join().done());
    }
  }
}
