package io.millrace.store.journal;

import io.millrace.store.environment.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * What stands after the last frame of the last segment. Only zeros: the plain end. Else it is what
 * a crash left of frames that were never acknowledged, unless a later frame says otherwise.
 *
 * @param offset where it begins
 * @param end where its last byte that is not zero ends; {@code offset} for none
 */
record TornTail(long offset, long end) {
  private static final int PIECE_BYTES = 1 << 20;

  boolean isEmpty() {
    return end == offset;
  }

  /**
   * Looks at everything up to the end of the file.
   *
   * @throws DamagedJournalException when a later whole frame says that the frame which should stand
   *     here was durable
   */
  static TornTail examine(DiskFile file, Segment segment, FrameScan scan) throws IOException {
    long from = scan.offset();
    long size = file.size();
    long end = from;
    int pieceBytes = (int) Math.min(PIECE_BYTES, size - from);
    ByteBuffer piece = ByteBuffer.allocateDirect(pieceBytes);
    ByteBuffer zeros = ByteBuffer.allocateDirect(pieceBytes);
    FrameScan candidates = new FrameScan(file, segment.header(), size, PIECE_BYTES);
    for (long at = from; at < size; at += PIECE_BYTES) {
      int read = file.read(at, piece.clear());
      piece.flip();
      int nonZero = piece.mismatch(zeros.slice(0, read));
      if (nonZero < 0) {
        continue;
      }
      for (int i = nonZero & -FrameFormat.ALIGNMENT; i < read; i++) {
        if (i % FrameFormat.ALIGNMENT == 0
            && i + Integer.BYTES <= read
            && piece.getInt(i) == FrameFormat.MAGIC) {
          refuseIfDurable(candidates.wholeFrameAt(at + i), segment, scan);
        }
        if (piece.get(i) != 0) {
          end = at + i + 1;
        }
      }
    }
    return new TornTail(from, end);
  }

  private static void refuseIfDurable(@Nullable Frame later, Segment segment, FrameScan scan) {
    long missing = scan.chain().sequence() + 1;
    if (later != null && later.durableSequence() >= missing) {
      String problem = scan.problem();
      throw new DamagedJournalException(
          segment.name(),
          scan.offset(),
          (problem == null ? "zeros" : problem)
              + " where frame "
              + missing
              + " should stand, which was durable when frame "
              + later.sequence()
              + " was written");
    }
  }

  /**
   * Copies it to a file of its own and cuts it off. A crash in between is repeated by the next
   * recovery with the same result.
   *
   * @return what was done, in words
   */
  String cut(DiskFile file, Segment segment, Storage storage) throws IOException {
    String temporary = segment.name() + FileNames.TORN + FileNames.TEMPORARY;
    storage.discard(temporary);
    CRC32C checksum = new CRC32C();
    try (DiskFileOutput copy = new DiskFileOutput(storage.open(temporary))) {
      ByteBuffer piece = ByteBuffer.allocateDirect(PIECE_BYTES);
      for (long at = offset; at < end; at += PIECE_BYTES) {
        piece.clear().limit((int) Math.min(PIECE_BYTES, end - at));
        file.read(at, piece);
        piece.flip();
        checksum.update(piece.duplicate());
        copy.write(piece);
      }
      copy.sync();
    }
    String kept = FileNames.torn(segment.firstSequence(), offset, (int) checksum.getValue());
    storage.publish(temporary, kept);
    file.truncate(offset);
    return (end - offset)
        + " bytes of unfinished frames were cut from "
        + segment.name()
        + " at byte "
        + offset
        + " and kept in "
        + kept;
  }
}
