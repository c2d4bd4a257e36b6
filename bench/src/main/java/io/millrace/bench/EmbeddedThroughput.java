package io.millrace.bench;

import io.millrace.bench.Bench.BenchException;
import io.millrace.bench.Measurement.Load;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.StoreStatus;
import io.millrace.store.TaskStore;
import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Disk;
import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import io.millrace.store.environment.Folder;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;

/**
 * An empty store in this process: strict, beside a bare loop of writes and syncs, and
 * opportunistic.
 */
final class EmbeddedThroughput extends Scenario {
  private static final List<InProcessLoad> SHAPES =
      List.of(InProcessLoad.of(1, 1), InProcessLoad.of(32, 1), InProcessLoad.of(32, 16));
  private static final InProcessLoad.ChainLoad CHAINS = new InProcessLoad.ChainLoad(32 * 16);

  EmbeddedThroughput() {
    super("in-process", "an empty store in this process, beside a bare loop of writes and syncs");
  }

  @Override
  void run(Context context) throws IOException, InterruptedException {
    for (InProcessLoad shape : SHAPES) {
      strict(context, shape);
    }
    chains(context, Journaling.STRICT, 100_000);
    for (InProcessLoad shape : SHAPES) {
      opportunistic(context, shape);
    }
    chains(context, Journaling.OPPORTUNISTIC, 500_000);
  }

  private void strict(Context context, InProcessLoad shape)
      throws IOException, InterruptedException {
    Path folder = context.newFolder("strict");
    Duration half = context.time().dividedBy(2);
    CountingDisk disk = new CountingDisk();
    try (EmbeddedTaskStore store = TaskStore.open(StoreOptions.in(folder).withEnvironment(disk))) {
      shape.run(store, context.time().dividedBy(3));
      StoreStatus before = store.status();
      long syncs = disk.syncs();
      long bytes = disk.bytes();
      long began = System.nanoTime();
      Load load = shape.run(store, new Load.Window(began, began + context.time().toNanos()));
      syncs = Math.max(1, disk.syncs() - syncs);
      bytes = disk.bytes() - bytes;
      double seconds = (System.nanoTime() - began) / 1e9;
      StoreStatus after = store.status();
      int group = (int) (bytes / syncs);
      // Before and after, because the speed of a disk varies.
      double bare = SyncedWrites.groupsPerSecond(context.folder(), group, half);
      Load again = shape.run(store, context.time());
      bare = (bare + SyncedWrites.groupsPerSecond(context.folder(), group, half)) / 2;
      double commits =
          (double) (after.committed() + after.claimed() - before.committed() - before.claimed());
      double ratio = syncs / seconds * (again.perSecond() / load.perSecond() + 1) / 2 / bare;
      Measurement measurement =
          Measurement.of(name(), "strict, " + shape, load)
              .withRatio(ratio, "the bare loop's syncs");
      if (shape.callers() > 1) {
        measurement =
            shape.outstanding() == 1
                ? measurement.withTarget("≥ 0.80 of the bare loop", ratio >= 0.8)
                : measurement.withTarget("≥ 100,000/s", load.perSecond() >= 100_000);
      }
      context.add(measurement);
      context.add(
          Measurement.of(name(), "strict, " + shape + ": commits in a sync", commits / syncs, ""));
      context.add(
          Measurement.of(name(), "bare loop, " + group + " bytes a group", bare, "syncs/s"));
    }
  }

  private void opportunistic(Context context, InProcessLoad shape)
      throws IOException, InterruptedException {
    Path folder = context.newFolder("opportunistic");
    StoreOptions options = StoreOptions.in(folder).withJournaling(Journaling.OPPORTUNISTIC);
    try (EmbeddedTaskStore store = TaskStore.open(options)) {
      Load load = shape.run(store, context.time());
      Measurement measurement = Measurement.of(name(), "opportunistic, " + shape, load);
      context.add(
          shape.outstanding() > 1
              ? measurement.withTarget("≥ 500,000/s", load.perSecond() >= 500_000)
              : measurement);
    }
  }

  private void chains(Context context, Journaling journaling, int target) throws IOException {
    String kind = journaling.name().toLowerCase(Locale.ROOT);
    Path folder = context.newFolder(kind);
    try (EmbeddedTaskStore store =
        TaskStore.open(StoreOptions.in(folder).withJournaling(journaling))) {
      // Twice, since code is compiled in the first round.
      CHAINS.run(store, context.time());
      Load load = CHAINS.run(store, context.time());
      context.add(
          Measurement.of(name(), kind + ", " + CHAINS, load)
              .withTarget(
                  String.format(Locale.ROOT, "≥ %,d/s", target), load.perSecond() >= target));
    }
  }

  /** This machine, with the writes and syncs of its disk counted. */
  private static final class CountingDisk implements Environment {
    private final Environment system = Environment.system();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder syncs = new LongAdder();

    /** Bytes written so far. */
    long bytes() {
      return bytes.sum();
    }

    /** Files synced so far. */
    long syncs() {
      return syncs.sum();
    }

    @Override
    public long wallMillis() {
      return system.wallMillis();
    }

    @Override
    public long nanos() {
      return system.nanos();
    }

    @Override
    public RandomGenerator newRandom() {
      return system.newRandom();
    }

    @Override
    public Driver drive(String name, Activity activity) {
      return system.drive(name, activity);
    }

    @Override
    public Disk disk() {
      return counted(Disk.class, system.disk());
    }

    /**
     * Wraps a disk, folder or file of it, and all that is opened through it, so that writes and
     * syncs are counted.
     */
    private <T> T counted(Class<T> type, T real) {
      InvocationHandler handler =
          (_, method, arguments) -> {
            if (real instanceof DiskFile && method.getName().equals("sync")) {
              syncs.increment();
            } else if (real instanceof DiskFile && method.getName().equals("write")) {
              bytes.add(((ByteBuffer) arguments[1]).remaining());
            }
            try {
              return switch (method.invoke(real, arguments)) {
                case Folder folder -> counted(Folder.class, folder);
                case DiskFile file -> counted(DiskFile.class, file);
                case null -> null;
                case Object other -> other;
              };
            } catch (InvocationTargetException e) {
              throw e.getTargetException();
            }
          };
      return type.cast(
          Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
  }

  /**
   * The least that a strict store must do: a loop that writes the bytes of a group to the end of a
   * preallocated file, and syncs it.
   */
  static final class SyncedWrites {
    private static final int FILE_BYTES = 64 << 20;
    private static final int PIECE_BYTES = 1 << 20;

    private SyncedWrites() {}

    /** How many groups of this many bytes can be synced in a second. */
    static double groupsPerSecond(Path folder, int groupBytes, Duration time) {
      Path file = folder.resolve("bare-loop");
      try (FileChannel channel =
          FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        for (long at = 0; at < FILE_BYTES; at += PIECE_BYTES) {
          channel.write(ByteBuffer.allocate(PIECE_BYTES), at);
        }
        channel.force(true);
        ByteBuffer group = ByteBuffer.allocateDirect(Math.max(1, groupBytes));
        long groups = 0;
        long offset = 0;
        long began = System.nanoTime();
        long now = began;
        while (now - began < time.toNanos()) {
          channel.write(group.clear(), offset);
          channel.force(false);
          offset = offset + 2L * group.capacity() > FILE_BYTES ? 0 : offset + group.capacity();
          groups++;
          now = System.nanoTime();
        }
        return groups * 1e9 / (now - began);
      } catch (IOException e) {
        throw new BenchException("the bare loop cannot write in " + folder, e);
      } finally {
        delete(file);
      }
    }

    private static void delete(Path file) {
      try {
        Files.deleteIfExists(file);
      } catch (IOException e) {
        throw new BenchException("cannot delete " + file, e);
      }
    }
  }
}
