package io.millrace.store.journal.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.environment.Environment;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileJournalTest {
  private static final FileJournalOptions SMALL = new FileJournalOptions(1 << 16, 1 << 20);

  @TempDir Path folder;

  private FileJournal open() {
    return FileJournal.open(Environment.system(), folder, SMALL);
  }

  private static void append(FileJournal journal, int from, int to, String payload) {
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int i = from; i <= to; i++) {
      all.add(journal.append(Recorded.frame(i, from - 1, payload + i)));
    }
    all.forEach(CompletableFuture::join);
  }

  private static void snapshot(FileJournal journal, long sequence, String... parts) {
    Journal.SnapshotWriter writer = journal.snapshot(Recorded.frame(sequence, sequence, ""));
    for (String part : parts) {
      writer.part(Recorded.bytes(part));
    }
    writer.publish();
  }

  @Test
  void a_new_folder_holds_nothing() {
    Recorded recorded = new Recorded();
    try (FileJournal journal = open()) {
      assertThat(journal.recover(recorded)).isEqualTo(new Journal.Tail(0, 0, 0, 0, null, 0, 0));
    }
    assertThat(recorded.frames).isEmpty();
    assertThat(recorded.parts).isEmpty();
  }

  @Test
  void frames_come_back_in_order_over_many_segments() {
    try (FileJournal journal = open()) {
      journal.recover(new Recorded());
      append(journal, 1, 3_000, "x".repeat(100));
      append(journal, 3_001, 3_001, "y".repeat(200_000));
      append(journal, 3_002, 3_010, "z");
    }
    Recorded recorded = new Recorded();
    try (FileJournal journal = open()) {
      assertThat(journal.recover(recorded))
          .isEqualTo(new Journal.Tail(3_010, 1, 3_010, 4_010, null, 0, 0));
      append(journal, 3_011, 3_011, "later");
    }
    assertThat(recorded.frames).hasSize(3_010);
    assertThat(recorded.frames.get(0)).isEqualTo("x".repeat(100) + 1);
    assertThat(recorded.frames.get(3_000)).isEqualTo("y".repeat(200_000) + 3_001);
    assertThat(recorded.frames.get(3_009)).isEqualTo("z3010");
  }

  @Test
  void a_folder_opened_twice_is_refused() {
    try (FileJournal _ = open()) {
      assertThatThrownBy(this::open)
          .isInstanceOf(JournalException.class)
          .hasMessageContaining("is in use by another process")
          .hasMessageContaining(folder.getFileName().toString());
    }
    open().close();
  }

  @Test
  void a_folder_that_cannot_be_made_is_refused_in_words() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "");
    assertThatThrownBy(() -> FileJournal.open(Environment.system(), file.resolve("below"), SMALL))
        .isInstanceOf(JournalException.class)
        .hasMessageStartingWith("cannot open the journal in " + file)
        .hasMessageNotContaining("Exception");
  }

  @Test
  void recovery_begins_with_the_newest_snapshot() {
    try (FileJournal journal = open()) {
      journal.recover(new Recorded());
      append(journal, 1, 1_000, "a".repeat(300));
      snapshot(journal, 400, "old");
      snapshot(journal, 990, "new", "", "parts");
    }
    Recorded recorded = new Recorded();
    try (FileJournal journal = open()) {
      assertThat(journal.recover(recorded).sequence()).isEqualTo(1_000);
    }
    assertThat(recorded.parts).containsExactly("new", "", "parts");
    assertThat(recorded.sequences).hasSize(10).startsWith(991L);
  }

  @Test
  void trimming_keeps_two_snapshots_and_the_segments_from_the_older_one() throws IOException {
    try (FileJournal journal = open()) {
      journal.recover(new Recorded());
      append(journal, 1, 1_000, "a".repeat(300));
      snapshot(journal, 100, "first");
      snapshot(journal, 500, "second");
      snapshot(journal, 900, "third");
      journal.trim(450);
      assertThat(journal.read(0)).isNull();
      try (Journal.Reader reader = Objects.requireNonNull(journal.read(450))) {
        assertThat(Objects.requireNonNull(reader.next()).position()).isEqualTo(451);
      }
      journal.trim(Long.MAX_VALUE);
    }
    try (var files = Files.list(folder)) {
      assertThat(files.filter(file -> file.toString().endsWith(".snapshot"))).hasSize(2);
    }
    Path newest = folder.resolve(FileNames.snapshot(900));
    byte[] bytes = Files.readAllBytes(newest);
    bytes[70] ^= 1;
    Files.write(newest, bytes);
    Recorded recorded = new Recorded();
    try (FileJournal journal = open()) {
      assertThat(journal.recover(recorded).notice()).contains("was skipped");
      // The damaged one is none of the two that are kept.
      snapshot(journal, 1_000, "fourth");
      journal.trim(Long.MAX_VALUE);
      assertThat(journal.read(500)).isNotNull();
    }
    assertThat(folder.resolve(FileNames.snapshot(500))).exists();
    assertThat(folder.resolve(FileNames.snapshot(900))).doesNotExist();
    assertThat(recorded.parts).containsExactly("second");
    assertThat(recorded.sequences).hasSize(500).startsWith(501L);
  }

  @Test
  void a_reader_follows_the_tail_while_appends_go_on() {
    try (FileJournal journal = open()) {
      journal.recover(new Recorded());
      Journal.Reader reader = Objects.requireNonNull(journal.read(0));
      long expected = 1;
      for (int i = 1; i <= 2_000; i += 100) {
        append(journal, i, i + 99, "b".repeat(100));
        for (Frame frame = reader.next(); frame != null; frame = reader.next()) {
          assertThat(frame.sequence()).isEqualTo(expected);
          assertThat(Recorded.text(frame.payload())).isEqualTo("b".repeat(100) + expected);
          expected++;
        }
        assertThat(expected).isEqualTo(i + 100);
      }
      reader.close();
    }
  }

  @Test
  void appends_reads_snapshots_and_trims_run_side_by_side() throws Exception {
    int frames = 3_000;
    try (FileJournal journal = open();
        ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread::new)) {
      journal.recover(new Recorded());
      AtomicLong durable = new AtomicLong();
      Journal.Reader reader = Objects.requireNonNull(journal.read(0));
      Future<?> reading =
          threads.submit(() -> {
            for (long expected = 1; expected <= frames; ) {
              Frame frame = reader.next();
              if (frame == null) {
                Thread.onSpinWait();
                continue;
              }
              assertThat(frame.sequence()).isEqualTo(expected);
              assertThat(Recorded.text(frame.payload())).isEqualTo("f".repeat(500) + expected);
              expected++;
            }
            reader.close();
          });
      Future<?> snapshots =
          threads.submit(() -> {
            while (durable.get() < frames) {
              snapshot(journal, durable.get(), "state");
              journal.trim(Long.MAX_VALUE);
            }
          });
      for (int i = 1; i <= frames; i += 10) {
        append(journal, i, i + 9, "f".repeat(500));
        durable.set(i + 9);
      }
      reading.get(30, TimeUnit.SECONDS);
      snapshots.get(30, TimeUnit.SECONDS);
      snapshot(journal, frames - 1, "last but one");
      snapshot(journal, frames, "last");
      journal.trim(Long.MAX_VALUE);
      assertThat(journal.read(0)).isNull();
    }
    Recorded recorded = new Recorded();
    try (FileJournal journal = open()) {
      assertThat(journal.recover(recorded).sequence()).isEqualTo(frames);
    }
    assertThat(recorded.parts).containsExactly("last");
    assertThat(recorded.frames).isEmpty();
  }

  @Test
  void frames_that_do_not_follow_are_refused() {
    try (FileJournal journal = open()) {
      journal.recover(new Recorded());
      append(journal, 1, 2, "c");
      assertThatThrownBy(() -> journal.append(Recorded.frame(4, 2, "gap")))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> journal.append(Recorded.frame(3, 2, "d".repeat((1 << 20) + 1))))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("at most 1048576");
      append(journal, 3, 3, "e");
    }
  }
}
