package io.millrace.store.journal.files;

import io.millrace.store.journal.FrameCodec;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Files whose checksums are made right again after whatever happened to the bytes, so that what
 * stands behind the checksums is tried too.
 */
final class Resealed {
  /** The bytes of a segment's header that mean something. */
  static final int HEADER_BYTES = SegmentHeader.HEADER_BYTES;

  private Resealed() {}

  /** A whole segment file without the zeros that fill its first block and its end. */
  static byte[] packed(byte[] segment) {
    int end = segment.length;
    while (end > SegmentHeader.BLOCK_BYTES && segment[end - 1] == 0) {
      end--;
    }
    end = (end + FrameCodec.ALIGNMENT - 1) & -FrameCodec.ALIGNMENT;
    byte[] packed = Arrays.copyOf(segment, end - unused());
    System.arraycopy(
        segment, SegmentHeader.BLOCK_BYTES, packed, HEADER_BYTES, packed.length - HEADER_BYTES);
    return packed;
  }

  /** What {@link #packed} was made of, but for zeros at the end. */
  static byte[] unpacked(byte[] packed) {
    byte[] segment = new byte[Math.max(packed.length, HEADER_BYTES) + unused()];
    int header = Math.min(packed.length, HEADER_BYTES);
    System.arraycopy(packed, 0, segment, 0, header);
    System.arraycopy(packed, header, segment, SegmentHeader.BLOCK_BYTES, packed.length - header);
    return segment;
  }

  private static int unused() {
    return SegmentHeader.BLOCK_BYTES - HEADER_BYTES;
  }

  /** Makes the checksums of a segment's header and frames right, as far as they are frames. */
  static byte[] segment(byte[] segment) {
    ByteBuffer bytes = ByteBuffer.wrap(segment);
    int checksumAt = SegmentHeader.checksumAt(bytes.getShort(4));
    CRC32C checksum = new CRC32C();
    checksum.update(bytes.slice(0, checksumAt));
    bytes.putInt(checksumAt, (int) checksum.getValue());
    long journalId = bytes.getLong(8);
    int predecessor = bytes.getInt(48);
    int at = SegmentHeader.BLOCK_BYTES;
    while (at + FrameCodec.HEADER_BYTES <= segment.length) {
      int payload = FrameCodec.payloadBytes(bytes, at);
      if (payload < 0 || payload > segment.length - at - FrameCodec.HEADER_BYTES) {
        break;
      }
      predecessor =
          FrameCodec.encodeHeader(
              FrameCodec.decode(bytes, at),
              journalId,
              predecessor,
              bytes.slice(at, FrameCodec.HEADER_BYTES));
      at += (int) FrameCodec.sizeBytes(payload);
    }
    return segment;
  }

  /** Makes the checksums of a snapshot's header and parts right, as far as they are parts. */
  static byte[] snapshot(byte[] snapshot) {
    if (snapshot.length < SnapshotFormat.HEADER_BYTES) {
      return snapshot;
    }
    ByteBuffer bytes = ByteBuffer.wrap(snapshot);
    int checksum = SnapshotFormat.headerChecksum(bytes);
    bytes.putInt(SnapshotFormat.CHECKSUM_AT, checksum);
    int at = SnapshotFormat.HEADER_BYTES;
    for (long part = 0; at + SnapshotFormat.PART_HEADER_BYTES <= snapshot.length; part++) {
      int payload = bytes.getInt(at + 4);
      int rest = snapshot.length - at - SnapshotFormat.PART_HEADER_BYTES;
      if (payload < 0 || payload > rest) {
        break;
      }
      bytes.putLong(at + 8, part);
      ByteBuffer header = bytes.slice(at, SnapshotFormat.PART_HEADER_BYTES);
      ByteBuffer content = bytes.slice(at + SnapshotFormat.PART_HEADER_BYTES, payload);
      checksum = SnapshotFormat.partChecksum(checksum, header, content);
      bytes.putInt(at + SnapshotFormat.PART_CHECKSUM_AT, checksum);
      at += SnapshotFormat.PART_HEADER_BYTES + payload + SnapshotFormat.padding(payload);
    }
    return snapshot;
  }
}
