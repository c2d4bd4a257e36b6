package io.millrace.store.journal.files;

import io.millrace.store.environment.DiskFile;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.FrameCodec;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Reads the frames of one segment in order, and checks that each continues the chain. */
final class FrameScan {
  private static final int TAIL_PIECE_BYTES = 1 << 20;

  private final DiskFile file;
  private final Segment segment;
  private final long journalId;
  private final int pieceBytes;
  private ByteBuffer window;
  private long windowAt;
  private long limit;

  private Chain chain;
  private long offset;
  private @Nullable String problem;

  FrameScan(DiskFile file, Segment segment, int pieceBytes) {
    this.file = file;
    this.segment = segment;
    this.journalId = segment.header().journalId();
    this.chain = segment.before();
    this.offset = segment.from();
    this.limit = segment.sizeBytes();
    this.pieceBytes = pieceBytes;
    this.window = ByteBuffer.allocateDirect((int) Math.min(pieceBytes, limit)).limit(0);
  }

  /** The end of the last frame read. */
  long offset() {
    return offset;
  }

  /** The last frame read. */
  Chain chain() {
    return chain;
  }

  /** Why there is no next frame, for people; null if the frames end with zeros or at the limit. */
  @Nullable String problem() {
    return problem;
  }

  /** Sets the offset up to which frames are read. */
  void limit(long newLimit) {
    limit = newLimit;
  }

  /** Reads what comes after the last frame from the file again, which may have grown. */
  void readAgain() {
    window.limit(0);
  }

  /** The next frame, valid until the next call; null at the end or before an invalid frame. */
  @Nullable Frame next() throws IOException {
    problem = null;
    if (!load(offset, FrameCodec.HEADER_BYTES)) {
      problem = isZero(offset, limit - offset) ? null : "a frame is cut short";
      return null;
    }
    int at = (int) (offset - windowAt);
    if (window.getLong(at) == 0) {
      // A frame never begins with zeros. tornTail() checks what follows them.
      return null;
    }
    @Nullable Frame frame = wholeFrameAt(offset);
    if (frame == null) {
      problem = "no complete frame";
      return null;
    }
    at = (int) (offset - windowAt);
    problem = chain.breakOf(frame, FrameCodec.predecessor(window, at));
    if (problem != null) {
      return null;
    }
    chain = chain.after(frame, FrameCodec.checksum(window, at));
    offset += FrameCodec.sizeBytes(frame.payload().remaining());
    return frame;
  }

  /**
   * After {@link #next} has returned null: searches for the next complete frame that comes after
   * the last one read, but not after frame {@code last}. The commits of the gap and of that frame
   * count as read.
   *
   * @param covered the frame up to which a snapshot replaces missing frames
   * @return whether there is such a frame, which {@link #next} then returns
   */
  boolean skip(Chain covered, long last) throws IOException {
    for (long at = offset; at + FrameCodec.HEADER_BYTES <= limit; at += FrameCodec.ALIGNMENT) {
      @Nullable Frame frame = wholeFrameAt(at);
      if (frame != null && frame.sequence() > chain.sequence() && frame.sequence() <= last) {
        boolean nextToCovered = frame.sequence() == covered.sequence() + 1;
        int predecessor = FrameCodec.predecessor(window, (int) (at - windowAt));
        offset = at;
        chain =
            new Chain(
                frame.sequence() - 1,
                predecessor,
                Math.max(chain.epoch(), nextToCovered ? covered.epoch() : 0),
                nextToCovered ? covered.position() : frame.position(),
                chain.timeMillis());
        return true;
      }
    }
    return false;
  }

  /** The frame at {@code at} if its checksums are right; the chain is not checked. */
  @Nullable Frame wholeFrameAt(long at) throws IOException {
    if (!load(at, FrameCodec.HEADER_BYTES)
        || !FrameCodec.isHeader(window, (int) (at - windowAt), journalId)) {
      return null;
    }
    int payload = FrameCodec.payloadBytes(window, (int) (at - windowAt));
    if (!load(at, FrameCodec.sizeBytes(payload))) {
      return null;
    }
    int inWindow = (int) (at - windowAt);
    return FrameCodec.isWhole(window, inWindow, journalId)
        ? FrameCodec.decode(window, inWindow)
        : null;
  }

  /**
   * Loads {@code count} bytes from {@code at} into the window; false if the limit is before that.
   */
  private boolean load(long at, long count) throws IOException {
    if (at + count > limit) {
      return false;
    }
    if (at >= windowAt && at + count <= windowAt + window.limit()) {
      return true;
    }
    if (count > window.capacity()) {
      window = ByteBuffer.allocateDirect(Math.toIntExact(count));
    }
    long wanted = Math.min(window.capacity(), Math.max(pieceBytes, count));
    window.clear().limit((int) Math.min(wanted, limit - at));
    windowAt = at;
    int read = file.read(at, window);
    window.position(0).limit(read);
    return read >= count;
  }

  /**
   * Whether a rest that is too short for a header consists of zeros, or the file ends before it.
   */
  private boolean isZero(long from, long count) throws IOException {
    ByteBuffer rest = ByteBuffer.allocate((int) Math.min(FrameCodec.HEADER_BYTES, count));
    file.read(from, rest);
    rest.flip();
    while (rest.hasRemaining()) {
      if (rest.get() != 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * The bytes after the last frame of the last segment. If they are not all zero, they are the rest
   * of frames that were being written at a crash and were never acknowledged, unless a later frame
   * proves otherwise. They are not overwritten: recovery starts a new segment, whose header says
   * where this one ends.
   *
   * @param offset where they begin
   * @param end the end of the last byte that is not zero; {@code offset} if all are zero
   */
  record TornTail(long offset, long end) {
    boolean isEmpty() {
      return end == offset;
    }
  }

  /**
   * Checks all bytes from the end of the last frame to the end of the file.
   *
   * @param missing the number of the next frame
   * @throws DamagedJournalException if a later complete frame proves that this frame was durable
   */
  TornTail tornTail(long missing) throws IOException {
    long size = file.size();
    long end = offset;
    int bytes = (int) Math.min(TAIL_PIECE_BYTES, size - offset);
    ByteBuffer piece = ByteBuffer.allocateDirect(bytes);
    ByteBuffer zeros = ByteBuffer.allocateDirect(bytes);
    FrameScan candidates = new FrameScan(file, segment, TAIL_PIECE_BYTES);
    for (long at = offset; at < size; at += TAIL_PIECE_BYTES) {
      int read = file.read(at, piece.clear());
      piece.flip();
      int nonZero = piece.mismatch(zeros.slice(0, read));
      if (nonZero < 0) {
        continue;
      }
      for (int i = nonZero & -FrameCodec.ALIGNMENT; i < read; i++) {
        if (i % FrameCodec.ALIGNMENT == 0
            && i + Integer.BYTES <= read
            && piece.getInt(i) == FrameCodec.MAGIC) {
          refuseIfDurable(candidates.wholeFrameAt(at + i), missing);
        }
        if (piece.get(i) != 0) {
          end = at + i + 1;
        }
      }
    }
    return new TornTail(offset, end);
  }

  private void refuseIfDurable(@Nullable Frame later, long missing) {
    if (later != null && later.durableSequence() >= missing) {
      throw new DamagedJournalException(
          segment.name(),
          offset,
          (problem == null ? "zeros" : problem)
              + " where frame "
              + missing
              + " should be, which was durable when frame "
              + later.sequence()
              + " was written");
    }
  }
}
