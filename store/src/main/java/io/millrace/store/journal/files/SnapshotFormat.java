package io.millrace.store.journal.files;

import io.millrace.store.journal.FrameCodec;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** The format of snapshots, version 1; docs/journal-format.md describes it. */
final class SnapshotFormat {
  static final int MAGIC = 0x4d52534e; // MRSN
  static final int PART = 0x4d525054; // MRPT
  static final int END = 0x4d52454e; // MREN
  static final short VERSION = 1;
  static final short STANDS_ALONE = 1;
  static final int HEADER_BYTES = 64;
  static final int PART_HEADER_BYTES = 24;
  static final int CHECKSUM_AT = 56;
  static final int PART_CHECKSUM_AT = 16;

  private SnapshotFormat() {}

  static int padding(int payloadBytes) {
    return -payloadBytes & (FrameCodec.ALIGNMENT - 1);
  }

  static int headerChecksum(ByteBuffer header) {
    CRC32C checksum = new CRC32C();
    checksum.update(header.slice(0, CHECKSUM_AT));
    return (int) checksum.getValue();
  }

  /** Includes the previous checksum, so that no part can be left out or moved. */
  static int partChecksum(int before, ByteBuffer partHeader, ByteBuffer payload) {
    CRC32C checksum = new CRC32C();
    for (int shift = 24; shift >= 0; shift -= 8) {
      checksum.update((before >>> shift) & 0xff);
    }
    checksum.update(partHeader.slice(0, PART_CHECKSUM_AT));
    checksum.update(payload.duplicate());
    return (int) checksum.getValue();
  }
}
