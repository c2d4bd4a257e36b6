package io.millrace.store.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.millrace.store.journal.JournalReport.Damage;
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
      at += (int) FrameFormat.sizeBytes(payload(i).length());
    }
    return at;
  }

  private static SteppedEnvironment written() {
    SteppedEnvironment environment = new SteppedEnvironment(5);
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

  private static ForgetfulDisk.Content file(SteppedEnvironment environment, String name) {
    return Objects.requireNonNull(environment.disk.names.get(name), name);
  }

  private static Journal.Tail recover(SteppedEnvironment environment, Recorded recorded) {
    try (FileJournal journal = FileJournal.open(environment, FOLDER, SMALL)) {
      return journal.recover(recorded);
    }
  }

  @Test
  void a_last_frame_torn_at_any_byte_is_cut_and_kept_aside() {
    int from = frameAt(FRAMES);
    int end = from + FrameFormat.HEADER_BYTES + payload(FRAMES).length();
    for (int cut = from; cut < end; cut++) {
      SteppedEnvironment environment = written();
      byte[] bytes = file(environment, FIRST).live;
      byte[] torn = Arrays.copyOfRange(bytes, from, cut);
      Arrays.fill(bytes, cut, bytes.length, (byte) 0);
      Recorded recorded = new Recorded();
      Journal.Tail tail = recover(environment, recorded);
      assertThat(tail.sequence()).isEqualTo(FRAMES - 1);
      assertThat(recorded.frames).hasSize(FRAMES - 1);
      if (cut == from) {
        assertThat(tail.notice()).isNull();
        continue;
      }
      assertThat(tail.notice()).contains("were cut from " + FIRST + " at byte " + from);
      String kept =
          environment.disk.names.keySet().stream()
              .filter(name -> name.endsWith(".torn"))
              .findFirst()
              .orElseThrow();
      // Zeros at the end cannot be told from room that was never written.
      assertThat(torn).startsWith(file(environment, kept).live);
      assertThat(recover(environment, new Recorded()).notice()).isNull();
    }
  }

  @Test
  void a_journal_goes_on_after_a_torn_tail_was_cut() {
    SteppedEnvironment environment = written();
    file(environment, FIRST).live[frameAt(FRAMES) + 80] ^= 1;
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
      boolean padding = at >= frameAt(frame) + FrameFormat.HEADER_BYTES + payload(frame).length();
      SteppedEnvironment environment = written();
      byte[] bytes = file(environment, FIRST).live;
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
        assertThat(file(environment, FIRST).live).isEqualTo(before);
        assertThat(JournalCheck.verify(environment, FOLDER).damages())
            .extracting(Damage::offset)
            .containsExactly((long) frameAt(frame));
      }
    }
  }

  @Test
  void a_flipped_bit_in_a_segment_header_is_refused() {
    for (int at = 0; at < 56; at++) {
      SteppedEnvironment environment = written();
      file(environment, FIRST).live[at] ^= 4;
      assertThatThrownBy(() -> recover(environment, new Recorded()))
          .as("flipped at " + at)
          .isInstanceOf(DamagedJournalException.class)
          .hasMessageContaining(FIRST);
    }
  }

  @Test
  void frames_inside_a_payload_do_not_pass_for_frames() {
    SteppedEnvironment other = new SteppedEnvironment(99);
    try (FileJournal journal = FileJournal.open(other, FOLDER, SMALL)) {
      journal.recover(new Recorded());
      CompletableFuture<Void> done = journal.append(Recorded.frame(1, 0, "a"));
      CompletableFuture<Void> trap =
          journal.append(new Frame(2, 1, 1, 1, 1, 2, Recorded.bytes("trap")));
      other.run();
      assertThat(done).isCompleted();
      assertThat(trap).isCompleted();
    }
    SteppedEnvironment environment = written();
    byte[] bytes = file(environment, FIRST).live;
    System.arraycopy(file(other, FIRST).live, 4096, bytes, frameAt(FRAMES), 300);
    assertThat(recover(environment, new Recorded()).sequence()).isEqualTo(FRAMES - 1);
  }

  private static SteppedEnvironment manySegments() {
    SteppedEnvironment environment = new SteppedEnvironment(6);
    try (FileJournal journal = FileJournal.open(environment, FOLDER, SMALL)) {
      journal.recover(new Recorded());
      for (int i = 1; i <= 20; i++) {
        CompletableFuture<Void> done = journal.append(Recorded.frame(i, i - 1, "x".repeat(15_000)));
        environment.run();
        assertThat(done).isCompleted();
      }
    }
    assertThat(FileNames.numbers(environment.disk.names.keySet().stream().toList(), ".segment"))
        .containsExactly(1L, 5L, 9L, 13L, 17L);
    return environment;
  }

  @Test
  void a_missing_segment_is_refused_wherever_it_was_unless_it_was_the_last() {
    for (long missing : new long[] {1, 5, 9, 13}) {
      SteppedEnvironment environment = manySegments();
      environment.disk.names.remove(FileNames.segment(missing));
      assertThatThrownBy(() -> recover(environment, new Recorded()))
          .isInstanceOf(DamagedJournalException.class);
      assertThat(JournalCheck.verify(environment, FOLDER).isSound()).isFalse();
    }
  }

  @Test
  void the_last_frame_of_a_segment_with_a_successor_is_not_cut() {
    SteppedEnvironment environment = manySegments();
    byte[] bytes = file(environment, FileNames.segment(5)).live;
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
    SteppedEnvironment environment = written();
    try (FileJournal journal = FileJournal.open(environment, FOLDER, SMALL)) {
      journal.recover(new Recorded());
      Journal.SnapshotWriter writer = journal.snapshot(Recorded.frame(FRAMES, FRAMES, ""));
      writer.part(Recorded.bytes("state"));
      writer.publish();
    }
    byte[] bytes = file(environment, FIRST).live;
    Arrays.fill(bytes, frameAt(FRAMES), bytes.length, (byte) 0);
    assertThatThrownBy(() -> recover(environment, new Recorded()))
        .isInstanceOf(DamagedJournalException.class)
        .hasMessageContaining("there is a snapshot of frame 5");
    assertThat(JournalCheck.verify(environment, FOLDER).isSound()).isFalse();
  }
}
