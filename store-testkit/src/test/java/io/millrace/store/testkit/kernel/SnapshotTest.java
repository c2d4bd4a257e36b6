package io.millrace.store.testkit.kernel;

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
import io.millrace.store.environment.DiskFile;
import io.millrace.store.environment.Folder;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import io.millrace.store.journal.files.SnapshotInput;
import io.millrace.store.kernel.EmbeddedStore;
import io.millrace.store.kernel.StoreStarter;
import io.millrace.store.kernel.recovery.Replayer;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** A snapshot is the state at its position, whatever happens while it is written. */
final class SnapshotTest {
  private static final Owner ME = Owner.client(1);

  private static final Path FOLDER = Path.of("store");

  private final SimulatedEnvironment environment = new SimulatedEnvironment(1);
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
      environment.advance(Duration.ofMillis(100));
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
    try (EmbeddedStore store = open(place)) {
      return store.digest().value();
    }
  }

  @Test
  void a_snapshot_written_beside_commits_is_the_state_at_its_position() throws IOException {
    Path alone = Path.of("alone");
    String expected;
    try (EmbeddedStore store = open(FOLDER)) {
      work(store, 100);
      store.requestSnapshot();
      expected = store.digest().value();
      work(store, 50);
    }
    try (Folder folder = environment.disk().open(FOLDER)) {
      String snapshot =
          folder.list().stream()
              .filter(name -> name.endsWith(".snapshot"))
              .findFirst()
              .orElseThrow();
      try (DiskFile file = folder.read(snapshot)) {
        ByteBuffer content = ByteBuffer.allocate((int) file.size());
        file.read(0, content);
        FileJournal.restore(environment, alone, new ByteArrayInputStream(content.array()));
      }
    }
    assertThat(digest(alone)).isEqualTo(expected);
  }

  @Test
  void a_backup_restores_to_the_state_at_its_position() throws IOException {
    ByteArrayOutputStream backup = new ByteArrayOutputStream();
    String expected;
    Position position;
    try (EmbeddedStore store = open(FOLDER)) {
      work(store, 100);
      position = store.backup(backup);
      expected = store.digest().value();
      work(store, 50);
    }
    assertThat(digest(backup.toByteArray())).isEqualTo(expected);
    Path restored = Path.of("restored");
    FileJournal.restore(environment, restored, new ByteArrayInputStream(backup.toByteArray()));
    try (EmbeddedStore store = open(restored)) {
      assertThat(store.groups().position().number()).isEqualTo(position.number());
      assertThat(store.groups().position().history())
          .as("a restored store goes its own way")
          .isNotEqualTo(position.history());
    }
  }

  @Test
  void ids_given_after_a_backup_are_not_given_again_after_its_restore() {
    ByteArrayOutputStream backup = new ByteArrayOutputStream();
    long largest;
    try (EmbeddedStore store = open(FOLDER)) {
      work(store, 10);
      store.backup(backup);
      work(store, 50);
      largest = add(store);
    }
    Path restored = Path.of("restored");
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
  void ids_of_any_earlier_life_are_not_given_again_by_a_restored_backup() {
    ByteArrayOutputStream backup = new ByteArrayOutputStream();
    try (EmbeddedStore store = open(FOLDER)) {
      work(store, 10);
      store.backup(backup);
    }
    byte[] saved = backup.toByteArray();
    long largest = 0;
    for (int life = 1; life <= 3; life++) {
      environment.advance(Duration.ofSeconds(1));
      Path restored = Path.of("restored " + life);
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
    try (EmbeddedStore store = open(FOLDER)) {
      work(store, 100);
      store.requestSnapshot();
      work(store, 100);
      expected = store.digest().value();
    }
    assertThat(digest(FOLDER)).isEqualTo(expected);
  }
}
