package io.millrace.store.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.files.SnapshotInput;
import io.millrace.store.kernel.records.JournalRecord;
import io.millrace.store.kernel.records.RecordException;
import io.millrace.store.kernel.records.RecordReader;
import io.millrace.store.kernel.records.RecordWriter;
import io.millrace.store.kernel.records.Records;
import io.millrace.store.kernel.recovery.Replayer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever bytes stand where records should, they are read or a RecordException says what is wrong.
 * The seeds are the records of a folder as the first version wrote it; {@code build/fuzz} goes on
 * from them.
 */
class RecordsFuzzTest {
  // From docs/journal-format.md: where the frames of a segment begin, and what a frame's header is.
  private static final int FRAMES_AT = 4096;
  private static final int FRAME_HEADER_BYTES = 72;
  private static final int FRAME_LENGTH_AT = 56;
  private static final int FRAME_ALIGNMENT = 8;

  private static byte[] golden(String name) throws IOException {
    try (InputStream file = RecordsFuzzTest.class.getResourceAsStream("/store-v1/" + name)) {
      return Objects.requireNonNull(file, name).readAllBytes();
    }
  }

  private static byte[] content(ByteBuffer bytes) {
    byte[] content = new byte[bytes.remaining()];
    bytes.get(content);
    return content;
  }

  private static byte[] joined(List<byte[]> parts) {
    ByteBuffer all = ByteBuffer.allocate(parts.stream().mapToInt(part -> part.length).sum());
    parts.forEach(all::put);
    return all.array();
  }

  /** The payload of every frame, then all of them as one. */
  static List<byte[]> frames() throws IOException {
    ByteBuffer segment = ByteBuffer.wrap(golden("0000000000000001.segment"));
    List<byte[]> payloads = new ArrayList<>();
    int at = FRAMES_AT;
    while (segment.getInt(at) != 0) {
      int length = segment.getInt(at + FRAME_LENGTH_AT);
      payloads.add(content(segment.slice(at + FRAME_HEADER_BYTES, length)));
      at += (FRAME_HEADER_BYTES + length + FRAME_ALIGNMENT - 1) & -FRAME_ALIGNMENT;
    }
    payloads.add(joined(payloads));
    return payloads;
  }

  static List<byte[]> snapshotParts() throws IOException {
    InputStream file = new ByteArrayInputStream(golden("0000000000000005.snapshot"));
    SnapshotInput snapshot = new SnapshotInput(file, "golden");
    List<byte[]> parts = new ArrayList<>();
    for (ByteBuffer part = snapshot.next(); part != null; part = snapshot.next()) {
      parts.add(content(part));
    }
    return parts;
  }

  static List<byte[]> records() throws IOException {
    List<byte[]> all = new ArrayList<>(frames());
    all.addAll(snapshotParts());
    return all;
  }

  @MethodSource("records")
  @FuzzTest
  void records_are_read_or_refused(byte[] bytes) {
    List<JournalRecord> records;
    try {
      records = read(ByteBuffer.wrap(bytes));
    } catch (RecordException _) {
      return;
    }
    // There are more ways than one to write some records, and one in which they are written.
    ByteBuffer written = write(records);
    assertThat(write(read(written))).isEqualTo(written);
  }

  private static ByteBuffer write(List<JournalRecord> records) {
    RecordWriter out = new RecordWriter();
    records.forEach(each -> Records.write(out, each));
    return out.view();
  }

  private static List<JournalRecord> read(ByteBuffer bytes) {
    RecordReader in = new RecordReader(bytes);
    List<JournalRecord> records = new ArrayList<>();
    while (!in.atEnd()) {
      records.add(Records.read(in));
    }
    return records;
  }

  @MethodSource("frames")
  @FuzzTest
  void a_frame_is_replayed_or_refused(byte[] payload) {
    try {
      new Replayer().frame(new Frame(1, 1, 1, 1_000_000, 0, 9, ByteBuffer.wrap(payload)));
    } catch (RecordException _) {
      // It says what is wrong.
    }
  }

  @MethodSource("snapshotParts")
  @FuzzTest
  void a_part_of_a_snapshot_is_loaded_or_refused(byte[] payload) {
    try {
      new Replayer().snapshotPart(ByteBuffer.wrap(payload)).run();
    } catch (RecordException _) {
      // It says what is wrong.
    }
  }
}
