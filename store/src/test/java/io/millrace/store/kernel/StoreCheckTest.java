package io.millrace.store.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Bytes;
import io.millrace.store.Commit.Change;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.StoreReport;
import io.millrace.store.Task;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import io.millrace.store.journal.files.JournalReport.Damage;
import io.millrace.store.kernel.records.Event;
import io.millrace.store.kernel.records.History;
import io.millrace.store.kernel.records.JournalRecord;
import io.millrace.store.kernel.records.RecordWriter;
import io.millrace.store.kernel.records.Records;
import io.millrace.store.kernel.recovery.Replayer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a check of a folder finds in its records. */
class StoreCheckTest {
  private static final Owner ME = Owner.client(1);

  @TempDir private Path folder;
  private final FixedEnvironment environment = new FixedEnvironment(1);

  /** Three tasks in two groups. */
  @BeforeEach
  void fill() {
    try (TaskStore store = open()) {
      store.commit(Transaction.by(ME).add("a", "1").add("a", "2").add("b", "3").build()).done();
    }
  }

  private EmbeddedStore open() {
    return StoreStarter.open(
        StoreOptions.in(folder).withEnvironment(environment),
        FileJournal.open(environment, folder, FileJournalOptions.DEFAULTS));
  }

  /** Appends a frame whose checksums are right. */
  private long append(ByteBuffer payload, long commits) {
    try (FileJournal journal = FileJournal.open(environment, folder, FileJournalOptions.DEFAULTS)) {
      Journal.Tail tail =
          journal.recover(
              new Journal.Replay() {
                @Override
                public Runnable snapshotPart(ByteBuffer part) {
                  return () -> {};
                }

                @Override
                public void reset() {}

                @Override
                public void frame(Frame frame) {}
              });
      long sequence = tail.sequence() + 1;
      environment.await(
          journal.append(
              new Frame(
                  sequence,
                  tail.epoch(),
                  7,
                  tail.timeMillis(),
                  tail.sequence(),
                  tail.position() + commits,
                  payload)));
      return sequence;
    }
  }

  private static ByteBuffer commit(long number, Change... changes) {
    RecordWriter out = new RecordWriter();
    Event event = new Event(number, 1, ME, false, List.of(changes), null);
    Records.write(out, new JournalRecord.Committed(event));
    return out.view();
  }

  private static Change added(long id) {
    return new Change.Added(new Task(id, id, "c", 1, null, 0, 0, Bytes.EMPTY));
  }

  private Map<String, Long> files() throws IOException {
    Map<String, Long> sizes = new TreeMap<>();
    try (Stream<Path> all = Files.list(folder)) {
      for (Path file : all.toList()) {
        sizes.put(file + " of " + Files.getLastModifiedTime(file), Files.size(file));
      }
    }
    return sizes;
  }

  @Test
  void a_file_that_is_none_of_a_journal_is_named_and_does_no_harm() throws IOException {
    Files.writeString(folder.resolve("foo.txt"), "something");
    Files.writeString(folder.resolve("1.segment"), "something");
    StoreReport report = TaskStore.verify(folder);
    assertThat(report.isSound()).isTrue();
    assertThat(report.journal().notices())
        .containsExactly(
            "1.segment is not a file of a journal and is ignored",
            "foo.txt is not a file of a journal and is ignored");
  }

  private void expectDamage(long sequence, String reason) throws IOException {
    Map<String, Long> before = files();
    StoreReport report = TaskStore.verify(folder);
    assertThat(files()).isEqualTo(before);
    assertThat(report.isSound()).isFalse();
    Damage first = report.journal().damages().getFirst();
    assertThat(first.file()).isEqualTo("0000000000000001.segment");
    assertThat(first.offset()).isGreaterThan(4096);
    assertThat(first.what()).startsWith("frame " + sequence + ": ").contains(reason);
    assertThatThrownBy(this::open)
        .isInstanceOf(DamagedJournalException.class)
        .hasMessageContaining(first.file() + " at byte " + first.offset())
        .hasMessageContaining(first.what());
  }

  @Test
  void a_sound_folder_is_counted_and_left_as_it_is() throws IOException {
    try (EmbeddedStore store = open()) {
      store.requestSnapshot();
      store.commit(Transaction.by(ME).add("d", "4").requestId("again").build()).done();
    }
    Map<String, Long> before = files();
    StoreReport report = TaskStore.verify(folder);
    assertThat(report.isSound()).isTrue();
    assertThat(report.tasks()).isEqualTo(4);
    assertThat(report.groups()).isEqualTo(3);
    assertThat(report.documents()).isZero();
    assertThat(report.rememberedRequests()).isEqualTo(1);
    assertThat(report.position()).isEqualTo(2).isEqualTo(report.journal().lastPosition());
    assertThat(report.lastId()).isEqualTo(4);
    assertThat(report.journal().snapshots()).isEqualTo(1);
    assertThat(files()).isEqualTo(before);
  }

  @Test
  void a_record_of_an_unknown_type_is_named_by_file_and_frame() throws IOException {
    expectDamage(append(ByteBuffer.wrap(new byte[] {99}), 0), "unknown type 99");
  }

  @Test
  void a_record_that_ends_too_early_is_named() throws IOException {
    ByteBuffer payload = commit(2, added(9));
    expectDamage(append(payload.limit(payload.limit() - 1), 1), "ends too early");
    StoreReport report = TaskStore.verify(folder);
    assertThat(report.position()).as("it counts what can be applied").isEqualTo(1);
    assertThat(report.tasks()).isEqualTo(3);
  }

  @Test
  void a_commit_that_changes_what_is_not_there_is_named() throws IOException {
    expectDamage(append(commit(2, new Change.Deleted(77, 77, "a")), 1), "task 77");
  }

  @Test
  void a_commit_that_gives_a_number_again_is_named() throws IOException {
    expectDamage(append(commit(2, added(1)), 1), "gives the id 1, although 3 was given before");
  }

  @Test
  void a_commit_that_changes_a_task_twice_is_named() throws IOException {
    Change deleted = new Change.Deleted(1, 1, "a");
    expectDamage(append(commit(2, deleted, deleted), 1), "changes task 1 twice");
  }

  @Test
  void a_commit_out_of_order_is_named() throws IOException {
    expectDamage(append(commit(5, added(9)), 1), "commit 5 follows commit 1");
  }

  @Test
  void a_frame_that_counts_its_commits_wrongly_is_named() throws IOException {
    expectDamage(append(commit(2, added(9)), 2), "its last commit is 2, but its header says 3");
  }

  @Test
  void every_frame_that_cannot_be_read_is_told() {
    append(ByteBuffer.wrap(new byte[] {99}), 0);
    long last = append(ByteBuffer.wrap(new byte[] {98}), 0);
    StoreReport report = TaskStore.verify(folder);
    assertThat(report.journal().damages()).hasSize(2);
    assertThat(report.journal().damages().getLast().what())
        .isEqualTo("frame " + last + ": unreadable record: unknown type 98");
  }

  @Test
  void a_record_in_a_snapshot_that_cannot_be_read_is_named_and_an_older_one_taken() {
    try (EmbeddedStore store = open()) {
      store.requestSnapshot();
    }
    try (FileJournal journal = FileJournal.open(environment, folder, FileJournalOptions.DEFAULTS)) {
      Journal.Tail tail = journal.recover(new Replayer());
      Journal.SnapshotWriter writer =
          journal.snapshot(
              new Frame(tail.sequence(), tail.epoch(), 7, 1, 0, 1, ByteBuffer.allocate(0)));
      RecordWriter counters = new RecordWriter();
      Records.write(counters, new JournalRecord.Counters(3, 1, 1, false, History.begin(5)));
      writer.part(counters.view());
      writer.part(ByteBuffer.wrap(new byte[] {17, 0}));
      writer.publish();
    }
    StoreReport report = TaskStore.verify(folder);
    Damage damage = report.journal().damages().getFirst();
    assertThat(report.journal().damages()).hasSize(1);
    assertThat(damage.file()).endsWith(".snapshot");
    assertThat(damage.what()).startsWith("part 1: unreadable record");
    assertThat(report.tasks()).isEqualTo(3);
    assertThatThrownBy(this::open)
        .isInstanceOf(DamagedJournalException.class)
        .hasMessageContaining(damage.file() + " at byte " + damage.offset());
  }
}
