package io.millrace.store.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.store.journal.FencedException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
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

  /** Collects what a journal delivers. */
  static final class Delivered implements Journal.Replay {
    final List<String> parts = new ArrayList<>();
    final List<Frame> frames = new ArrayList<>();
    private Journal.@Nullable Leader leader;
    private long last;

    @Override
    public Runnable snapshotPart(ByteBuffer payload) {
      String part = text(payload);
      return () -> parts.add(part);
    }

    @Override
    public void reset() {
      parts.clear();
      frames.clear();
    }

    @Override
    public void frame(Frame frame) {
      frames.add(kept(frame));
    }

    Journal.Leader leader() {
      return Objects.requireNonNull(leader);
    }

    Journal.Tail tail() {
      return leader().tail();
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

  /** The next frame of a leader, in its epoch, with one commit. */
  private static Frame frame(Journal.Leader leader, long sequence, String payload) {
    return frame(sequence, leader.tail().epoch() + 1, sequence, payload);
  }

  private static Frame frame(Journal.Leader leader, long sequence) {
    return frame(leader, sequence, "frame " + sequence);
  }

  private static Frame frame(long sequence, long epoch, long position, String payload) {
    return new Frame(sequence, epoch, WRITER, 1_000 + sequence, 0, position, bytes(payload));
  }

  /** Follows the journal from its beginning. */
  private static Delivered followed(Journal journal) {
    Delivered delivered = new Delivered();
    delivered.last = journal.follow(delivered, 0);
    return delivered;
  }

  static Delivered lead(Journal journal) {
    Delivered delivered = new Delivered();
    Journal.Leader leader = journal.lead(delivered, 0);
    delivered.leader = leader;
    delivered.last = leader.tail().sequence();
    return delivered;
  }

  /** Opens the journal again and reads its content. */
  private Delivered recovered() {
    try (Journal journal = fixture().open()) {
      return lead(journal);
    }
  }

  private void append(Journal.Leader journal, long from, long to) {
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (long sequence = from; sequence <= to; sequence++) {
      all.add(journal.append(frame(journal, sequence)));
    }
    all.forEach(fixture()::await);
  }

  private static void snapshot(Journal.Leader journal, long sequence, String... parts) {
    Journal.SnapshotWriter writer = journal.snapshot(frame(journal, sequence, ""));
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
      Delivered none = followed(journal);
      assertThat(none.last).isZero();
      assertThat(none.frames).isEmpty();
      Delivered delivered = lead(journal);
      assertThat(delivered.frames).isEmpty();
      assertThat(delivered.parts).isEmpty();
      assertThat(delivered.tail().sequence()).isZero();
      assertThat(delivered.tail().epoch()).isZero();
      assertThat(delivered.tail().position()).isZero();
      assertThat(delivered.tail().notice()).isNull();
      assertThat(delivered.tail().cuts()).isZero();
      assertThat(delivered.leader().shortage()).isNull();
      assertThat(delivered.leader().freeBytes()).isPositive();
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
    try (Journal opened = fixture().open()) {
      Journal.Leader journal = lead(opened).leader();
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
        Delivered delivered = lead(journal);
        assertThat(delivered.tail().sequence()).isEqualTo(sequence - 1);
        assertThat(delivered.tail().epoch()).isEqualTo(sequence - 1);
        append(delivered.leader(), sequence, sequence);
      }
    }
    assertThat(recovered().sequences()).containsExactly(1L, 2L, 3L, 4L, 5L);
  }

  @Test
  void frames_under_way_become_durable_in_order() {
    try (Journal opened = fixture().open()) {
      Journal.Leader journal = lead(opened).leader();
      List<Long> durable = new ArrayList<>();
      CompletableFuture<?> last = CompletableFuture.completedFuture(null);
      for (long sequence = 1; sequence <= 50; sequence++) {
        long number = sequence;
        last = journal.append(frame(journal, number)).thenRun(() -> durable.add(number));
      }
      fixture().await(last);
      assertThat(durable).hasSize(50).isSorted();
    }
  }

  @Test
  void a_payload_may_be_used_again_once_its_frame_is_durable() {
    try (Journal opened = fixture().open()) {
      Journal.Leader journal = lead(opened).leader();
      ByteBuffer buffer = bytes("frame 1");
      fixture().await(journal.append(new Frame(1, 1, WRITER, 1_001, 0, 1, buffer)));
      assertThat(buffer.remaining()).as("what the journal leaves of the buffer").isEqualTo(7);
      buffer.put(0, (byte) 'X');
    }
    assertThat(text(recovered().frames.getFirst().payload())).isEqualTo("frame 1");
  }

  @Test
  void a_close_makes_durable_what_was_appended_before() {
    try (Journal opened = fixture().open()) {
      Journal.Leader journal = lead(opened).leader();
      for (long sequence = 1; sequence <= 20; sequence++) {
        CompletableFuture<Void> _ = journal.append(frame(journal, sequence));
      }
    }
    assertThat(recovered().sequences()).hasSize(20);
  }

  @Test
  void nothing_durable_is_lost_in_a_crash() {
    assumeTrue(fixture().crashes(), "a journal that can crash");
    for (long end = 10; end <= 50; end += 10) {
      Journal.Leader journal = lead(fixture().open()).leader();
      long before = journal.tail().sequence();
      append(journal, before + 1, end);
      for (long sequence = end + 1; sequence <= end + 5; sequence++) {
        CompletableFuture<Void> _ = journal.append(frame(journal, sequence));
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
    try (Journal opened = fixture().open()) {
      Journal.Leader journal = lead(opened).leader();
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
  void a_frame_that_was_taken_back_is_there_once_with_what_was_added() {
    Map<Long, String> written = new TreeMap<>();
    try (Journal opened = fixture().open()) {
      Journal.Leader journal = lead(opened).leader();
      long epoch = journal.tail().epoch() + 1;
      Frame last = frame(1, epoch, 1, "1;");
      List<CompletableFuture<Void>> all = new ArrayList<>(List.of(journal.append(last)));
      written.put(1L, "1;");
      for (int i = 2; i <= 100; i++) {
        String payload = i + ";";
        long sequence = last.sequence() + 1;
        if (journal.takeBack(last)) {
          all.removeLast();
          sequence = last.sequence();
          payload = written.get(sequence) + payload;
        }
        last = frame(sequence, epoch, i, payload);
        all.add(journal.append(last));
        written.put(sequence, payload);
      }
      all.forEach(fixture()::await);
      assertThat(journal.takeBack(last)).isFalse();
    }
    Map<Long, String> found = new TreeMap<>();
    recovered().frames.forEach(frame -> found.put(frame.sequence(), text(frame.payload())));
    assertThat(found).isEqualTo(written);
  }

  @Test
  void a_second_leader_is_refused_or_fences_the_first() {
    try (Journal one = fixture().open();
        Journal two = fixture().open()) {
      Journal.Leader first = lead(one).leader();
      append(first, 1, 3);
      Delivered delivered;
      try {
        delivered = lead(two);
      } catch (JournalException refused) {
        append(first, 4, 4);
        return;
      }
      assertThat(delivered.tail().sequence()).isEqualTo(3);
      append(first, 4, 4);
      // It has read only frame 3, so that its epoch record does not follow: it does not lead.
      assertThatThrownBy(() -> append(delivered.leader(), 4, 4))
          .hasRootCauseInstanceOf(FencedException.class);
      try (Journal three = fixture().open()) {
        Journal.Leader third = lead(three).leader();
        append(third, 5, 6);
        assertThatThrownBy(() -> append(first, 5, 5)).hasRootCauseInstanceOf(FencedException.class);
        assertThatThrownBy(() -> append(first, 6, 6)).hasRootCauseInstanceOf(FencedException.class);
        append(third, 7, 7);
      }
    }
    assertThat(recovered().sequences()).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L);
  }

  @Test
  void a_leader_that_stood_still_cannot_write_a_frame_that_was_collected_meanwhile() {
    try (Journal one = fixture().open();
        Journal two = fixture().open()) {
      Journal.Leader stopped = lead(one).leader();
      append(stopped, 1, 5);
      Journal.Leader next;
      try {
        next = lead(two).leader();
      } catch (JournalException refused) {
        return;
      }
      append(next, 6, 40);
      snapshot(next, 20, "old");
      snapshot(next, 30, "new");
      next.trim(Long.MAX_VALUE);
      assertThatThrownBy(() -> fixture().await(stopped.append(frame(stopped, 6, "late"))))
          .hasRootCauseInstanceOf(FencedException.class);
      assertThatThrownBy(() -> snapshot(stopped, 5, "stale")).isInstanceOf(JournalException.class);
      append(next, 41, 41);
    }
    Delivered delivered = recovered();
    assertThat(delivered.parts).containsExactly("new");
    assertThat(delivered.sequences()).startsWith(31L).endsWith(41L).hasSize(11);
  }

  @Test
  void a_follower_reads_on_from_the_last_frame_while_another_leads() {
    try (Journal leading = fixture().open();
        Journal following = fixture().open()) {
      Journal.Leader journal = lead(leading).leader();
      append(journal, 1, 3);
      Delivered delivered = followed(following);
      assertThat(delivered.sequences()).containsExactly(1L, 2L, 3L);
      assertThat(following.follow(delivered, 3)).isEqualTo(3);
      append(journal, 4, 6);
      assertThat(following.follow(delivered, 3)).isEqualTo(6);
      assertThat(delivered.sequences()).containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
      assertThat(followed(following).sequences()).hasSize(6);
      append(journal, 7, 7);
    }
  }

  @Test
  void a_follower_whose_next_frame_is_gone_begins_anew_with_the_snapshot() {
    try (Journal leading = fixture().open();
        Journal following = fixture().open()) {
      Journal.Leader journal = lead(leading).leader();
      append(journal, 1, 5);
      Delivered delivered = followed(following);
      append(journal, 6, 4_000);
      snapshot(journal, 3_000, "old");
      snapshot(journal, 3_900, "new");
      journal.trim(Long.MAX_VALUE);
      assertThat(following.follow(delivered, 5)).isEqualTo(4_000);
      if (!delivered.parts.isEmpty()) {
        assertThat(delivered.parts).containsExactly("new");
        assertThat(delivered.sequences()).startsWith(3_901L).endsWith(4_000L).hasSize(100);
      } else {
        assertThat(delivered.sequences()).hasSize(4_000);
      }
    }
  }

  @Test
  void a_follower_is_promoted_and_gets_only_the_rest_or_everything_anew() {
    Delivered delivered;
    try (Journal following = fixture().open()) {
      try (Journal leading = fixture().open()) {
        Journal.Leader journal = lead(leading).leader();
        append(journal, 1, 3);
        delivered = followed(following);
        append(journal, 4, 6);
      }
      Journal.Leader journal = following.lead(delivered, delivered.last);
      assertThat(journal.tail().sequence()).isEqualTo(6);
      assertThat(delivered.sequences()).containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
      append(journal, 7, 7);
    }
    assertThat(recovered().sequences()).hasSize(7);
  }

  @Test
  void recovery_begins_with_the_newest_published_snapshot() {
    try (Journal opened = fixture().open()) {
      Journal.Leader journal = lead(opened).leader();
      append(journal, 1, 30);
      snapshot(journal, 10, "old");
      snapshot(journal, 25, "new", "", "in parts");
      Journal.SnapshotWriter abandoned = journal.snapshot(frame(journal, 28, ""));
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
    try (Journal opened = fixture().open()) {
      Journal.Leader journal = lead(opened).leader();
      append(journal, 1, 7);
      snapshot(journal, 7, "all");
    }
    try (Journal journal = fixture().open()) {
      Delivered delivered = lead(journal);
      assertThat(delivered.parts).containsExactly("all");
      assertThat(delivered.frames).isEmpty();
      assertThat(delivered.tail().sequence()).isEqualTo(7);
      assertThat(delivered.tail().position()).isEqualTo(7);
      append(delivered.leader(), 8, 8);
    }
    assertThat(recovered().sequences()).containsExactly(8L);
  }

  @Test
  void a_snapshot_is_written_while_frames_are_appended() {
    try (Journal opened = fixture().open()) {
      Journal.Leader journal = lead(opened).leader();
      append(journal, 1, 2);
      Journal.SnapshotWriter writer = journal.snapshot(frame(journal, 2, ""));
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
    try (Journal opened = fixture().open()) {
      Journal.Leader journal = lead(opened).leader();
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
    try (Journal opened = fixture().open()) {
      Journal.Leader journal = lead(opened).leader();
      append(journal, 1, 5);
    }
    try (Journal opened = fixture().open()) {
      Journal.Leader journal = lead(opened).leader();
      append(journal, 6, 8);
      try (Journal.Reader reader = Objects.requireNonNull(journal.read(3))) {
        assertThat(sequences(reader)).containsExactly(4L, 5L, 6L, 7L, 8L);
      }
    }
  }

  @Test
  void trimming_keeps_two_snapshots_and_what_follows_the_older() {
    try (Journal opened = fixture().open()) {
      Journal.Leader journal = lead(opened).leader();
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
