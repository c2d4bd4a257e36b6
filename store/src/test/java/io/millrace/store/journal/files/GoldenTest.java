package io.millrace.store.journal.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files of every format version stay readable; those of the newest are written byte by byte. */
class GoldenTest {
  private static final FileJournalOptions SMALL = new FileJournalOptions(1 << 16, 1 << 20);
  private static final Path FOLDER = Path.of("memory");
  private static final String SEGMENT = FileNames.segment(1);
  private static final String SNAPSHOT = FileNames.snapshot(2);

  private static byte[] golden(int version, String name) throws IOException {
    try (InputStream stream =
        Objects.requireNonNull(
            GoldenTest.class.getResourceAsStream("/journal-v" + version + "/" + name), name)) {
      return stream.readAllBytes();
    }
  }

  private static Frame frame(long sequence) {
    return new Frame(
        sequence,
        sequence + 6,
        0x1234_5678_9abc_def0L,
        1_700_000_000_000L + sequence,
        sequence - 1,
        sequence * 10,
        Recorded.bytes("payload of frame " + sequence));
  }

  private static MemoryEnvironment write() {
    MemoryEnvironment environment = new MemoryEnvironment(2026);
    try (FileJournal journal = FileJournal.open(environment, FOLDER, SMALL)) {
      journal.recover(new Recorded());
      for (int i = 1; i <= 3; i++) {
        CompletableFuture<Void> done = journal.append(frame(i));
        environment.run();
        assertThat(done).isCompleted();
      }
      Journal.SnapshotWriter writer = journal.snapshot(frame(2));
      writer.part(Recorded.bytes("first part"));
      writer.part(Recorded.bytes("second"));
      writer.publish();
    }
    return environment;
  }

  @ValueSource(ints = {1, 2})
  @ParameterizedTest
  void files_of_every_version_are_read_and_the_journal_goes_on(int version) throws IOException {
    MemoryEnvironment environment = new MemoryEnvironment(1);
    MemoryEnvironment.Content segment =
        new MemoryEnvironment.Content(Arrays.copyOf(golden(version, "segment.golden"), 1 << 16));
    MemoryEnvironment.Content snapshot =
        new MemoryEnvironment.Content(golden(1, "snapshot.golden"));
    environment.files.put(SEGMENT, segment);
    environment.files.put(SNAPSHOT, snapshot);
    Recorded recorded = new Recorded();
    try (FileJournal journal = FileJournal.open(environment, FOLDER, SMALL)) {
      assertThat(journal.recover(recorded))
          .isEqualTo(new Journal.Tail(3, 9, 30, 1_700_000_000_003L, null, 0, 0));
      try (Journal.Reader reader = Objects.requireNonNull(journal.read(0))) {
        for (int i = 1; i <= 3; i++) {
          assertThat(reader.next()).isEqualTo(frame(i));
        }
        assertThat(reader.next()).isNull();
        CompletableFuture<Void> done = journal.append(frame(4));
        environment.run();
        assertThat(done).isCompleted();
        assertThat(reader.next()).isEqualTo(frame(4));
      }
    }
    assertThat(environment.files.containsKey(FileNames.segment(4)))
        .as("a segment of an earlier version gets no new frames")
        .isEqualTo(version < SegmentHeader.VERSION);
    try (FileJournal journal = FileJournal.open(environment, FOLDER, SMALL)) {
      assertThat(journal.recover(new Recorded()).sequence()).isEqualTo(4);
    }
    assertThat(recorded.parts).containsExactly("first part", "second");
    assertThat(recorded.frames).containsExactly("payload of frame 3");
  }

  @Test
  void files_of_version_2_are_written() throws IOException {
    MemoryEnvironment environment = write();
    byte[] expected = golden(2, "segment.golden");
    byte[] segment = Objects.requireNonNull(environment.files.get(SEGMENT)).bytes;
    assertThat(Arrays.copyOf(segment, expected.length)).isEqualTo(expected);
    assertThat(Objects.requireNonNull(environment.files.get(SNAPSHOT)).bytes)
        .isEqualTo(golden(1, "snapshot.golden"));
  }
}
