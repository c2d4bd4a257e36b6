package io.millrace.store.journal.files;

import io.millrace.store.environment.DiskFile;
import io.millrace.store.journal.Chain;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.FrameCodec;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The segment to which frames are appended. For use by the syncing thread. */
final class ActiveSegment {
  private static final int BUFFER_BYTES = 1 << 20;
  private static final ByteBuffer PADDING = ByteBuffer.allocate(FrameCodec.ALIGNMENT);

  private final SegmentIndex segments;
  private final SpareSegment spare;
  private final long journalId;
  private final ByteBuffer header = ByteBuffer.allocate(FrameCodec.HEADER_BYTES);
  private final ByteBuffer buffer;

  private DiskFile file;
  private long sizeBytes;
  private long writtenUpTo;
  private long preparedAt;
  private Chain chain;

  /** Continues at the end that recovery found. */
  ActiveSegment(
      SegmentIndex segments, SpareSegment spare, int bufferBytes, Recovery.Ending ending) {
    this.segments = segments;
    this.buffer = ByteBuffer.allocateDirect(Math.min(BUFFER_BYTES, bufferBytes));
    this.spare = spare;
    this.journalId = ending.journalId();
    this.file = ending.file();
    this.sizeBytes = ending.sizeBytes();
    this.writtenUpTo = ending.offset();
    this.preparedAt = writtenUpTo;
    this.chain = ending.chain();
  }

  /** Whether a frame of this size needs the next segment. */
  boolean isFullFor(long frameBytes) {
    return writtenUpTo + buffer.position() + frameBytes > sizeBytes;
  }

  /** The free bytes of the segment, if everything written is synced. */
  long freeBytes() {
    return sizeBytes - writtenUpTo;
  }

  /**
   * Switches to the next segment. Everything written must be synced.
   *
   * @throws SpareSegment.NoRoomException if there is no room for it; nothing has changed then
   */
  void roll(long frameBytes) throws IOException, SpareSegment.NoRoomException {
    SpareSegment.Published next =
        spare.publish(
            SegmentHeader.following(journalId, chain), SegmentHeader.BLOCK_BYTES + frameBytes);
    Segment segment = next.segment();
    file.close();
    file = next.file();
    sizeBytes = segment.sizeBytes();
    writtenUpTo = SegmentHeader.BLOCK_BYTES;
    preparedAt = sizeBytes / 4;
    segments.add(segment);
  }

  /** Appends a frame. It may stay in the buffer until {@link #sync}. */
  void write(Frame frame) throws IOException {
    int checksum = FrameCodec.encodeHeader(frame, journalId, chain.checksum(), header);
    put(header.clear());
    put(frame.payload().duplicate());
    int payload = frame.payload().remaining();
    long padding = FrameCodec.sizeBytes(payload) - FrameCodec.HEADER_BYTES - payload;
    put(PADDING.slice(0, (int) padding));
    chain = chain.after(frame, checksum);
  }

  private void put(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      if (!buffer.hasRemaining()) {
        flush();
      }
      int count = Math.min(bytes.remaining(), buffer.remaining());
      buffer.put(buffer.position(), bytes, bytes.position(), count);
      buffer.position(buffer.position() + count);
      bytes.position(bytes.position() + count);
    }
  }

  private void flush() throws IOException {
    buffer.flip();
    int count = buffer.remaining();
    file.write(writtenUpTo, buffer);
    writtenUpTo += count;
    buffer.clear();
  }

  /** Makes everything written durable. */
  void sync() throws IOException {
    flush();
    file.sync();
    segments.durableUpTo(writtenUpTo);
  }

  /**
   * Prepares a part of the next segment. It is opened by the first call, and allocated in slices
   * once this one is a quarter full.
   *
   * @param atOnce whether to allocate it already now
   * @return whether there is more to do
   */
  boolean prepareNext(boolean atOnce) throws SpareSegment.NoRoomException {
    if (!atOnce && writtenUpTo <= sizeBytes / 4) {
      spare.begin();
      return false;
    }
    long before = preparedAt;
    preparedAt = writtenUpTo;
    return spare.grow(writtenUpTo - Math.min(before, writtenUpTo));
  }

  void close() throws IOException {
    file.close();
    spare.close();
  }
}
