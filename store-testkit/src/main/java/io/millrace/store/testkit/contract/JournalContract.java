package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The contract of journals. The test of a back end extends this class and supplies a {@link
 * JournalFixture}.
 *
 * <p>It does not define how a journal stores frames, or when it removes those that it may remove. A
 * journal may refuse a second writer at its opening, for example with the lock of a folder, or let
 * it fence the first one with a frame of a larger epoch, for example in a shared database.
 */
public abstract class JournalContract {
  private static final long WRITER = 77;

  private @Nullable JournalFixture fixture;

  /** Creates a fixture without a journal. */
  protected abstract JournalFixture newFixture();

  @BeforeEach
  final void begin() {
    fixture = newFixture();
  }

  @AfterEach
  final void end() {
    fixture().close();
  }

  private JournalFixture fixture() {
    return Objects.requireNonNull(fixture);
  }

  /** Collects what a recovery delivers. */
  static final class Delivered implements Journal.Replay {
    final List<String> parts = new ArrayList<>();
    final List<Frame> frames = new ArrayList<>();
    private Journal.@Nullable Tail tail;

    @Override
    public Runnable snapshotPart(ByteBuffer payload) {
      String part = text(payload);
      return () -> parts.add(part);
    }

    @Override
    public void reset() {
      parts.clear();
    }

    @Override
    public void frame(Frame frame) {
      frames.add(kept(frame));
    }

    Journal.Tail tail() {
      return Objects.requireNonNull(tail);
    }

    List<Long> sequences() {
      return frames.stream().map(Frame::sequence).toList();
    }
  }

  static String text(ByteBuffer payload) {
    return StandardCharsets.UTF_8.decode(payload.duplicate()).toString();
  }

  static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }

  /** A copy that stays valid. */
  private static Frame kept(Frame frame) {
    return new Frame(
        frame.sequence(),
        frame.epoch(),
        frame.writer(),
        frame.timeMillis(),
        frame.durableSequence(),
        frame.position(),
        bytes(text(frame.payload())));
  }

  /** A frame with one commit. */
  private static Frame frame(long sequence, String payload) {
    return frame(sequence, 1, sequence, payload);
  }

  private static Frame frame(long sequence, long epoch, long position, String payload) {
    return new Frame(sequence, epoch, WRITER, 1_000 + sequence, 0, position, bytes(payload));
  }

  static Delivered recover(Journal journal) {
    Delivered delivered = new Delivered();
    delivered.tail = journal.recover(delivered);
    return delivered;
  }

  /** Opens the journal again and reads its content. */
  private Delivered recovered() {
    try (Journal journal = fixture().open()) {
      return recover(journal);
    }
  }

  private void append(Journal journal, long from, long to) {
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (long sequence = from; sequence <= to; sequence++) {
      all.add(journal.append(frame(sequence, "frame " + sequence)));
    }
    all.forEach(fixture()::await);
  }

  private static void snapshot(Journal journal, long sequence, String... parts) {
    Journal.SnapshotWriter writer = journal.snapshot(frame(sequence, ""));
    for (String part : parts) {
      writer.part(bytes(part));
    }
    writer.publish();
  }

  private static List<Long> sequences(Journal.Reader reader) {
    List<Long> read = new ArrayList<>();
    for (Frame frame = reader.next(); frame != null; frame = reader.next()) {
      read.add(frame.sequence());
      assertThat(text(frame.payload())).isEqualTo("frame " + frame.sequence());
    }
    return read;
  }

  @Test
  void a_new_journal_holds_nothing() {
    try (Journal journal = fixture().open()) {
      Delivered delivered = recover(journal);
      assertThat(delivered.frames).isEmpty();
      assertThat(delivered.parts).isEmpty();
      assertThat(delivered.tail().sequence()).isZero();
      assertThat(delivered.tail().epoch()).isZero();
      assertThat(delivered.tail().position()).isZero();
      assertThat(delivered.tail().notice()).isNull();
      assertThat(delivered.tail().cuts()).isZero();
      assertThat(journal.shortage()).isNull();
      assertThat(journal.freeBytes()).isPositive();
    }
  }

  @Test
  void frames_come_back_as_they_were_written() {
    List<Frame> frames =
        List.of(
            new Frame(1, 3, -9, 1_000, 0, 1, bytes("one")),
            new Frame(2, 3, -9, 1_000, 1, 1, bytes("no commit")),
            new Frame(3, 3, -9, 1_700, 2, 6, bytes("five commits")),
            new Frame(4, 8, Long.MAX_VALUE, 1L << 50, 3, 7, bytes("ä".repeat(500_000))));
    try (Journal journal = fixture().open()) {
      recover(journal);
      for (Frame frame : frames) {
        fixture().await(journal.append(frame));
      }
    }
    Delivered delivered = recovered();
    assertThat(delivered.frames).isEqualTo(frames);
    assertThat(delivered.tail().sequence()).isEqualTo(4);
    assertThat(delivered.tail().epoch()).isEqualTo(8);
    assertThat(delivered.tail().position()).isEqualTo(7);
    assertThat(delivered.tail().timeMillis()).isEqualTo(1L << 50);
    assertThat(delivered.tail().cuts()).isZero();
  }

  @Test
  void a_journal_that_is_opened_again_goes_on_where_it_ended() {
    for (long sequence = 1; sequence <= 5; sequence++) {
      try (Journal journal = fixture().open()) {
        assertThat(recover(journal).tail().sequence()).isEqualTo(sequence - 1);
        append(journal, sequence, sequence);
      }
    }
    assertThat(recovered().sequences()).containsExactly(1L, 2L, 3L, 4L, 5L);
  }

  @Test
  void frames_under_way_become_durable_in_order() {
    try (Journal journal = fixture().open()) {
      recover(journal);
      List<Long> durable = new ArrayList<>();
      CompletableFuture<?> last = CompletableFuture.completedFuture(null);
      for (long sequence = 1; sequence <= 50; sequence++) {
        long number = sequence;
        last = journal.append(frame(number, "frame " + number)).thenRun(() -> durable.add(number));
      }
      fixture().await(last);
      assertThat(durable).hasSize(50).isSorted();
    }
  }

  @Test
  void a_payload_may_be_used_again_once_its_frame_is_durable() {
    try (Journal journal = fixture().open()) {
      recover(journal);
      ByteBuffer buffer = bytes("frame 1");
      fixture().await(journal.append(new Frame(1, 1, WRITER, 1_001, 0, 1, buffer)));
      assertThat(buffer.remaining()).as("what the journal leaves of the buffer").isEqualTo(7);
      buffer.put(0, (byte) 'X');
    }
    assertThat(text(recovered().frames.getFirst().payload())).isEqualTo("frame 1");
  }

  @Test
  void a_close_makes_durable_what_was_appended_before() {
    try (Journal journal = fixture().open()) {
      recover(journal);
      for (long sequence = 1; sequence <= 20; sequence++) {
        CompletableFuture<Void> _ = journal.append(frame(sequence, "frame " + sequence));
      }
    }
    assertThat(recovered().sequences()).hasSize(20);
  }

  @Test
  void nothing_durable_is_lost_in_a_crash() {
    assumeTrue(fixture().crashes(), "a journal that can crash");
    for (long end = 10; end <= 50; end += 10) {
      Journal journal = fixture().open();
      long before = recover(journal).tail().sequence();
      append(journal, before + 1, end);
      for (long sequence = end + 1; sequence <= end + 5; sequence++) {
        CompletableFuture<Void> _ = journal.append(frame(sequence, "frame " + sequence));
      }
      fixture().crash();
      Delivered delivered = recovered();
      assertThat(delivered.sequences().size()).isBetween((int) end, (int) end + 5);
      for (Frame frame : delivered.frames) {
        assertThat(text(frame.payload())).isEqualTo("frame " + frame.sequence());
      }
    }
  }

  @Test
  void a_frame_that_does_not_follow_is_refused_and_changes_nothing() {
    try (Journal journal = fixture().open()) {
      recover(journal);
      CompletableFuture<Void> _ = journal.append(frame(1, 5, 10, "frame 1"));
      List<Frame> wrong =
          List.of(
              frame(1, 5, 10, "again"),
              frame(3, 5, 11, "a gap"),
              frame(2, 4, 11, "an older epoch"),
              frame(2, 5, 9, "fewer commits"));
      for (Frame frame : wrong) {
        assertThatThrownBy(() -> fixture().await(journal.append(frame)))
            .as(text(frame.payload()))
            .isInstanceOf(IllegalArgumentException.class);
      }
      fixture().await(journal.append(frame(2, 5, 11, "frame 2")));
    }
    assertThat(recovered().sequences()).containsExactly(1L, 2L);
  }

  @Test
  void a_second_writer_is_refused_or_fences_the_first() {
    try (Journal first = fixture().open()) {
      recover(first);
      append(first, 1, 3);
      Journal second;
      try {
        second = fixture().open();
      } catch (JournalException refused) {
        append(first, 4, 4);
        return;
      }
      try (second) {
        assertThat(recover(second).tail().sequence()).isEqualTo(3);
        fixture().await(second.append(new Frame(4, 2, WRITER + 1, 1_004, 0, 4, bytes("second"))));
        assertThatThrownBy(() -> fixture().await(first.append(frame(4, "first"))))
            .hasRootCauseInstanceOf(JournalException.class);
      }
    }
    assertThat(recovered().sequences()).containsExactly(1L, 2L, 3L, 4L);
  }

  @Test
  void recovery_begins_with_the_newest_published_snapshot() {
    try (Journal journal = fixture().open()) {
      recover(journal);
      append(journal, 1, 30);
      snapshot(journal, 10, "old");
      snapshot(journal, 25, "new", "", "in parts");
      Journal.SnapshotWriter abandoned = journal.snapshot(frame(28, ""));
      abandoned.part(bytes("abandoned"));
      abandoned.abandon();
    }
    Delivered delivered = recovered();
    assertThat(delivered.parts).containsExactly("new", "", "in parts");
    assertThat(delivered.sequences()).containsExactly(26L, 27L, 28L, 29L, 30L);
    assertThat(delivered.tail().sequence()).isEqualTo(30);
  }

  @Test
  void a_snapshot_of_the_last_frame_tells_where_the_journal_ends() {
    try (Journal journal = fixture().open()) {
      recover(journal);
      append(journal, 1, 7);
      snapshot(journal, 7, "all");
    }
    try (Journal journal = fixture().open()) {
      Delivered delivered = recover(journal);
      assertThat(delivered.parts).containsExactly("all");
      assertThat(delivered.frames).isEmpty();
      assertThat(delivered.tail().sequence()).isEqualTo(7);
      assertThat(delivered.tail().position()).isEqualTo(7);
      append(journal, 8, 8);
    }
    assertThat(recovered().sequences()).containsExactly(8L);
  }

  @Test
  void a_snapshot_is_written_while_frames_are_appended() {
    try (Journal journal = fixture().open()) {
      recover(journal);
      append(journal, 1, 2);
      Journal.SnapshotWriter writer = journal.snapshot(frame(2, ""));
      writer.part(bytes("one"));
      append(journal, 3, 4);
      writer.part(bytes("two"));
      writer.publish();
      append(journal, 5, 5);
    }
    Delivered delivered = recovered();
    assertThat(delivered.parts).containsExactly("one", "two");
    assertThat(delivered.sequences()).containsExactly(3L, 4L, 5L);
  }

  @Test
  void a_reader_begins_after_its_position_and_follows_what_is_appended() {
    try (Journal journal = fixture().open()) {
      recover(journal);
      fixture().await(journal.append(frame(1, 1, 10, "frame 1")));
      fixture().await(journal.append(frame(2, 1, 10, "frame 2")));
      fixture().await(journal.append(frame(3, 1, 20, "frame 3")));
      try (Journal.Reader all = Objects.requireNonNull(journal.read(0));
          Journal.Reader within = Objects.requireNonNull(journal.read(15));
          Journal.Reader end = Objects.requireNonNull(journal.read(20))) {
        assertThat(sequences(all)).startsWith(1L).endsWith(3L).isSorted();
        assertThat(sequences(within)).containsExactly(3L);
        assertThat(sequences(end)).isEmpty();
        fixture().await(journal.append(frame(4, 1, 21, "frame 4")));
        assertThat(sequences(all)).containsExactly(4L);
        assertThat(sequences(within)).containsExactly(4L);
        assertThat(sequences(end)).containsExactly(4L);
      }
    }
  }

  @Test
  void a_reader_sees_frames_of_earlier_openings() {
    try (Journal journal = fixture().open()) {
      recover(journal);
      append(journal, 1, 5);
    }
    try (Journal journal = fixture().open()) {
      recover(journal);
      append(journal, 6, 8);
      try (Journal.Reader reader = Objects.requireNonNull(journal.read(3))) {
        assertThat(sequences(reader)).containsExactly(4L, 5L, 6L, 7L, 8L);
      }
    }
  }

  @Test
  void trimming_keeps_two_snapshots_and_what_follows_the_older() {
    try (Journal journal = fixture().open()) {
      recover(journal);
      append(journal, 1, 40);
      snapshot(journal, 10, "first");
      snapshot(journal, 20, "second");
      snapshot(journal, 30, "third");
      journal.trim(15);
      try (Journal.Reader reader = Objects.requireNonNull(journal.read(15))) {
        assertThat(sequences(reader)).startsWith(16L).endsWith(40L).hasSize(25);
      }
      journal.trim(Long.MAX_VALUE);
      try (Journal.Reader reader = Objects.requireNonNull(journal.read(20))) {
        assertThat(sequences(reader)).startsWith(21L).endsWith(40L).hasSize(20);
      }
      append(journal, 41, 41);
    }
    Delivered delivered = recovered();
    assertThat(delivered.parts).containsExactly("third");
    assertThat(delivered.sequences()).startsWith(31L).endsWith(41L).hasSize(11);
  }
}
