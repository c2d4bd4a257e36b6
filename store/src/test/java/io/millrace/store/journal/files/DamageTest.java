package io.millrace.store.journal.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.FrameCodec;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.files.JournalReport.Damage;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Damages the bytes of a folder in every place and recovers it. */
class DamageTest {
  private static final FileJournalOptions SMALL = new FileJournalOptions(1 << 16, 1 << 20);
  private static final Path FOLDER = Path.of("memory");
  private static final int FRAMES = 5;
  private static final String FIRST = FileNames.segment(1);

  /** A payload that needs padding; one that needs none. */
  private static String payload(long sequence) {
    return "payload".repeat((int) sequence) + sequence;
  }

  private static int frameAt(int sequence) {
    int at = SegmentHeader.BLOCK_BYTES;
    for (int i = 1; i < sequence; i++) {
      at += (int) FrameCodec.sizeBytes(payload(i).length());
    }
    return at;
  }

  private static MemoryEnvironment written() {
    MemoryEnvironment environment = new MemoryEnvironment(5);
    try (FileJournal journal = FileJournal.open(environment, FOLDER, SMALL)) {
      journal.recover(new Recorded());
      for (int i = 1; i <= FRAMES; i++) {
        CompletableFuture<Void> done = journal.append(Recorded.frame(i, i - 1, payload(i)));
        environment.run();
        assertThat(done).isCompleted();
      }
    }
    return environment;
  }

  private static MemoryEnvironment.Content file(MemoryEnvironment environment, String name) {
    return Objects.requireNonNull(environment.files.get(name), name);
  }

  private static Journal.Tail recover(MemoryEnvironment environment, Recorded recorded) {
    try (FileJournal journal = FileJournal.open(environment, FOLDER, SMALL)) {
      return journal.recover(recorded);
    }
  }

  @Test
  void a_last_frame_torn_at_any_byte_is_left_out_and_left_where_it_is() {
    int from = frameAt(FRAMES);
    int end = from + FrameCodec.HEADER_BYTES + payload(FRAMES).length();
    for (int cut = from; cut < end; cut++) {
      MemoryEnvironment environment = written();
      byte[] bytes = file(environment, FIRST).bytes;
      Arrays.fill(bytes, cut, bytes.length, (byte) 0);
      byte[] before = bytes.clone();
      int last = cut;
      while (last > from && bytes[last - 1] == 0) {
        last--; // zeros at the end cannot be told from room that was never written
      }
      Recorded recorded = new Recorded();
      Journal.Tail tail = recover(environment, recorded);
      assertThat(tail.sequence()).isEqualTo(FRAMES - 1);
      assertThat(recorded.frames).hasSize(FRAMES - 1);
      assertThat(tail.cuts()).isEqualTo(cut > from ? 1 : 0);
      if (cut == from) {
        assertThat(tail.notice()).isNull();
        continue;
      }
      assertThat(tail.notice())
          .contains((last - from) + " bytes of " + FIRST + " from byte " + from)
          .contains("continues after frame " + (FRAMES - 1));
      assertThat(file(environment, FIRST).bytes).isEqualTo(before);
      Journal.Tail again = recover(environment, new Recorded());
      assertThat(again.notice()).isNull();
      assertThat(again.cuts()).as("nothing was appended since").isEqualTo(1);
    }
  }

  @Test
  void a_journal_goes_on_after_a_torn_tail_was_cut() {
    MemoryEnvironment environment = written();
    file(environment, FIRST).bytes[frameAt(FRAMES) + 80] ^= 1;
    try (FileJournal journal = FileJournal.open(environment, FOLDER, SMALL)) {
      assertThat(journal.recover(new Recorded()).sequence()).isEqualTo(FRAMES - 1);
      CompletableFuture<Void> done =
          journal.append(Recorded.frame(FRAMES, FRAMES - 1, "another life"));
      environment.run();
      assertThat(done).isCompleted();
    }
    Recorded recorded = new Recorded();
    assertThat(recover(environment, recorded).sequence()).isEqualTo(FRAMES);
    assertThat(recorded.frames).last().isEqualTo("another life");
  }

  @Test
  void a_flipped_bit_in_any_byte_is_refused_with_its_frame_or_cut_or_without_meaning() {
    int end = frameAt(FRAMES + 1);
    for (int at = SegmentHeader.BLOCK_BYTES; at < end; at++) {
      int frame = 1;
      while (frameAt(frame + 1) <= at) {
        frame++;
      }
      boolean padding = at >= frameAt(frame) + FrameCodec.HEADER_BYTES + payload(frame).length();
      MemoryEnvironment environment = written();
      byte[] bytes = file(environment, FIRST).bytes;
      bytes[at] ^= (byte) (1 << (at % 8));
      byte[] before = bytes.clone();
      if (padding) {
        assertThat(recover(environment, new Recorded()).sequence()).isEqualTo(FRAMES);
      } else if (frame == FRAMES) {
        assertThat(recover(environment, new Recorded()).sequence()).isEqualTo(FRAMES - 1);
      } else {
        DamagedJournalException damage =
            catchThrowableOfType(
                DamagedJournalException.class, () -> recover(environment, new Recorded()));
        assertThat(damage).as("flipped at " + at).isNotNull();
        assertThat(damage.file()).isEqualTo(FIRST);
        assertThat(damage.offset()).isEqualTo(frameAt(frame));
        assertThat(file(environment, FIRST).bytes).isEqualTo(before);
        assertThat(JournalCheck.verify(environment, FOLDER).damages())
            .extracting(Damage::offset)
            .containsExactly((long) frameAt(frame));
      }
    }
  }

  @Test
  void a_flipped_bit_in_a_segment_header_is_refused() {
    for (int at = 0; at < SegmentHeader.HEADER_BYTES; at++) {
      MemoryEnvironment environment = written();
      file(environment, FIRST).bytes[at] ^= 4;
      assertThatThrownBy(() -> recover(environment, new Recorded()))
          .as("flipped at " + at)
          .isInstanceOf(DamagedJournalException.class)
          .hasMessageContaining(FIRST);
    }
  }

  @Test
  void frames_inside_a_payload_do_not_pass_for_frames() {
    MemoryEnvironment other = new MemoryEnvironment(99);
    try (FileJournal journal = FileJournal.open(other, FOLDER, SMALL)) {
      journal.recover(new Recorded());
      CompletableFuture<Void> done = journal.append(Recorded.frame(1, 0, "a"));
      CompletableFuture<Void> trap =
          journal.append(new Frame(2, 1, 1, 1, 1, 2, Recorded.bytes("trap")));
      other.run();
      assertThat(done).isCompleted();
      assertThat(trap).isCompleted();
    }
    MemoryEnvironment environment = written();
    byte[] bytes = file(environment, FIRST).bytes;
    System.arraycopy(file(other, FIRST).bytes, 4096, bytes, frameAt(FRAMES), 300);
    assertThat(recover(environment, new Recorded()).sequence()).isEqualTo(FRAMES - 1);
  }

  private static MemoryEnvironment manySegments() {
    MemoryEnvironment environment = new MemoryEnvironment(6);
    try (FileJournal journal = FileJournal.open(environment, FOLDER, SMALL)) {
      journal.recover(new Recorded());
      for (int i = 1; i <= 20; i++) {
        CompletableFuture<Void> done = journal.append(Recorded.frame(i, i - 1, "x".repeat(15_000)));
        environment.run();
        assertThat(done).isCompleted();
      }
    }
    assertThat(FileNames.numbers(environment.files.keySet().stream().toList(), ".segment"))
        .containsExactly(1L, 5L, 9L, 13L, 17L);
    return environment;
  }

  @Test
  void a_missing_segment_is_refused_wherever_it_was_unless_it_was_the_last() {
    for (long missing : new long[] {1, 5, 9, 13}) {
      MemoryEnvironment environment = manySegments();
      environment.files.remove(FileNames.segment(missing));
      assertThatThrownBy(() -> recover(environment, new Recorded()))
          .isInstanceOf(DamagedJournalException.class);
      assertThat(JournalCheck.verify(environment, FOLDER).isSound()).isFalse();
    }
  }

  @Test
  void the_last_frame_of_a_segment_with_a_successor_is_not_cut() {
    MemoryEnvironment environment = manySegments();
    byte[] bytes = file(environment, FileNames.segment(5)).bytes;
    Arrays.fill(bytes, 4096 + 3 * 15_072, bytes.length, (byte) 0);
    DamagedJournalException damage =
        catchThrowableOfType(
            DamagedJournalException.class, () -> recover(environment, new Recorded()));
    assertThat(damage.file()).isEqualTo(FileNames.segment(5));
    assertThat(damage.offset()).isEqualTo(4096 + 3 * 15_072);
  }

  @Test
  void a_sound_journal_is_reported_as_such() {
    JournalReport report = JournalCheck.verify(manySegments(), FOLDER);
    assertThat(report.damages()).isEmpty();
    assertThat(report.segments()).isEqualTo(5);
    assertThat(report.frames()).isEqualTo(20);
    assertThat(report.firstSequence()).isEqualTo(1);
    assertThat(report.lastSequence()).isEqualTo(20);
    assertThat(report.lastPosition()).isEqualTo(20);
    assertThat(report.isSound()).isTrue();
  }

  @Test
  void frames_that_a_snapshot_proves_durable_may_not_be_missing() {
    MemoryEnvironment environment = written();
    try (FileJournal journal = FileJournal.open(environment, FOLDER, SMALL)) {
      journal.recover(new Recorded());
      Journal.SnapshotWriter writer = journal.snapshot(Recorded.frame(FRAMES, FRAMES, ""));
      writer.part(Recorded.bytes("state"));
      writer.publish();
    }
    byte[] bytes = file(environment, FIRST).bytes;
    Arrays.fill(bytes, frameAt(FRAMES), bytes.length, (byte) 0);
    assertThatThrownBy(() -> recover(environment, new Recorded()))
        .isInstanceOf(DamagedJournalException.class)
        .hasMessageContaining("there is a snapshot of frame 5");
    assertThat(JournalCheck.verify(environment, FOLDER).isSound()).isFalse();
  }

  @Test
  void a_truncated_segment_is_told_from_one_that_was_torn() {
    int end = frameAt(FRAMES) + FrameCodec.HEADER_BYTES + payload(FRAMES).length();
    for (int size = SegmentHeader.BLOCK_BYTES; size < 1 << 16; size += size < end + 10 ? 1 : 997) {
      MemoryEnvironment environment = written();
      MemoryEnvironment.Content file = file(environment, FIRST);
      file.bytes = Arrays.copyOf(file.bytes, size);
      int whole = 0;
      while (whole < FRAMES && frameAt(whole + 2) <= size) {
        whole++;
      }
      JournalReport report = JournalCheck.verify(environment, FOLDER);
      Journal.Tail tail = recover(environment, new Recorded());
      assertThat(tail.sequence()).as("cut to " + size).isEqualTo(whole);
      assertThat(tail.notice()).contains(((1 << 16) - size) + " bytes shorter than it was created");
      // A zero after the last frame proves that there was no other frame.
      boolean framesMayBeMissing = size <= frameAt(FRAMES + 1);
      assertThat(tail.cuts()).as("cut to " + size).isEqualTo(framesMayBeMissing ? 1 : 0);
      assertThat(report.isSound()).isEqualTo(!framesMayBeMissing);
    }
  }

  private static MemoryEnvironment writtenWithSnapshots(long... sequences) {
    MemoryEnvironment environment = written();
    try (FileJournal journal = FileJournal.open(environment, FOLDER, SMALL)) {
      journal.recover(new Recorded());
      for (long sequence : sequences) {
        Journal.SnapshotWriter writer = journal.snapshot(Recorded.frame(sequence, sequence, ""));
        writer.part(Recorded.bytes("state " + sequence));
        writer.publish();
      }
    }
    return environment;
  }

  @Test
  void damage_to_frames_that_a_snapshot_holds_does_not_hinder_a_start() {
    for (int at = SegmentHeader.BLOCK_BYTES; at < frameAt(4); at++) {
      int frame = at < frameAt(2) ? 1 : at < frameAt(3) ? 2 : 3;
      if (at >= frameAt(frame) + FrameCodec.HEADER_BYTES + payload(frame).length()) {
        continue; // padding, which means nothing
      }
      MemoryEnvironment environment = writtenWithSnapshots(2, 3);
      byte[] bytes = file(environment, FIRST).bytes;
      bytes[at] ^= (byte) (1 << (at % 8));
      byte[] before = bytes.clone();
      JournalReport report = JournalCheck.verify(environment, FOLDER);
      assertThat(report.damages())
          .extracting(Damage::offset)
          .containsExactly((long) frameAt(frame));
      assertThat(report.damages().getFirst().what()).contains("there is a snapshot of frame 3");
      assertThat(report.lastSequence()).isEqualTo(FRAMES);
      assertThat(report.frames()).isEqualTo(FRAMES - 1);
      Recorded recorded = new Recorded();
      try (FileJournal journal = FileJournal.open(environment, FOLDER, SMALL)) {
        Journal.Tail tail = journal.recover(recorded);
        assertThat(tail.sequence()).as("flipped at " + at).isEqualTo(FRAMES);
        assertThat(tail.cuts()).isZero();
        assertThat(tail.notice())
            .contains(FIRST + " is damaged from byte " + frameAt(frame) + " to")
            .contains("the snapshot of frame 3 contains that part");
        assertThat(file(environment, FIRST).bytes).isEqualTo(before);
        assertThat(journal.read(frame - 1)).as("what is damaged is not served").isNull();
        try (Journal.Reader reader = Objects.requireNonNull(journal.read(3))) {
          assertThat(Objects.requireNonNull(reader.next()).sequence()).isEqualTo(4);
          assertThat(Objects.requireNonNull(reader.next()).sequence()).isEqualTo(5);
          CompletableFuture<Void> done = journal.append(Recorded.frame(6, 5, "more"));
          environment.run();
          assertThat(done).isCompleted();
          assertThat(Objects.requireNonNull(reader.next()).sequence()).isEqualTo(6);
        }
      }
      assertThat(recorded.parts).containsExactly("state 3");
      assertThat(recorded.sequences).containsExactly(4L, 5L);
      assertThat(recover(environment, new Recorded()).sequence()).isEqualTo(6);
    }
  }

  @Test
  void several_places_of_damage_and_zeros_below_a_snapshot_are_passed_over() {
    MemoryEnvironment environment = writtenWithSnapshots(4);
    byte[] bytes = file(environment, FIRST).bytes;
    bytes[frameAt(1) + 75] ^= 1;
    Arrays.fill(bytes, frameAt(3), frameAt(4), (byte) 0);
    bytes[frameAt(4)] ^= 1;
    Recorded recorded = new Recorded();
    Journal.Tail tail = recover(environment, recorded);
    assertThat(tail.sequence()).isEqualTo(FRAMES);
    assertThat(tail.cuts()).isZero();
    assertThat(recorded.sequences).containsExactly(5L);
    assertThat(JournalCheck.verify(environment, FOLDER).damages())
        .extracting(Damage::offset)
        .containsExactly((long) frameAt(1), (long) frameAt(3));
  }

  @Test
  void damage_to_the_last_frame_that_a_snapshot_holds_is_left_out_and_the_journal_goes_on() {
    MemoryEnvironment environment = writtenWithSnapshots(3, FRAMES);
    file(environment, FIRST).bytes[frameAt(FRAMES) + 80] ^= 1;
    Recorded recorded = new Recorded();
    try (FileJournal journal = FileJournal.open(environment, FOLDER, SMALL)) {
      Journal.Tail tail = journal.recover(recorded);
      assertThat(tail.sequence()).isEqualTo(FRAMES);
      assertThat(tail.cuts()).isEqualTo(1);
      assertThat(tail.notice()).contains("continues after frame 5, which is in the snapshot");
      CompletableFuture<Void> done = journal.append(Recorded.frame(6, 5, "more"));
      environment.run();
      assertThat(done).isCompleted();
      assertThat(journal.read(4)).isNull();
      try (Journal.Reader reader = Objects.requireNonNull(journal.read(5))) {
        assertThat(Objects.requireNonNull(reader.next()).sequence()).isEqualTo(6);
      }
    }
    assertThat(recorded.sequences).isEmpty();
    assertThat(recover(environment, recorded)).extracting(Journal.Tail::cuts).isEqualTo(0);
    assertThat(recorded.sequences).containsExactly(6L);
  }

  @Test
  void damage_after_the_snapshot_is_refused_as_before() {
    MemoryEnvironment environment = writtenWithSnapshots(2, 3);
    file(environment, FIRST).bytes[frameAt(2) + 80] ^= 1;
    file(environment, FIRST).bytes[frameAt(4) + 80] ^= 1;
    DamagedJournalException damage =
        catchThrowableOfType(
            DamagedJournalException.class, () -> recover(environment, new Recorded()));
    assertThat(damage.offset()).isEqualTo(frameAt(4));
  }

  @Test
  void damage_below_a_snapshot_in_a_segment_with_a_successor_is_passed_over() {
    MemoryEnvironment environment = manySegments();
    try (FileJournal journal = FileJournal.open(environment, FOLDER, SMALL)) {
      journal.recover(new Recorded());
      Journal.SnapshotWriter writer = journal.snapshot(Recorded.frame(7, 7, ""));
      writer.part(Recorded.bytes("state"));
      writer.publish();
    }
    file(environment, FileNames.segment(5)).bytes[4096 + 15_072 + 80] ^= 1;
    Recorded recorded = new Recorded();
    assertThat(recover(environment, recorded).sequence()).isEqualTo(20);
    assertThat(recorded.sequences).hasSize(13).startsWith(8L).endsWith(20L);
    // What the snapshot does not hold may not be missing.
    file(environment, FileNames.segment(5)).bytes[4096 + 3 * 15_072 + 80] ^= 1;
    assertThatThrownBy(() -> recover(environment, new Recorded()))
        .isInstanceOf(DamagedJournalException.class)
        .hasMessageContaining(FileNames.segment(5));
  }
}
