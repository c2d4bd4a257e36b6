package io.millrace.store.kernel.records;

import io.millrace.store.Bytes;
import io.millrace.store.journal.FrameCodec;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Divides a commit that is larger than a frame among several, and puts the parts together again.
 * For use by one thread.
 */
public final class GroupParts {
  /** Room in bytes for the other elements of a part. */
  private static final int OVERHEAD = 64;

  private final ByteArrayOutputStream read = new ByteArrayOutputStream();
  private long next;

  /**
   * The payloads of the frames for {@code records}, each of at most {@link
   * FrameCodec#MAX_PAYLOAD_BYTES}.
   */
  public static List<RecordWriter> divide(ByteBuffer records) {
    int piece = FrameCodec.MAX_PAYLOAD_BYTES - OVERHEAD;
    int count = (records.remaining() + piece - 1) / piece;
    List<RecordWriter> parts = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      int from = records.position() + i * piece;
      int length = Math.min(piece, records.limit() - from);
      RecordWriter out = new RecordWriter();
      Bytes bytes = Bytes.from(records.slice(from, length));
      Records.write(out, new JournalRecord.Part(i, count, bytes));
      parts.add(out);
    }
    return parts;
  }

  /**
   * Adds the payload of the next frame.
   *
   * @return the records of a whole group, valid as long as the payload; null if more parts follow
   * @throws RecordException if it is a part, and those before it were not added
   */
  public @Nullable ByteBuffer add(ByteBuffer payload) {
    if (!Records.isPart(payload)) {
      // A leader that stopped in the middle of a group has told nobody of it.
      clear();
      return payload;
    }
    RecordReader in = new RecordReader(payload);
    if (!(Records.read(in) instanceof JournalRecord.Part(long index, long count, Bytes bytes))
        || !in.atEnd()) {
      throw new RecordException("a part of a group with other records");
    }
    if (index == 0) {
      clear();
    }
    if (index != next || index >= count) {
      throw new RecordException("part " + index + " of a group, not part " + next);
    }
    read.writeBytes(bytes.toArray());
    next++;
    if (next < count) {
      return null;
    }
    ByteBuffer whole = ByteBuffer.wrap(read.toByteArray());
    clear();
    return whole;
  }

  /** Forgets the parts of an unfinished group. */
  public void clear() {
    read.reset();
    next = 0;
  }
}
