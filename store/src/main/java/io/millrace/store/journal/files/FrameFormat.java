package io.millrace.store.journal.files;

import io.millrace.store.journal.Frame;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The format of a frame, version 1; docs/journal-format.md describes it. All numbers are
 * big-endian. The checksums include the random id of the journal, so that a payload is never taken
 * for a frame.
 */
final class FrameFormat {
  static final int MAGIC = 0x4d524652; // MRFR
  static final short VERSION = 1;
  static final int HEADER_BYTES = 72;
  static final int ALIGNMENT = 8;

  private static final int LENGTH_AT = 56;
  private static final int PREDECESSOR_AT = 60;
  private static final int HEADER_CHECKSUM_AT = 64;
  private static final int CHECKSUM_AT = 68;

  private FrameFormat() {}

  /** The size of a frame with a payload of this length, including padding. */
  static long sizeBytes(int payloadBytes) {
    return (HEADER_BYTES + (long) payloadBytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** Writes the header at offset 0 of {@code header} and returns the frame's checksum. */
  static int encodeHeader(Frame frame, long journalId, int predecessor, ByteBuffer header) {
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
  static boolean isHeader(ByteBuffer bytes, int at, long journalId) {
    if (bytes.getInt(at) != MAGIC || bytes.getShort(at + 4) != VERSION) {
      return false;
    }
    CRC32C checksum = begin(journalId);
    checksum.update(bytes.slice(at, HEADER_CHECKSUM_AT));
    return (int) checksum.getValue() == bytes.getInt(at + HEADER_CHECKSUM_AT)
        && bytes.getInt(at + LENGTH_AT) >= 0;
  }

  /** Whether the checksum of a frame, which is completely in {@code bytes}, is right. */
  static boolean isWhole(ByteBuffer bytes, int at, long journalId) {
    CRC32C checksum = begin(journalId);
    checksum.update(bytes.slice(at, CHECKSUM_AT));
    checksum.update(bytes.slice(at + HEADER_BYTES, payloadBytes(bytes, at)));
    return (int) checksum.getValue() == checksum(bytes, at);
  }

  static int payloadBytes(ByteBuffer bytes, int at) {
    return bytes.getInt(at + LENGTH_AT);
  }

  static int predecessor(ByteBuffer bytes, int at) {
    return bytes.getInt(at + PREDECESSOR_AT);
  }

  static int checksum(ByteBuffer bytes, int at) {
    return bytes.getInt(at + CHECKSUM_AT);
  }

  /** The frame at {@code at}, its payload a view into {@code bytes}. */
  static Frame decode(ByteBuffer bytes, int at) {
    return new Frame(
        bytes.getLong(at + 8),
        bytes.getLong(at + 16),
        bytes.getLong(at + 24),
        bytes.getLong(at + 40),
        bytes.getLong(at + 48),
        bytes.getLong(at + 32),
        bytes.slice(at + HEADER_BYTES, payloadBytes(bytes, at)));
  }

  private static CRC32C begin(long journalId) {
    CRC32C checksum = new CRC32C();
    for (int shift = 56; shift >= 0; shift -= 8) {
      checksum.update((int) (journalId >>> shift) & 0xff);
    }
    return checksum;
  }
}
