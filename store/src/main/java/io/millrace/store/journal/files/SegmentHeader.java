package io.millrace.store.journal.files;

import io.millrace.store.environment.DiskFile;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.JournalException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The header of a segment file, written in format version 2 and read in versions 1 and 2. It has
 * its own block, so that no write of a frame touches it. It is durable before the file gets its
 * name, and everything in earlier segments is durable before that.
 *
 * @param journalId the random id of the journal, the same in all its segments
 * @param before the end of the previous segment
 * @param cuts how many recoveries in a row have started a segment here because they could not read
 *     the bytes after the previous frame; 0 if the previous segment was full
 * @param allocatedBytes the size to which the file was allocated; 0 in version 1, which does not
 *     record it
 */
record SegmentHeader(long journalId, Chain before, int cuts, long allocatedBytes) {
  static final int MAGIC = 0x4d525347; // MRSG
  static final short VERSION = 2;
  static final int BLOCK_BYTES = 4096;

  /** The bytes of the header that are used, in the longest version. */
  static final int HEADER_BYTES = 64;

  private static final int MAX_CUTS = 0xffff;
  private static final int ALLOCATED_AT = 52;

  /** The header of a segment that continues after {@code before}. */
  static SegmentHeader following(long journalId, Chain before) {
    return new SegmentHeader(journalId, before, 0, 0);
  }

  /** The header of a segment that recovery starts after an unreadable part. */
  static SegmentHeader afterCut(long journalId, Chain before, int cuts) {
    return new SegmentHeader(journalId, before, Math.min(cuts, MAX_CUTS), 0);
  }

  /** The same header for a file of this size. */
  SegmentHeader allocated(long bytes) {
    return new SegmentHeader(journalId, before, cuts, bytes);
  }

  /** The offset of the checksum in a version; it covers all bytes before it. */
  static int checksumAt(int version) {
    return version == 1 ? 52 : 60;
  }

  long firstSequence() {
    return before.sequence() + 1;
  }

  /** Whether it has the newest version, so that new frames may be appended. */
  boolean isNewest() {
    return allocatedBytes > 0;
  }

  void write(DiskFile file) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocateDirect(BLOCK_BYTES);
    bytes.putInt(0, MAGIC);
    bytes.putShort(4, VERSION);
    bytes.putShort(6, (short) cuts);
    bytes.putLong(8, journalId);
    bytes.putLong(16, firstSequence());
    bytes.putLong(24, before.position());
    bytes.putLong(32, before.epoch());
    bytes.putLong(40, before.timeMillis());
    bytes.putInt(48, before.checksum());
    bytes.putLong(ALLOCATED_AT, allocatedBytes);
    bytes.putInt(checksumAt(VERSION), checksum(bytes, VERSION));
    file.write(0, bytes);
  }

  /**
   * Reads the header of the segment that should begin with {@code firstSequence}.
   *
   * @throws DamagedJournalException if there is no valid header, or that of another segment
   */
  static SegmentHeader read(DiskFile file, long firstSequence) throws IOException {
    String name = FileNames.segment(firstSequence);
    ByteBuffer bytes = ByteBuffer.allocateDirect(HEADER_BYTES);
    if (file.read(0, bytes) < HEADER_BYTES) {
      throw new DamagedJournalException(name, 0, "the header is cut short");
    }
    short version = bytes.getShort(4);
    boolean known = version == 1 || version == VERSION;
    if (bytes.getInt(0) != MAGIC || (known ? !isWhole(bytes, version) : isWholeBut(bytes))) {
      throw new DamagedJournalException(name, 0, "this is not a segment header");
    }
    if (!known) {
      throw new JournalException(
          name + " has format version " + version + ", this program reads only 1 to " + VERSION);
    }
    if (bytes.getLong(16) != firstSequence) {
      throw new DamagedJournalException(
          name, 16, "this is the header of " + FileNames.segment(bytes.getLong(16)));
    }
    if (file.size() < BLOCK_BYTES) {
      // A segment is allocated before it gets its name.
      throw new DamagedJournalException(name, file.size(), "the segment ends within its header");
    }
    return new SegmentHeader(
        bytes.getLong(8),
        new Chain(
            firstSequence - 1,
            bytes.getInt(48),
            bytes.getLong(32),
            bytes.getLong(24),
            bytes.getLong(40)),
        version > 1 ? Short.toUnsignedInt(bytes.getShort(6)) : 0,
        version > 1 ? Math.max(BLOCK_BYTES, bytes.getLong(ALLOCATED_AT)) : 0);
  }

  private static boolean isWhole(ByteBuffer bytes, int version) {
    return bytes.getInt(checksumAt(version)) == checksum(bytes, version);
  }

  /** Whether only the version is wrong: then the header is damaged, and not of a later version. */
  private static boolean isWholeBut(ByteBuffer bytes) {
    for (short version = 1; version <= VERSION; version++) {
      bytes.putShort(4, version);
      if (isWhole(bytes, version)) {
        return true;
      }
    }
    return false;
  }

  private static int checksum(ByteBuffer bytes, int version) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes.slice(0, checksumAt(version)));
    return (int) checksum.getValue();
  }
}
