package io.millrace.bench;

import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Journaling;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreStatus;
import io.millrace.store.TaskStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** An empty store in this process, strict beside the bare loop, and opportunistic. */
final class InProcess implements Scenario {
  private static final List<InProcessLoad> SHAPES =
      List.of(InProcessLoad.of(1, 1), InProcessLoad.of(32, 1), InProcessLoad.of(32, 16));
  private static final ChainLoad CHAINS = new ChainLoad(32 * 16);

  @Override
  public String name() {
    return "in-process";
  }

  @Override
  public String what() {
    return "an empty store in this process, beside a bare loop of writes and syncs";
  }

  @Override
  public void run(Setting setting) throws IOException, InterruptedException {
    for (InProcessLoad shape : SHAPES) {
      strict(setting, shape);
    }
    chains(setting, Journaling.STRICT, 100_000);
    for (InProcessLoad shape : SHAPES) {
      opportunistic(setting, shape);
    }
    chains(setting, Journaling.OPPORTUNISTIC, 500_000);
  }

  private void strict(Setting setting, InProcessLoad shape)
      throws IOException, InterruptedException {
    Path folder = setting.newFolder("strict");
    Duration half = setting.time().dividedBy(2);
    CountingDisk disk = new CountingDisk();
    try (EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(folder).withEnvironment(disk))) {
      shape.run(store, setting.time().dividedBy(3));
      StoreStatus before = store.status();
      long syncs = disk.syncs();
      long bytes = disk.bytes();
      long began = System.nanoTime();
      Load load = shape.run(store, new Load.Window(began, began + setting.time().toNanos()));
      syncs = Math.max(1, disk.syncs() - syncs);
      bytes = disk.bytes() - bytes;
      double seconds = (System.nanoTime() - began) / 1e9;
      StoreStatus after = store.status();
      int group = (int) (bytes / syncs);
      // Before and after, as the speed of a disk wanders.
      double bare = BareLoop.groupsPerSecond(setting.folder(), group, half);
      Load again = shape.run(store, setting.time());
      bare = (bare + BareLoop.groupsPerSecond(setting.folder(), group, half)) / 2;
      double commits =
          (double) (after.committed() + after.claimed() - before.committed() - before.claimed());
      double ratio = syncs / seconds * (again.perSecond() / load.perSecond() + 1) / 2 / bare;
      Figure figure =
          Figure.of(name(), "strict, " + shape, load).withRatio(ratio, "the bare loop's syncs");
      if (shape.callers() > 1) {
        figure =
            shape.outstanding() == 1
                ? figure.withTarget("≥ 0.80 of the bare loop", ratio >= 0.8)
                : figure.withTarget("≥ 100,000/s", load.perSecond() >= 100_000);
      }
      setting.report().add(figure);
      setting
          .report()
          .add(Figure.of(name(), "strict, " + shape + ": commits in a sync", commits / syncs, ""));
      setting
          .report()
          .add(Figure.of(name(), "bare loop, " + group + " bytes a group", bare, "syncs/s"));
    }
    Setting.delete(folder);
  }

  private void opportunistic(Setting setting, InProcessLoad shape)
      throws IOException, InterruptedException {
    Path folder = setting.newFolder("opportunistic");
    StoreOptions options = StoreOptions.in(folder).withJournaling(Journaling.OPPORTUNISTIC);
    try (EmbeddedTaskStore store = TaskStore.open(options)) {
      Load load = shape.run(store, setting.time());
      Figure figure = Figure.of(name(), "opportunistic, " + shape, load);
      setting
          .report()
          .add(
              shape.outstanding() > 1
                  ? figure.withTarget("≥ 500,000/s", load.perSecond() >= 500_000)
                  : figure);
    }
    Setting.delete(folder);
  }

  private void chains(Setting setting, Journaling journaling, int target) throws IOException {
    String kind = journaling.name().toLowerCase(Locale.ROOT);
    Path folder = setting.newFolder(kind);
    try (EmbeddedTaskStore store =
        TaskStore.open(StoreOptions.in(folder).withJournaling(journaling))) {
      // Twice, since the first round compiles.
      CHAINS.run(store, setting.time());
      Load load = CHAINS.run(store, setting.time());
      setting
          .report()
          .add(
              Figure.of(name(), kind + ", " + CHAINS, load)
                  .withTarget(
                      String.format(Locale.ROOT, "≥ %,d/s", target), load.perSecond() >= target));
    }
    Setting.delete(folder);
  }
}
