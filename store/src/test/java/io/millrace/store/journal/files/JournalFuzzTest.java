package io.millrace.store.journal.files;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever bytes a file of the journal holds, it is read or a JournalException says what is wrong.
 * The seeds are files as they are written; {@code build/fuzz} goes on from them.
 */
class JournalFuzzTest {
  private static final FileJournalOptions SMALL = new FileJournalOptions(1 << 16, 1 << 20);

  private static byte[] golden(String name) throws IOException {
    try (InputStream stream = JournalFuzzTest.class.getResourceAsStream("/" + name)) {
      return Objects.requireNonNull(stream, name).readAllBytes();
    }
  }

  static List<byte[]> segments() throws IOException {
    return List.of(
        new byte[0],
        Resealed.packed(golden("journal-v1/segment.golden")),
        Resealed.packed(golden("journal-v2/segment.golden")),
        Resealed.packed(golden("store-v1/0000000000000001.segment")));
  }

  @MethodSource("segments")
  @FuzzTest
  void a_segment_is_recovered_or_refused(byte[] packed) {
    recover(Resealed.unpacked(packed));
  }

  @MethodSource("segments")
  @FuzzTest
  void a_segment_with_right_checksums_is_recovered_or_refused(byte[] packed) {
    recover(Resealed.segment(Resealed.unpacked(packed)));
  }

  private static void recover(byte[] segment) {
    MemoryEnvironment environment = new MemoryEnvironment(1);
    MemoryEnvironment.Content content = new MemoryEnvironment.Content(segment);
    environment.files.put(FileNames.segment(1), content);
    Recorded first = new Recorded();
    Journal.Tail tail;
    try {
      tail = recover(environment, first);
    } catch (JournalException _) {
      return;
    }
    // What was recovered once is recovered again: the first time made it durable.
    Recorded second = new Recorded();
    assertThat(recover(environment, second).sequence()).isEqualTo(tail.sequence());
    assertThat(second.frames).isEqualTo(first.frames);
  }

  private static Journal.Tail recover(MemoryEnvironment environment, Recorded recorded) {
    try (FileJournal journal = FileJournal.open(environment, Path.of("memory"), SMALL)) {
      return journal.recover(recorded);
    }
  }

  static List<byte[]> snapshots() throws IOException {
    return List.of(
        new byte[0],
        golden("journal-v1/snapshot.golden"),
        golden("store-v1/0000000000000005.snapshot"));
  }

  @MethodSource("snapshots")
  @FuzzTest
  void a_snapshot_is_read_or_refused(byte[] snapshot) throws IOException {
    check(snapshot);
  }

  @MethodSource("snapshots")
  @FuzzTest
  void a_snapshot_with_right_checksums_is_read_or_refused(byte[] snapshot) throws IOException {
    check(Resealed.snapshot(snapshot.clone()));
  }

  private static void check(byte[] snapshot) throws IOException {
    List<ByteBuffer> parts = new ArrayList<>();
    Frame frame;
    try {
      frame = parts(snapshot, parts);
    } catch (JournalException _) {
      return;
    }
    ByteArrayOutputStream again = new ByteArrayOutputStream();
    SnapshotOutput output = new SnapshotOutput(again, frame, false);
    for (ByteBuffer part : parts) {
      output.part(part);
    }
    output.finish();
    List<ByteBuffer> second = new ArrayList<>();
    assertThat(parts(again.toByteArray(), second)).isEqualTo(frame);
    assertThat(second).isEqualTo(parts);
  }

  private static Frame parts(byte[] snapshot, List<ByteBuffer> parts) throws IOException {
    SnapshotInput input = new SnapshotInput(new ByteArrayInputStream(snapshot), "memory");
    for (ByteBuffer part = input.next(); part != null; part = input.next()) {
      byte[] content = new byte[part.remaining()];
      part.get(content);
      parts.add(ByteBuffer.wrap(content));
    }
    return input.frame();
  }
}
