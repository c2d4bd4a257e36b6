package io.millrace.store.testkit.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Bytes;
import io.millrace.store.Commit;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.StoreOptions;
import io.millrace.store.Subscription;
import io.millrace.store.Transaction;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.FrameCodec;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.Retention;
import io.millrace.store.journal.files.FileJournal;
import io.millrace.store.journal.files.FileJournalOptions;
import io.millrace.store.kernel.EmbeddedStore;
import io.millrace.store.kernel.StoreStarter;
import io.millrace.store.testkit.environment.SimulatedEnvironment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A commit that is larger than a frame is written, read, streamed and lost as a whole. */
final class DividedCommitTest {
  private static final Path FOLDER = Path.of("store");
  private static final int TASKS = 11;

  private final SimulatedEnvironment environment = new SimulatedEnvironment(1);

  private FileJournal journal() {
    // Segments of the size of a part, so that the parts of a commit lie in several.
    FileJournalOptions options =
        new FileJournalOptions(4 << 20, FrameCodec.MAX_PAYLOAD_BYTES, Retention.DEFAULTS);
    return FileJournal.open(environment, FOLDER, options);
  }

  private EmbeddedStore open(Journal journal) {
    return StoreStarter.open(StoreOptions.in(FOLDER).withEnvironment(environment), journal);
  }

  /** A commit with this many mebibytes. */
  private static Transaction large(int mebibytes) {
    Transaction.Builder by = Transaction.by(Owner.client(1));
    for (int i = 0; i < mebibytes; i++) {
      by.add("large", Bytes.copyOf(new byte[1 << 20]));
    }
    return by.build();
  }

  private static Transaction small() {
    return Transaction.by(Owner.client(1)).add("small", Bytes.of("x")).build();
  }

  private List<Long> frameBytes() {
    List<Long> sizes = new ArrayList<>();
    try (FileJournal journal = journal()) {
      long _ =
          journal.follow(
              new Journal.Replay() {
                @Override
                public Runnable snapshotPart(ByteBuffer payload) {
                  return () -> {};
                }

                @Override
                public void reset() {}

                @Override
                public void frame(Frame frame) {
                  sizes.add((long) frame.payload().remaining());
                }
              },
              0);
    }
    return sizes;
  }

  @Test
  void a_commit_larger_than_a_frame_is_there_after_a_restart() {
    String digest;
    try (EmbeddedStore store = open(journal())) {
      store.commit(small());
      store.commit(large(TASKS));
      store.commit(small());
      digest = store.digest().value();
    }
    assertThat(frameBytes())
        .allMatch(bytes -> bytes <= FrameCodec.MAX_PAYLOAD_BYTES)
        .filteredOn(bytes -> bytes > 3 << 20)
        .hasSize(3);
    try (EmbeddedStore store = open(journal())) {
      assertThat(store.digest().value()).isEqualTo(digest);
    }
  }

  @Test
  void commits_that_only_together_are_too_large_get_frames_of_their_own() {
    try (EmbeddedStore store = open(journal())) {
      var first = store.submit(large(3));
      var second = store.submit(large(3));
      environment.runUntilIdle();
      assertThat(first).isCompleted();
      assertThat(second).isCompleted();
    }
    assertThat(frameBytes()).filteredOn(bytes -> bytes > 3 << 20).hasSize(2);
  }

  @Test
  void subscribers_get_a_divided_commit_from_whatever_position_they_begin_at() throws Exception {
    List<Position> positions = new ArrayList<>();
    try (EmbeddedStore store = open(journal())) {
      positions.add(store.status().position());
      for (int i = 0; i < 3; i++) {
        positions.add(store.commit(large(TASKS)).position());
        positions.add(store.commit(small()).position());
      }
    }
    try (EmbeddedStore store = open(journal())) {
      for (Position from : positions) {
        Subscription.Interest interest = new Subscription.Interest(from, Set.of(), Set.of());
        try (Subscription stream = store.subscribe(interest)) {
          for (long number = from.number() + 1; number <= 6; number++) {
            Commit commit = Objects.requireNonNull(stream.next(Duration.ZERO));
            assertThat(commit.position().number()).isEqualTo(number);
            assertThat(commit.changes()).hasSize(number % 2 == 1 ? TASKS : 1);
          }
        }
      }
    }
  }

  @Test
  void a_commit_of_which_a_part_is_missing_was_told_to_no_caller_and_is_dropped() {
    GatedJournal gated = new GatedJournal(journal());
    EmbeddedStore store = open(gated);
    store.commit(small());
    gated.letThrough(2);
    var answer = store.submit(large(TASKS));
    environment.runUntilIdle();
    assertThat(answer).isNotDone();
    gated.fail();
    environment.runUntilIdle();
    assertThatThrownBy(answer::join).hasCauseInstanceOf(OutcomeUnknownException.class);
    store.close();
    for (int i = 0; i < 2; i++) {
      try (EmbeddedStore again = open(journal())) {
        assertThat(again.status().tasks()).isEqualTo(1 + i);
        again.commit(small());
      }
    }
  }
}
