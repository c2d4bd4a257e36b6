package io.millrace.store.kernel.snapshots;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreOptions.Journaling;
import io.millrace.store.StoreOptions.Upkeep;
import io.millrace.store.StoreReport;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.environment.Activity;
import io.millrace.store.environment.Disk;
import io.millrace.store.environment.Driver;
import io.millrace.store.environment.Environment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The snapshot that a store leaves when it closes. */
class ClosingSnapshotTest {
  private static final Owner ME = Owner.client(1);

  @TempDir private Path folder;

  /** This machine, whose clock goes on by so many nanoseconds whenever it is asked. */
  private static final class HurriedEnvironment implements Environment {
    private final Environment machine = Environment.system();
    private final AtomicLong nanos = new AtomicLong();
    private volatile long step;

    @Override
    public long wallMillis() {
      return machine.wallMillis();
    }

    @Override
    public long nanos() {
      return nanos.addAndGet(step);
    }

    @Override
    public RandomGenerator newRandom() {
      return machine.newRandom();
    }

    @Override
    public Disk disk() {
      return machine.disk();
    }

    @Override
    public Driver drive(String name, Activity activity) {
      return machine.drive(name, activity);
    }
  }

  private StoreOptions options() {
    return StoreOptions.in(folder);
  }

  private static void fill(TaskStore store, long bytes) {
    Bytes data = Bytes.of("x".repeat(1 << 20));
    for (long done = 0; done < bytes; done += data.size()) {
      store.commit(Transaction.by(ME).add("group", data).build()).done();
    }
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  private long snapshots() throws IOException {
    return names().stream().filter(name -> name.endsWith(".snapshot")).count();
  }

  @Test
  void a_store_with_much_journal_leaves_a_snapshot_of_its_very_end() throws IOException {
    String digest;
    try (var store = TaskStore.open(options())) {
      fill(store, Snapshots.WORTHWHILE_BYTES);
      digest = store.digest().value();
    }
    assertThat(snapshots()).isEqualTo(1);
    StoreReport report = TaskStore.verify(folder);
    assertThat(report.isSound()).isTrue();
    assertThat(names()).contains("%016x.snapshot".formatted(report.journal().lastSequence()));
    try (var store = TaskStore.open(options())) {
      assertThat(store.digest().value()).isEqualTo(digest);
    }
    assertThat(snapshots()).as("there was nothing new").isEqualTo(1);
  }

  @Test
  void an_opportunistic_store_that_was_closed_goes_on_under_the_same_history() throws IOException {
    Position end;
    StoreOptions options = options().withJournaling(Journaling.OPPORTUNISTIC);
    try (var store = TaskStore.open(options)) {
      fill(store, Snapshots.WORTHWHILE_BYTES);
      end = store.groups().position();
    }
    assertThat(snapshots()).isEqualTo(1);
    try (var store = TaskStore.open(options)) {
      assertThat(store.groups().position()).isEqualTo(end);
    }
  }

  @Test
  void little_journal_or_a_budget_of_nothing_leaves_no_snapshot() throws IOException {
    try (var store = TaskStore.open(options())) {
      fill(store, Snapshots.WORTHWHILE_BYTES / 4);
    }
    assertThat(snapshots()).isZero();
    Upkeep without = Upkeep.DEFAULTS.withSnapshotAtClose(Duration.ZERO);
    try (var store = TaskStore.open(options().withUpkeep(without))) {
      fill(store, Snapshots.WORTHWHILE_BYTES);
    }
    assertThat(snapshots()).isZero();
  }

  @Test
  void what_earlier_lives_left_to_read_counts_too() throws IOException {
    Upkeep without = Upkeep.DEFAULTS.withSnapshotAtClose(Duration.ZERO);
    try (var store = TaskStore.open(options().withUpkeep(without))) {
      fill(store, Snapshots.WORTHWHILE_BYTES);
    }
    TaskStore.open(options()).close();
    assertThat(snapshots()).isEqualTo(1);
  }

  @Test
  void a_snapshot_that_takes_too_long_is_given_up_and_nothing_is_lost() throws IOException {
    HurriedEnvironment environment = new HurriedEnvironment();
    String digest;
    try (var store = TaskStore.open(options().withEnvironment(environment))) {
      fill(store, Snapshots.WORTHWHILE_BYTES);
      digest = store.digest().value();
      environment.step = Duration.ofSeconds(1).toNanos();
    }
    assertThat(snapshots()).isZero();
    assertThat(names()).noneMatch(name -> name.endsWith(".snapshot.tmp"));
    try (var store = TaskStore.open(options())) {
      assertThat(store.digest().value()).isEqualTo(digest);
    }
  }
}
