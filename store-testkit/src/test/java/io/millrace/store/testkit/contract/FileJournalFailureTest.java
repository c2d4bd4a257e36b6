package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.environment.Folder;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import io.millrace.store.testkit.environment.SimulatedDisk;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The journal in files on a disk that fails or is full. */
final class FileJournalFailureTest {
  private static final FileJournalOptions SMALL = new FileJournalOptions(1 << 16, 1 << 20);
  private static final Path FOLDER = Path.of("journal");

  /** The bytes of a segment's header, of a frame's, and of a frame with 10,000 bytes. */
  private static final int SEGMENT_HEADER_BYTES = 4096,
      FRAME_HEADER_BYTES = 72,
      FRAME_BYTES = 10_072;

  private final SimulatedEnvironment environment = new SimulatedEnvironment(1);
  private final SimulatedDisk disk = environment.disk();

  @BeforeEach
  void letFramesQueueUp() {
    environment.scheduler().eager(false);
  }

  private FileJournal open() {
    return open(SMALL);
  }

  private FileJournal open(FileJournalOptions options) {
    FileJournal journal = FileJournal.open(environment, FOLDER, options);
    JournalContract.lead(journal);
    return journal;
  }

  private static long recovered(SimulatedEnvironment world) {
    try (FileJournal journal = FileJournal.open(world, FOLDER, SMALL)) {
      return JournalContract.lead(journal).tail().sequence();
    }
  }

  private static Frame frame(long sequence, long durable, String payload) {
    return new Frame(
        sequence, 1, 77, 1_000 + sequence, durable, sequence, JournalContract.bytes(payload));
  }

  @Test
  void frames_queued_together_share_one_write_and_one_sync() {
    FileJournal journal = open();
    environment.runUntilIdle();
    long before = disk.operations();
    CompletableFuture<Void> first = journal.append(frame(1, 0, "a"));
    CompletableFuture<Void> second = journal.append(frame(2, 0, "b"));
    assertThat(first).isNotDone();
    environment.runUntilIdle();
    assertThat(first).isCompleted();
    assertThat(second).isCompleted();
    assertThat(disk.operations() - before).isEqualTo(2);
  }

  @Test
  void a_failed_sync_fails_this_and_all_later_frames_and_is_not_tried_again() {
    FileJournal journal = open();
    CompletableFuture<Void> first = journal.append(frame(1, 0, "a"));
    environment.runUntilIdle();
    disk.failSyncAfter(1);
    CompletableFuture<Void> second = journal.append(frame(2, 1, "b"));
    environment.runUntilIdle();
    long operations = disk.operations();
    CompletableFuture<Void> third = journal.append(frame(3, 1, "c"));
    environment.runUntilIdle();
    assertThat(first).isCompleted();
    assertThatThrownBy(second::join)
        .hasCauseInstanceOf(JournalException.class)
        .hasMessageContaining("the journal failed: input/output error in a sync");
    assertThatThrownBy(third::join).hasMessageContaining("the journal failed");
    assertThat(disk.operations()).isEqualTo(operations);
  }

  @Test
  void what_recovery_delivers_after_a_failed_sync_lasts_although_the_first_sync_was_lost() {
    for (int seed = 0; seed < 20; seed++) {
      SimulatedEnvironment world = new SimulatedEnvironment(seed);
      FileJournal journal = FileJournal.open(world, FOLDER, SMALL);
      JournalContract.lead(journal);
      world.disk().failSyncAfter(1);
      CompletableFuture<Void> first = journal.append(frame(1, 0, "a".repeat(5_000)));
      world.runUntilIdle();
      assertThat(first).isCompletedExceptionally();
      world.killProcess();
      assertThat(recovered(world)).isEqualTo(1);
      world.cutPower();
      assertThat(recovered(world)).isEqualTo(1);
    }
  }

  /** Appends frames of 10,000 bytes while they become durable at once; gives their number. */
  private long fill(FileJournal journal, long durable) {
    long last = durable;
    while (true) {
      CompletableFuture<Void> done = append(journal, last + 1);
      environment.runUntilIdle();
      if (!done.isDone()) {
        assertThat(stuck(journal)).isTrue();
        return last;
      }
      assertThat(done).isCompleted();
      last++;
    }
  }

  private static CompletableFuture<Void> append(FileJournal journal, long sequence) {
    return journal.append(frame(sequence, sequence - 1, "x".repeat(10_000)));
  }

  private static boolean stuck(FileJournal journal) {
    Journal.Shortage shortage = journal.shortage();
    return shortage != null && shortage.stuck();
  }

  private static long roomBytes(FileJournal journal) {
    return Objects.requireNonNull(journal.shortage()).roomBytes();
  }

  @Test
  void a_full_disk_is_a_shortage_from_which_the_journal_goes_on_by_itself() throws IOException {
    FileJournal journal = open();
    disk.limitTo(100_000);
    assertThat(journal.shortage()).isNull();
    CompletableFuture<Void> first = append(journal, 1);
    CompletableFuture<Void> second = append(journal, 2);
    environment.runUntilIdle();
    assertThat(first).isCompleted();
    assertThat(second).isCompleted();
    assertThat(journal.shortage())
        .as("told while there is still room for other frames")
        .isEqualTo(
            new Journal.Shortage(
                "no room for a segment of 65536 bytes in journal: no space left on device",
                (1 << 16) - SEGMENT_HEADER_BYTES - 2 * FRAME_BYTES - (FRAME_HEADER_BYTES + 8),
                false));
    try (Folder folder = disk.open(FOLDER)) {
      assertThat(folder.list()).as("what was allocated").doesNotContain("spare.segment.tmp");
    }

    long durable = fill(journal, 2);
    assertThat(durable).isEqualTo(6);
    assertThat(roomBytes(journal)).isZero();
    disk.limitTo(Long.MAX_VALUE);
    CompletableFuture<Void> next = append(journal, durable + 2);
    environment.runUntilIdle();
    assertThat(next).as("not tried before a second is over").isNotDone();
    environment.advance(Duration.ofSeconds(1));
    assertThat(next).isCompleted();
    assertThat(journal.shortage()).isNull();
    journal.close();

    environment.cutPower();
    assertThat(recovered(environment)).isEqualTo(durable + 2);
  }

  @Test
  void a_frame_has_room_if_it_is_as_large_as_the_shortage_says() {
    FileJournal journal = open();
    disk.limitTo(100_000);
    for (int i = 1; i <= 3; i++) {
      append(journal, i).isDone();
    }
    environment.runUntilIdle();
    CompletableFuture<Void> fits =
        journal.append(frame(4, 3, "y".repeat((int) roomBytes(journal))));
    assertThat(roomBytes(journal)).as("queued frames count").isZero();
    environment.runUntilIdle();
    assertThat(fits).isCompleted();
    assertThat(stuck(journal)).isFalse();
  }

  @Test
  void a_lack_of_descriptors_after_the_next_segment_was_opened_does_not_stop_the_journal() {
    FileJournal journal = open();
    environment.runUntilIdle();
    disk.refuseOpens(true);
    long durable = fill(journal, 0);
    assertThat(durable).as("two whole segments").isEqualTo(12);
    assertThat(Objects.requireNonNull(journal.shortage()).why())
        .contains("no room for a segment of 65536 bytes", "too many open files");
    disk.refuseOpens(false);
    environment.advance(Duration.ofSeconds(1));
    CompletableFuture<Void> next = append(journal, durable + 2);
    environment.runUntilIdle();
    assertThat(next).isCompleted();
    assertThat(journal.shortage()).isNull();
  }

  @Test
  void the_next_segment_leaves_the_reserve_of_the_disk_to_others() {
    disk.limitTo(1 << 20);
    FileJournal journal = open(SMALL.withReserveBytes((1 << 20) - 3 * (1 << 16)));
    fill(journal, 0);
    assertThat(Objects.requireNonNull(journal.shortage()).why())
        .contains("no room for a segment of 65536 bytes in journal: the disk has")
        .endsWith("free bytes, of which 851968 are reserved");
    assertThat(journal.freeBytes()).isEqualTo((1 << 20) - 3 * (1 << 16));
  }

  @Test
  void a_close_fails_the_frames_for_which_there_is_no_room_and_loses_no_other() {
    FileJournal journal = open();
    disk.limitTo(100_000);
    long durable = fill(journal, 0);
    CompletableFuture<Void> last = append(journal, durable + 2);
    journal.close();
    assertThatThrownBy(last::join)
        .hasMessageContaining("no room for a segment of 65536 bytes in journal");
    environment.cutPower();
    assertThat(recovered(environment)).isEqualTo(durable);
  }

  @Test
  void frames_that_wait_for_room_for_a_minute_fail_and_so_does_the_journal() {
    FileJournal journal = open();
    disk.limitTo(100_000);
    long durable = fill(journal, 0);
    CompletableFuture<Void> last = append(journal, durable + 2);
    environment.advance(Duration.ofSeconds(59));
    assertThat(last).isNotDone();
    environment.advance(Duration.ofSeconds(2));
    assertThatThrownBy(last::join).hasMessageContaining("no room for a segment of 65536 bytes");
    journal.close();
  }

  @Test
  void an_opening_whose_first_frame_has_no_room_fails_at_once() {
    FileJournal journal = open();
    disk.limitTo(100_000);
    long durable = fill(journal, 0);
    journal.close();
    FileJournal again = FileJournal.open(environment, FOLDER, SMALL);
    assertThat(JournalContract.lead(again).tail().sequence()).isEqualTo(durable);
    CompletableFuture<Void> first = append(again, durable + 1);
    environment.runUntilIdle();
    assertThatThrownBy(first::join).hasMessageContaining("no room for a segment of 65536 bytes");
    again.close();
  }

  @Test
  void an_error_while_the_next_segment_is_prepared_fails_all_who_wait_and_all_who_come() {
    FileJournal journal = open();
    environment.runUntilIdle();
    for (int i = 1; i <= 2; i++) {
      append(journal, i).isDone();
    }
    disk.failAllocations(new StackOverflowError("an allocation"));
    environment.runUntilIdle();
    CompletableFuture<Void> next = append(journal, 3);
    environment.runUntilIdle();
    assertThatThrownBy(next::join).hasMessageContaining("the journal failed: an allocation");
    journal.close();
  }

  @Test
  void a_closed_journal_has_made_everything_durable_and_takes_no_more() {
    FileJournal journal = open();
    CompletableFuture<Void> first = journal.append(frame(1, 0, "a"));
    journal.close();
    assertThat(first).isCompleted();
    assertThatThrownBy(() -> journal.append(frame(2, 1, "b")).join())
        .hasMessageContaining("the journal is closed");
  }
}
