package io.millrace.store.journal.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.millrace.store.environment.Environment;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.OccupiedException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotTest {
  private static final FileJournalOptions SMALL = new FileJournalOptions(1 << 16, 1 << 20);

  @TempDir Path folder;

  private static byte[] written(String... parts) throws IOException {
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    SnapshotOutput output = new SnapshotOutput(stream, Recorded.frame(42, 42, ""), false);
    for (String part : parts) {
      output.part(Recorded.bytes(part));
    }
    output.finish();
    return stream.toByteArray();
  }

  private static List<String> read(byte[] bytes) throws IOException {
    SnapshotInput input = new SnapshotInput(new ByteArrayInputStream(bytes), "test");
    List<String> parts = new ArrayList<>();
    for (ByteBuffer part = input.next(); part != null; part = input.next()) {
      parts.add(Recorded.text(part));
    }
    assertThat(input.frame().sequence()).isEqualTo(42);
    assertThat(input.parts()).isEqualTo(parts.size());
    return parts;
  }

  @Test
  void parts_of_any_size_come_back() throws IOException {
    String large = "large".repeat(1_000_000);
    assertThat(read(written("", "a", large, "b"))).containsExactly("", "a", large, "b");
    assertThat(read(written())).isEmpty();
  }

  @Test
  void a_snapshot_cut_at_any_byte_or_with_any_bit_flipped_is_not_whole() throws IOException {
    byte[] whole = written("first", "second");
    for (int at = 0; at < whole.length; at++) {
      byte[] cut = Arrays.copyOf(whole, at);
      assertThatThrownBy(() -> read(cut)).isInstanceOf(DamagedJournalException.class);
    }
    for (int at = 0; at < whole.length; at++) {
      byte[] flipped = whole.clone();
      flipped[at] ^= 1;
      DamagedJournalException damage =
          catchThrowableOfType(DamagedJournalException.class, () -> read(flipped));
      if (damage == null) {
        // Only bytes that mean nothing may change unseen.
        assertThat(read(flipped)).containsExactly("first", "second");
      }
    }
  }

  @Test
  void a_backup_restored_to_an_empty_folder_is_a_journal_of_its_own() throws IOException {
    byte[] backup = written("state", "more");
    Frame frame =
        FileJournal.restore(Environment.system(), folder, new ByteArrayInputStream(backup));
    assertThat(frame.sequence()).isEqualTo(42);
    for (int life = 0; life < 3; life++) {
      Recorded recorded = new Recorded();
      try (FileJournal journal = FileJournal.open(Environment.system(), folder, SMALL)) {
        assertThat(journal.recover(recorded))
            .isEqualTo(new Journal.Tail(42 + life, 1 + life, 42 + life, 1_042 + life, null, 0, 0));
        CompletableFuture<Void> done =
            journal.append(Recorded.frame(43 + life, 42 + life, "after " + life));
        done.join();
        assertThat(journal.read(41)).isNull();
        try (Journal.Reader reader = Objects.requireNonNull(journal.read(42))) {
          assertThat(Recorded.text(Objects.requireNonNull(reader.next()).payload()))
              .isEqualTo("after 0");
        }
      }
      assertThat(recorded.parts).containsExactly("state", "more");
    }
    assertThat(JournalCheck.verify(folder).damages()).isEmpty();
  }

  @Test
  void a_backup_is_not_restored_over_a_journal_nor_when_it_is_cut_short() throws IOException {
    byte[] backup = written("state");
    byte[] cut = Arrays.copyOf(backup, backup.length - 1);
    assertThatThrownBy(
            () -> FileJournal.restore(Environment.system(), folder, new ByteArrayInputStream(cut)))
        .isInstanceOf(DamagedJournalException.class);
    assertThat(JournalCheck.verify(folder).snapshots()).isZero();
    FileJournal.restore(Environment.system(), folder, new ByteArrayInputStream(backup));
    assertThatThrownBy(() ->
            FileJournal.restore(Environment.system(), folder, new ByteArrayInputStream(backup)))
        .isInstanceOf(OccupiedException.class)
        .hasMessageContaining("is not empty: it holds ");
  }

  @Test
  void an_abandoned_snapshot_leaves_nothing() {
    try (FileJournal journal = FileJournal.open(Environment.system(), folder, SMALL)) {
      journal.recover(new Recorded());
      Journal.SnapshotWriter writer = journal.snapshot(Recorded.frame(1, 1, ""));
      writer.part(Recorded.bytes("unwanted"));
      writer.abandon();
    }
    JournalReport report = JournalCheck.verify(folder);
    assertThat(report.snapshots()).isZero();
    assertThat(report.notices()).isEmpty();
  }

  @Test
  void a_missing_folder_is_not_created_by_a_check() {
    Path missing = folder.resolve("missing");
    assertThatThrownBy(() -> JournalCheck.verify(missing))
        .isInstanceOf(JournalException.class)
        .hasMessageContaining("is not a folder");
    assertThat(missing).doesNotExist();
  }
}
