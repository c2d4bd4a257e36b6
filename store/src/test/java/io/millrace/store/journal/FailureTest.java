package io.millrace.store.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class FailureTest {
  private static final FileJournalOptions SMALL = new FileJournalOptions(1 << 16, 1 << 20);
  private static final Path FOLDER = Path.of("memory");

  private final SteppedEnvironment environment = new SteppedEnvironment(1);

  private FileJournal open() {
    FileJournal journal = FileJournal.open(environment, FOLDER, SMALL);
    journal.recover(new Recorded());
    return journal;
  }

  @Test
  void frames_queued_together_share_one_write_and_one_sync() {
    FileJournal journal = open();
    long before = environment.disk.operations;
    CompletableFuture<Void> first = journal.append(Recorded.frame(1, 0, "a"));
    CompletableFuture<Void> second = journal.append(Recorded.frame(2, 0, "b"));
    assertThat(first).isNotDone();
    assertThat(journal.unsyncedBytes()).isEqualTo(2);
    environment.run();
    assertThat(first).isCompleted();
    assertThat(second).isCompleted();
    assertThat(environment.disk.operations - before).isEqualTo(2);
    assertThat(journal.unsyncedBytes()).isZero();
  }

  @Test
  void a_failed_sync_fails_this_and_all_later_frames_and_is_not_tried_again() {
    FileJournal journal = open();
    CompletableFuture<Void> first = journal.append(Recorded.frame(1, 0, "a"));
    environment.run();
    environment.disk.syncsLeft = 0;
    CompletableFuture<Void> second = journal.append(Recorded.frame(2, 1, "b"));
    environment.run();
    environment.disk.syncsLeft = Long.MAX_VALUE;
    long operations = environment.disk.operations;
    CompletableFuture<Void> third = journal.append(Recorded.frame(3, 1, "c"));
    environment.run();
    assertThat(first).isCompleted();
    assertThatThrownBy(second::join)
        .hasCauseInstanceOf(JournalException.class)
        .hasMessageContaining("the journal failed: the disk does not answer");
    assertThatThrownBy(third::join).hasMessageContaining("the journal failed");
    assertThat(environment.disk.operations).isEqualTo(operations);
  }

  @Test
  void what_recovery_delivers_after_a_failed_sync_lasts_although_the_first_sync_was_lost() {
    for (int seed = 0; seed < 20; seed++) {
      SteppedEnvironment world = new SteppedEnvironment(seed);
      FileJournal journal = FileJournal.open(world, FOLDER, SMALL);
      journal.recover(new Recorded());
      CompletableFuture<Void> first = journal.append(Recorded.frame(1, 0, "a".repeat(5_000)));
      world.disk.syncsLeft = 0;
      world.run();
      assertThat(first).isCompletedExceptionally();
      world.disk.kill();
      try (FileJournal again = FileJournal.open(world, FOLDER, SMALL)) {
        assertThat(again.recover(new Recorded()).sequence()).isEqualTo(1);
      }
      world.disk.crash(new SplittableRandom(seed));
      try (FileJournal again = FileJournal.open(world, FOLDER, SMALL)) {
        assertThat(again.recover(new Recorded()).sequence()).isEqualTo(1);
      }
    }
  }

  @Test
  void a_full_disk_fails_the_append_with_folder_and_size_and_loses_nothing_acknowledged() {
    FileJournal journal = open();
    environment.disk.capacityBytes = 100_000;
    String payload = "x".repeat(10_000);
    long durable = 0;
    CompletableFuture<Void> last = CompletableFuture.completedFuture(null);
    while (!last.isCompletedExceptionally()) {
      last = journal.append(Recorded.frame(durable + 1, durable, payload));
      environment.run();
      durable += last.isCompletedExceptionally() ? 0 : 1;
    }
    assertThat(durable).isEqualTo(6);
    assertThatThrownBy(last::join)
        .hasMessageContaining("no room for a segment of 65536 bytes in memory");
    journal.close();
    environment.disk.crash(new SplittableRandom(1));
    Recorded recorded = new Recorded();
    try (FileJournal again = FileJournal.open(environment, FOLDER, SMALL)) {
      assertThat(again.recover(recorded).sequence()).isEqualTo(durable);
    }
  }

  @Test
  void room_that_is_made_before_the_segment_is_full_lets_the_journal_go_on() {
    FileJournal journal = open();
    environment.disk.capacityBytes = 100_000;
    String payload = "x".repeat(10_000);
    for (int i = 1; i <= 6; i++) {
      CompletableFuture<Void> done = journal.append(Recorded.frame(i, i - 1, payload));
      environment.run();
      assertThat(done).isCompleted();
    }
    environment.disk.capacityBytes = Long.MAX_VALUE;
    CompletableFuture<Void> next = journal.append(Recorded.frame(7, 6, payload));
    environment.run();
    assertThat(next).isCompleted();
  }

  @Test
  void a_closed_journal_has_made_everything_durable_and_takes_no_more() {
    FileJournal journal = open();
    CompletableFuture<Void> first = journal.append(Recorded.frame(1, 0, "a"));
    journal.close();
    assertThat(first).isCompleted();
    assertThatThrownBy(() -> journal.append(Recorded.frame(2, 1, "b")).join())
        .hasMessageContaining("the journal is closed");
  }
}
