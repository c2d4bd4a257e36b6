package io.millrace.store.journal.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.StoreException;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots that are checked while they are loaded. */
@Timeout(60)
class SnapshotLoadTest {
  private static final String NONSENSE = "nonsense";

  @TempDir private Path folder;

  /** A replay that does not understand some parts. */
  private static final class Picky implements Journal.Replay {
    final Recorded recorded = new Recorded();

    @Override
    public Runnable snapshotPart(ByteBuffer payload) {
      if (Recorded.text(payload).equals(NONSENSE)) {
        throw new StoreException("what is this");
      }
      return recorded.snapshotPart(payload);
    }

    @Override
    public void reset() {
      recorded.reset();
    }

    @Override
    public void frame(Frame frame) {
      recorded.frame(frame);
    }
  }

  private FileJournal open() {
    return FileJournal.open(Environment.system(), folder, FileJournalOptions.DEFAULTS);
  }

  /** Four frames, an old snapshot after the first and one of these parts after the third. */
  private void write(String... parts) {
    try (FileJournal journal = open()) {
      journal.recover(new Recorded());
      for (int i = 1; i <= 4; i++) {
        CompletableFuture<Void> done = journal.append(Recorded.frame(i, i - 1, "frame " + i));
        done.join();
      }
      snapshot(journal, 1, "old");
      snapshot(journal, 3, parts);
    }
  }

  private static void snapshot(FileJournal journal, long sequence, String... parts) {
    Journal.SnapshotWriter writer = journal.snapshot(Recorded.frame(sequence, sequence, ""));
    for (String part : parts) {
      writer.part(Recorded.bytes(part));
    }
    writer.publish();
  }

  private static String[] many() {
    return IntStream.range(0, 100).mapToObj(i -> "part " + i).toArray(String[]::new);
  }

  /** Flips a bit in the last part of the newest snapshot. */
  private void damage() throws IOException {
    Path file = folder.resolve(FileNames.snapshot(3));
    byte[] bytes = Files.readAllBytes(file);
    bytes[new String(bytes, StandardCharsets.ISO_8859_1).indexOf("part 99")] ^= 1;
    Files.write(file, bytes);
  }

  @Test
  void parts_are_put_into_the_state_in_order_however_many_they_are() {
    write(many());
    Recorded recorded = new Recorded();
    try (FileJournal journal = open()) {
      assertThat(journal.recover(recorded).notice()).isNull();
    }
    assertThat(recorded.parts).containsExactly(many());
    assertThat(recorded.frames).containsExactly("frame 4");
  }

  @Test
  void damage_behind_many_sound_parts_makes_the_older_snapshot_the_beginning() throws IOException {
    write(many());
    damage();
    Recorded recorded = new Recorded();
    try (FileJournal journal = open()) {
      assertThat(Objects.requireNonNull(journal.recover(recorded).notice()))
          .contains(FileNames.snapshot(3))
          .contains("was skipped");
    }
    assertThat(recorded.parts).containsExactly("old");
    assertThat(recorded.frames).containsExactly("frame 2", "frame 3", "frame 4");
  }

  @Test
  void a_sound_part_without_meaning_is_refused_with_its_place() {
    write("part 0", NONSENSE, "part 2");
    try (FileJournal journal = open()) {
      assertThatThrownBy(() -> journal.recover(new Picky()))
          .isInstanceOfSatisfying(
              DamagedJournalException.class,
              e -> {
                assertThat(e.file()).isEqualTo(FileNames.snapshot(3));
                assertThat(e.offset()).isPositive();
              })
          .hasMessageContaining("part 1: what is this");
    }
  }

  @Test
  void a_part_without_meaning_in_a_damaged_snapshot_is_passed_over_with_it() throws IOException {
    String[] parts = many();
    parts[1] = NONSENSE;
    write(parts);
    damage();
    Picky picky = new Picky();
    try (FileJournal journal = open()) {
      assertThat(journal.recover(picky).notice()).isNotNull();
    }
    assertThat(picky.recorded.parts).isEqualTo(List.of("old"));
  }
}
