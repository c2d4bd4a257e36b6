package io.millrace.bench;

import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Journaling;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** Stores with many waiting tasks: throughput beside an empty one, heap, start. */
final class Backlog implements Scenario {
  private static final InProcessLoad SHAPE = InProcessLoad.of(32, 16);

  private final String name;
  private final int most;

  Backlog(String name, int most) {
    this.name = name;
    this.most = most;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String what() {
    return String.format(
        Locale.ROOT, "%,d waiting tasks: throughput beside an empty store, heap, start", most);
  }

  @Override
  public void run(Setting setting) throws IOException, InterruptedException {
    int tasks = most / setting.scale();
    Path folder = setting.newFolder("backlog");
    Path empty = setting.newFolder("empty");
    heap(setting, folder, tasks);
    for (Journaling journaling : List.of(Journaling.OPPORTUNISTIC, Journaling.STRICT)) {
      inProcess(setting, folder, empty, journaling);
    }
    overHttp(setting, folder, empty);
    Setting.delete(folder);
    Setting.delete(empty);
  }

  /** Fills the store and weighs it. */
  private void heap(Setting setting, Path folder, int tasks) {
    long before = usedAfterCollection();
    StoreOptions options = StoreOptions.in(folder).withJournaling(Journaling.OPPORTUNISTIC);
    try (EmbeddedTaskStore store = TaskStore.open(options)) {
      long paused = collectionMillis();
      long began = System.nanoTime();
      Waiting.fill(store, tasks);
      double seconds = (System.nanoTime() - began) / 1e9;
      setting
          .report()
          .add(
              Figure.of(
                  name,
                  "adds in transactions of 1,000 (collector "
                      + (collectionMillis() - paused)
                      + " ms)",
                  tasks / seconds,
                  "tasks/s"));
      double bytes = (double) (usedAfterCollection() - before) / tasks - Lifecycle.DATA.size();
      setting
          .report()
          .add(
              Figure.of(name, "heap for a task beyond its data", bytes, "bytes")
                  .withTarget("≤ 150", bytes <= 150));
    }
  }

  private void inProcess(Setting setting, Path folder, Path empty, Journaling journaling)
      throws InterruptedException {
    String kind = journaling.name().toLowerCase(Locale.ROOT) + ", " + SHAPE;
    long began = System.nanoTime();
    try (EmbeddedTaskStore full =
            TaskStore.open(StoreOptions.in(folder).withJournaling(journaling));
        EmbeddedTaskStore none =
            TaskStore.open(StoreOptions.in(empty).withJournaling(journaling))) {
      double seconds = (System.nanoTime() - began) / 1e9;
      setting.report().add(Figure.of(name, "opening in process", seconds, "s"));
      Duration half = setting.time().dividedBy(2);
      double before = SHAPE.run(none, half).perSecond();
      Load load = SHAPE.run(full, setting.time());
      double base = (before + SHAPE.run(none, half).perSecond()) / 2;
      double ratio = load.perSecond() / base;
      setting
          .report()
          .add(
              Figure.of(name, kind, load)
                  .withRatio(ratio, "an empty store")
                  .withTarget("≥ 0.80", ratio >= 0.8));
      if (journaling == Journaling.STRICT) {
        new Stalls(setting, name).measure(full);
      }
    }
  }

  private void overHttp(Setting setting, Path folder, Path empty) throws IOException {
    try (Child full = Child.store(setting, folder, Journaling.STRICT);
        Child none = Child.store(setting, empty, Journaling.STRICT)) {
      double seconds = full.startTime().toMillis() / 1e3;
      setting
          .report()
          .add(
              Figure.of(name, "start of a server process until it is ready", seconds, "s")
                  .withTarget("≤ 15 s", seconds <= 15));
      // Both servers shall have compiled what they run before either is measured.
      drive(setting, none);
      drive(setting, full);
      double before = drive(setting, none).load().perSecond();
      Driven driven = drive(setting, full);
      double base = (before + drive(setting, none).load().perSecond()) / 2;
      double ratio = driven.load().perSecond() / base;
      setting
          .report()
          .add(
              Figure.of(name, driven.describe("strict, 32 connections"), driven.load())
                  .withRatio(ratio, "an empty store")
                  .withTarget("≥ 0.80", ratio >= 0.8));
    }
  }

  private static Driven drive(Setting setting, Child child) throws IOException {
    int port = child.port();
    return Driven.run(setting, child, 32, client -> new StoreConversation(port, client, 1));
  }

  /** The bytes of heap in use when all garbage is gone. */
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
}
