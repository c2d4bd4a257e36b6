package io.millrace.store.journal.files;

import io.millrace.store.environment.DiskFile;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Reads the frames of one segment in order, in large pieces, and checks each against the chain. */
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

  /** Where the frames read so far end. */
  long offset() {
    return offset;
  }

  /** The last frame read. */
  Chain chain() {
    return chain;
  }

  /** Why there is no next frame, in words; null for a plain end: zeros or the limit. */
  @Nullable String problem() {
    return problem;
  }

  /** Moves the offset up to which frames are read. */
  void limit(long newLimit) {
    limit = newLimit;
  }

  /** The next frame, valid until the next call; null at the end or at what is no whole frame. */
  @Nullable Frame next() throws IOException {
    problem = null;
    if (!load(offset, FrameFormat.HEADER_BYTES)) {
      problem = isZero(offset, limit - offset) ? null : "a frame is cut short";
      return null;
    }
    int at = (int) (offset - windowAt);
    if (window.getLong(at) == 0) {
      // A frame never begins with zeros; what follows them is the business of the torn tail.
      return null;
    }
    @Nullable Frame frame = wholeFrameAt(offset);
    if (frame == null) {
      problem = "no whole frame";
      return null;
    }
    at = (int) (offset - windowAt);
    problem = breakOf(frame, FrameFormat.predecessor(window, at));
    if (problem != null) {
      return null;
    }
    chain = chain.after(frame, FrameFormat.checksum(window, at));
    offset += FrameFormat.sizeBytes(frame.payload().remaining());
    return frame;
  }

  /**
   * After a stop: goes on with the next whole frame, wherever it stands, that comes after the last
   * one read and not after frame {@code most}. The commits in the gap and in that frame count as
   * read.
   *
   * @param covered the frame up to which a snapshot makes up for what is missing
   * @return whether there is such a frame, which {@link #next} then gives
   */
  boolean skip(Chain covered, long most) throws IOException {
    for (long at = offset; at + FrameFormat.HEADER_BYTES <= limit; at += FrameFormat.ALIGNMENT) {
      @Nullable Frame frame = wholeFrameAt(at);
      if (frame != null && frame.sequence() > chain.sequence() && frame.sequence() <= most) {
        boolean nextToCovered = frame.sequence() == covered.sequence() + 1;
        int predecessor = FrameFormat.predecessor(window, (int) (at - windowAt));
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

  private @Nullable String breakOf(Frame frame, int predecessor) {
    if (frame.sequence() != chain.sequence() + 1) {
      return "frame " + frame.sequence() + " stands after frame " + chain.sequence();
    }
    if (predecessor != chain.checksum()) {
      return "frame " + frame.sequence() + " does not follow on the frame before it";
    }
    if (frame.epoch() < chain.epoch() || frame.position() < chain.position()) {
      return "frame " + frame.sequence() + " goes back in epoch or position";
    }
    return null;
  }

  /** The frame at {@code at} if its checksums are right, whatever its place in the chain. */
  @Nullable Frame wholeFrameAt(long at) throws IOException {
    if (!load(at, FrameFormat.HEADER_BYTES)
        || !FrameFormat.isHeader(window, (int) (at - windowAt), journalId)) {
      return null;
    }
    int payload = FrameFormat.payloadBytes(window, (int) (at - windowAt));
    if (!load(at, FrameFormat.sizeBytes(payload))) {
      return null;
    }
    int inWindow = (int) (at - windowAt);
    return FrameFormat.isWhole(window, inWindow, journalId)
        ? FrameFormat.decode(window, inWindow)
        : null;
  }

  /** Makes the window hold {@code count} bytes from {@code at}; false when the limit is nearer. */
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

  /** Whether what is too short for a header is zeros; a file shorter than the limit counts so. */
  private boolean isZero(long from, long count) throws IOException {
    ByteBuffer rest = ByteBuffer.allocate((int) Math.min(FrameFormat.HEADER_BYTES, count));
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
   * What stands after the last frame of the last segment. Only zeros: the plain end. Otherwise it
   * is what a crash left of frames that were never acknowledged, unless a later frame says
   * otherwise. It is left where it is: recovery begins another segment, whose header says where
   * this one ends.
   *
   * @param offset where it begins
   * @param end where its last byte that is not zero ends; {@code offset} for none
   */
  record TornTail(long offset, long end) {
    boolean isEmpty() {
      return end == offset;
    }
  }

  /**
   * Looks at everything from the last frame read to the end of the file.
   *
   * @param missing the number of the frame that should stand here
   * @throws DamagedJournalException when a later whole frame says that this frame was durable
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
      for (int i = nonZero & -FrameFormat.ALIGNMENT; i < read; i++) {
        if (i % FrameFormat.ALIGNMENT == 0
            && i + Integer.BYTES <= read
            && piece.getInt(i) == FrameFormat.MAGIC) {
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
              + " should stand, which was durable when frame "
              + later.sequence()
              + " was written");
    }
  }
}
