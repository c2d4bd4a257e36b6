package io.millrace.store.journal;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads frames with their checksums, in format version 1, which docs/journal-format.md
 * describes. Every journal stores its frames in this form. All numbers are big-endian. The
 * checksums include the random id of the journal, so that a payload is never taken for a frame.
 */
public final class FrameCodec {
  /** The largest payload of a frame that the store appends, in bytes; older ones may be larger. */
  public static final int MAX_PAYLOAD_BYTES = 4 << 20;

  /** The first four bytes of a frame. */
  public static final int MAGIC = 0x4d524652; // MRFR

  /** The format version. */
  public static final short VERSION = 1;

  /** The size of the header in bytes. */
  public static final int HEADER_BYTES = 72;

  /** Frames begin at multiples of this, in bytes. */
  public static final int ALIGNMENT = 8;

  private static final int LENGTH_AT = 56;
  private static final int PREDECESSOR_AT = 60;
  private static final int HEADER_CHECKSUM_AT = 64;
  private static final int CHECKSUM_AT = 68;

  private FrameCodec() {}

  /** The size of a frame with a payload of this length, including padding. */
  public static long sizeBytes(int payloadBytes) {
    return (HEADER_BYTES + (long) payloadBytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** Writes the header at offset 0 of {@code header} and returns the frame's checksum. */
  public static int encodeHeader(Frame frame, long journalId, int predecessor, ByteBuffer header) {
    header.putInt(0, MAGIC);
    header.putShort(4, VERSION);
    header.putShort(6, (short) 0);
    header.putLong(8, frame.sequence());
    header.putLong(16, frame.epoch());
    header.putLong(24, frame.writer());
    header.putLong(32, frame.position());
    header.putLong(40, frame.timeMillis());
    header.putLong(48, frame.durableSequence());
    header.putInt(LENGTH_AT, frame.payload().remaining());
    header.putInt(PREDECESSOR_AT, predecessor);
    CRC32C checksum = begin(journalId);
    checksum.update(header.slice(0, HEADER_CHECKSUM_AT));
    header.putInt(HEADER_CHECKSUM_AT, (int) checksum.getValue());
    checksum.update(header.slice(HEADER_CHECKSUM_AT, CHECKSUM_AT - HEADER_CHECKSUM_AT));
    checksum.update(frame.payload().duplicate());
    int value = (int) checksum.getValue();
    header.putInt(CHECKSUM_AT, value);
    return value;
  }

  /** Whether there is a valid header of this version at {@code at}. */
  public static boolean isHeader(ByteBuffer bytes, int at, long journalId) {
    if (bytes.getInt(at) != MAGIC || bytes.getShort(at + 4) != VERSION) {
      return false;
    }
    CRC32C checksum = begin(journalId);
    checksum.update(bytes.slice(at, HEADER_CHECKSUM_AT));
    return (int) checksum.getValue() == bytes.getInt(at + HEADER_CHECKSUM_AT)
        && bytes.getInt(at + LENGTH_AT) >= 0;
  }

  /** Whether the checksum of a frame, which is completely in {@code bytes}, is right. */
  public static boolean isWhole(ByteBuffer bytes, int at, long journalId) {
    CRC32C checksum = begin(journalId);
    checksum.update(bytes.slice(at, CHECKSUM_AT));
    checksum.update(bytes.slice(at + HEADER_BYTES, payloadBytes(bytes, at)));
    return (int) checksum.getValue() == checksum(bytes, at);
  }

  /** The length of the payload according to the header at {@code at}. */
  public static int payloadBytes(ByteBuffer bytes, int at) {
    return bytes.getInt(at + LENGTH_AT);
  }

  /** The checksum of the frame before, according to the header at {@code at}. */
  public static int predecessor(ByteBuffer bytes, int at) {
    return bytes.getInt(at + PREDECESSOR_AT);
  }

  /** The checksum in the header at {@code at}. */
  public static int checksum(ByteBuffer bytes, int at) {
    return bytes.getInt(at + CHECKSUM_AT);
  }

  /** The frame at {@code at}, its payload a view into {@code bytes}. */
  public static Frame decode(ByteBuffer bytes, int at) {
    return new Frame(
        bytes.getLong(at + 8),
        bytes.getLong(at + 16),
        bytes.getLong(at + 24),
        bytes.getLong(at + 40),
        bytes.getLong(at + 48),
        bytes.getLong(at + 32),
        bytes.slice(at + HEADER_BYTES, payloadBytes(bytes, at)));
  }

  /**
   * The whole frame in a new buffer: header, payload and padding.
   *
   * @param journalId the identity of the journal
   * @param predecessor the checksum of the frame before it, 0 for none
   */
  public static ByteBuffer encode(Frame frame, long journalId, int predecessor) {
    int payload = frame.payload().remaining();
    ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(sizeBytes(payload)));
    encodeHeader(frame, journalId, predecessor, bytes);
    bytes.put(HEADER_BYTES, frame.payload(), frame.payload().position(), payload);
    return bytes;
  }

  /**
   * Reads a buffer that holds one whole frame from its offset 0.
   *
   * @param name what the buffer is, for messages
   * @param before the end of the chain that it must continue; null to check only the frame itself
   * @return the frame, its payload a view into {@code bytes}
   * @throws DamagedJournalException if it is damaged or does not continue the chain
   */
  public static Frame decode(
      ByteBuffer bytes, long journalId, String name, @Nullable Chain before) {
    if (bytes.limit() < HEADER_BYTES
        || !isHeader(bytes, 0, journalId)
        || sizeBytes(payloadBytes(bytes, 0)) != bytes.limit()
        || !isWhole(bytes, 0, journalId)) {
      throw new DamagedJournalException(name, 0, "no complete frame");
    }
    Frame frame = decode(bytes, 0);
    String problem = before == null ? null : before.breakOf(frame, predecessor(bytes, 0));
    if (problem != null) {
      throw new DamagedJournalException(name, 0, problem);
    }
    return frame;
  }

  private static CRC32C begin(long journalId) {
    CRC32C checksum = new CRC32C();
    for (int shift = 56; shift >= 0; shift -= 8) {
      checksum.update((int) (journalId >>> shift) & 0xff);
    }
    return checksum;
  }
}
