package io.millrace.store.journal;

import io.millrace.store.environment.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The first block of a segment file, format version 1. It has a block of its own, so that no write
 * of a frame touches it. It is durable before the file gets its name, and everything in earlier
 * segments is durable before that.
 *
 * @param journalId the journal's random identity, the same in all its segments
 * @param before where the segment before this one ended
 */
record SegmentHeader(long journalId, Chain before) {
  static final int MAGIC = 0x4d525347; // MRSG
  static final short VERSION = 1;
  static final int BLOCK_BYTES = 4096;

  private static final int CHECKSUM_AT = 52;
  private static final int HEADER_BYTES = 56;

  long firstSequence() {
    return before.sequence() + 1;
  }

  void write(DiskFile file) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocateDirect(BLOCK_BYTES);
    bytes.putInt(0, MAGIC);
    bytes.putShort(4, VERSION);
    bytes.putLong(8, journalId);
    bytes.putLong(16, firstSequence());
    bytes.putLong(24, before.position());
    bytes.putLong(32, before.epoch());
    bytes.putLong(40, before.timeMillis());
    bytes.putInt(48, before.checksum());
    bytes.putInt(CHECKSUM_AT, checksum(bytes));
    file.write(0, bytes);
  }

  /**
   * Reads the header of the segment that should begin with {@code firstSequence}.
   *
   * @throws DamagedJournalException when it is not there or is that of another segment
   */
  static SegmentHeader read(DiskFile file, long firstSequence) throws IOException {
    String name = FileNames.segment(firstSequence);
    ByteBuffer bytes = ByteBuffer.allocateDirect(HEADER_BYTES);
    if (file.read(0, bytes) < HEADER_BYTES) {
      throw new DamagedJournalException(name, 0, "the header is cut short");
    }
    if (bytes.getInt(0) != MAGIC || checksum(bytes) != bytes.getInt(CHECKSUM_AT)) {
      throw new DamagedJournalException(name, 0, "this is no segment header");
    }
    short version = bytes.getShort(4);
    if (version != VERSION) {
      throw new JournalException(
          name + " has format version " + version + ", this program reads only " + VERSION);
    }
    if (bytes.getLong(16) != firstSequence) {
      throw new DamagedJournalException(
          name, 16, "this is the header of " + FileNames.segment(bytes.getLong(16)));
    }
    if (file.size() < BLOCK_BYTES) {
      // Whole segments are allocated before they get their name.
      throw new DamagedJournalException(name, file.size(), "the segment ends within its header");
    }
    return new SegmentHeader(
        bytes.getLong(8),
        new Chain(
            firstSequence - 1,
            bytes.getInt(48),
            bytes.getLong(32),
            bytes.getLong(24),
            bytes.getLong(40)));
  }

  private static int checksum(ByteBuffer bytes) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes.slice(0, CHECKSUM_AT));
    return (int) checksum.getValue();
  }
}
