package io.millrace.store.journal.files;

import io.millrace.store.environment.DiskFile;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What stands after the last frame of the last segment. Only zeros: the plain end. Else it is what
 * a crash left of frames that were never acknowledged, unless a later frame says otherwise. It is
 * left where it is: recovery begins another segment, whose header says where this one ends.
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
   * @param missing the number of the frame that should stand here
   * @throws DamagedJournalException when a later whole frame says that this frame was durable
   */
  static TornTail examine(DiskFile file, Segment segment, FrameScan scan, long missing)
      throws IOException {
    long from = scan.offset();
    long size = file.size();
    long end = from;
    int pieceBytes = (int) Math.min(PIECE_BYTES, size - from);
    ByteBuffer piece = ByteBuffer.allocateDirect(pieceBytes);
    ByteBuffer zeros = ByteBuffer.allocateDirect(pieceBytes);
    FrameScan candidates = new FrameScan(file, segment, PIECE_BYTES);
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
          refuseIfDurable(candidates.wholeFrameAt(at + i), segment, scan, missing);
        }
        if (piece.get(i) != 0) {
          end = at + i + 1;
        }
      }
    }
    return new TornTail(from, end);
  }

  private static void refuseIfDurable(
      @Nullable Frame later, Segment segment, FrameScan scan, long missing) {
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
}
