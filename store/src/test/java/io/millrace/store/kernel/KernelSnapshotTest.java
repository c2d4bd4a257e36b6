package io.millrace.store.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.StoreOptions;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import io.millrace.store.journal.files.SnapshotInput;
import io.millrace.store.kernel.recovery.Replayer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A snapshot is the state at its position, whatever happens while it is written. */
class KernelSnapshotTest {
  private static final Owner ME = Owner.client(1);

  @TempDir private Path folder;
  private final ManualEnvironment environment = new ManualEnvironment(1);
  private final SplittableRandom random = new SplittableRandom(5);
  private int sent;

  private EmbeddedStore open(Path place) {
    FileJournalOptions small = new FileJournalOptions(1 << 20, 1 << 20);
    return StoreStarter.open(
        StoreOptions.in(place).withEnvironment(environment),
        FileJournal.open(environment, place, small));
  }

  private void work(EmbeddedStore store, int steps) {
    for (int i = 0; i < steps; i++) {
      environment.advance(100);
      String group = "group " + random.nextInt(10);
      Transaction.Builder by = Transaction.by(ME).requestId("request " + ++sent);
      List<Task> tasks =
          store.claim(Claim.of(ME, group, Duration.ofSeconds(random.nextInt(20)))).done().tasks();
      if (tasks.isEmpty() || random.nextBoolean()) {
        by.add(group, Bytes.of("x".repeat(random.nextInt(1_000))));
      } else {
        by.delete(tasks.getFirst().ref());
      }
      by.put(new DocumentKey("last", group), DocumentVersion.ANY, Bytes.of("step " + i));
      store.commit(by.build());
    }
  }

  /** What a backup holds, before a store goes on from it. */
  private static String digest(byte[] backup) throws IOException {
    Replayer replayer = new Replayer();
    SnapshotInput input = new SnapshotInput(new ByteArrayInputStream(backup), "the backup");
    for (ByteBuffer part = input.next(); part != null; part = input.next()) {
      replayer.snapshotPart(part).run();
    }
    return replayer.state().freeze().digest();
  }

  private String digest(Path place) {
    ManualEnvironment other = new ManualEnvironment(2);
    other.advance(environment.wallMillis() - FixedEnvironment.START_MILLIS);
    try (EmbeddedStore store =
        StoreStarter.open(
            StoreOptions.in(place).withEnvironment(other),
            FileJournal.open(other, place, FileJournalOptions.DEFAULTS))) {
      return store.digest().value();
    }
  }

  @Test
  void a_snapshot_written_beside_commits_is_the_state_at_its_position(@TempDir Path copy)
      throws IOException {
    Path alone = copy.resolve("alone");
    String expected;
    try (EmbeddedStore store = open(folder)) {
      work(store, 100);
      store.requestSnapshot();
      expected = store.digest().value();
      work(store, 50);
    }
    try (Stream<Path> files = Files.list(folder)) {
      Path snapshot =
          files.filter(file -> file.toString().endsWith(".snapshot")).findFirst().orElseThrow();
      try (InputStream content = Files.newInputStream(snapshot)) {
        FileJournal.restore(environment, alone, content);
      }
    }
    assertThat(digest(alone)).isEqualTo(expected);
  }

  @Test
  void a_backup_restores_to_the_state_at_its_position(@TempDir Path parent) throws IOException {
    ByteArrayOutputStream backup = new ByteArrayOutputStream();
    String expected;
    Position position;
    try (EmbeddedStore store = open(folder)) {
      work(store, 100);
      position = store.backup(backup);
      expected = store.digest().value();
      work(store, 50);
    }
    assertThat(digest(backup.toByteArray())).isEqualTo(expected);
    Path restored = parent.resolve("restored");
    FileJournal.restore(environment, restored, new ByteArrayInputStream(backup.toByteArray()));
    try (EmbeddedStore store = open(restored)) {
      assertThat(store.groups().position().number()).isEqualTo(position.number());
      assertThat(store.groups().position().history())
          .as("a restored store goes its own way")
          .isNotEqualTo(position.history());
    }
  }

  @Test
  void ids_given_after_a_backup_are_not_given_again_after_its_restore(@TempDir Path parent) {
    ByteArrayOutputStream backup = new ByteArrayOutputStream();
    long largest;
    try (EmbeddedStore store = open(folder)) {
      work(store, 10);
      store.backup(backup);
      work(store, 50);
      largest = add(store);
    }
    Path restored = parent.resolve("restored");
    FileJournal.restore(environment, restored, new ByteArrayInputStream(backup.toByteArray()));
    long first;
    try (EmbeddedStore store = open(restored)) {
      first = add(store);
      assertThat(first).isGreaterThan(largest);
    }
    for (int i = 1; i < 4; i++) {
      try (EmbeddedStore store = open(restored)) {
        assertThat(add(store)).as("only the first opening leaves ids out").isEqualTo(first + i);
      }
    }
  }

  @Test
  void ids_of_any_earlier_life_are_not_given_again_by_a_restored_backup(@TempDir Path parent) {
    ByteArrayOutputStream backup = new ByteArrayOutputStream();
    try (EmbeddedStore store = open(folder)) {
      work(store, 10);
      store.backup(backup);
    }
    byte[] saved = backup.toByteArray();
    long largest = 0;
    for (int life = 1; life <= 3; life++) {
      environment.advance(1_000);
      Path restored = parent.resolve("restored " + life);
      StoreStarter.restore(environment, restored, new ByteArrayInputStream(saved));
      try (EmbeddedStore store = open(restored)) {
        assertThat(add(store)).isGreaterThan(largest);
        work(store, 10);
        largest = add(store);
      }
    }
  }

  private static long add(EmbeddedStore store) {
    return store
        .commit(Transaction.by(ME).add("last", "one").build())
        .done()
        .tasks()
        .getFirst()
        .id();
  }

  @Test
  void a_restart_finds_the_state_that_was_left() {
    String expected;
    try (EmbeddedStore store = open(folder)) {
      work(store, 100);
      store.requestSnapshot();
      work(store, 100);
      expected = store.digest().value();
    }
    assertThat(digest(folder)).isEqualTo(expected);
  }
}
