package io.millrace.store.journal.files;

import io.millrace.store.environment.DiskFile;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The file that becomes the next segment. It is opened early, so that a later lack of file
 * descriptors does not stop the journal. It is allocated and synced in slices between groups of
 * frames, so that no group waits for the whole allocation. A failure here affects no frame, so it
 * can be retried. For use by the syncing thread.
 */
final class SpareSegment {
  private static final int MIN_SLICE_BYTES = 256 << 10;

  private final Storage storage;
  private final int segmentBytes;
  private final long reserveBytes;
  private @Nullable DiskFile file;
  private long allocated;

  /** A spare segment of {@code segmentBytes} that leaves {@code reserveBytes} of the disk free. */
  SpareSegment(Storage storage, int segmentBytes, long reserveBytes) {
    this.storage = storage;
    this.segmentBytes = segmentBytes;
    this.reserveBytes = reserveBytes;
  }

  /** There is no room for a segment. Nothing has changed, and a later try may succeed. */
  static final class NoRoomException extends Exception {
    private NoRoomException(String message, IOException cause) {
      super(message, cause);
    }
  }

  /** A segment with its final name, and its open file. */
  record Published(Segment segment, DiskFile file) {}

  /** Opens the file, unless it is open, and checks that the disk has room for all of it. */
  void begin() throws NoRoomException {
    growTo(0, segmentBytes);
  }

  /**
   * Allocates one slice: twice the bytes written since the last one, but at least 256 KiB.
   *
   * @return whether more slices are needed
   */
  boolean grow(long writtenBytes) throws NoRoomException {
    long slice = Math.max(MIN_SLICE_BYTES, 2 * writtenBytes);
    growTo(Math.min(segmentBytes, allocated + slice), segmentBytes);
    return allocated < segmentBytes;
  }

  /** Allocates the first {@code bytes} of a file that will have {@code wholeBytes}. */
  private DiskFile growTo(long bytes, long wholeBytes) throws NoRoomException {
    DiskFile target = file;
    if (target != null && bytes <= allocated) {
      return target;
    }
    try {
      requireReserve(wholeBytes - allocated);
      if (target == null) {
        storage.discard(FileNames.SPARE);
        target = storage.open(FileNames.SPARE);
        file = target;
        allocated = 0;
      }
      if (bytes > allocated) {
        target.allocate(bytes);
        target.sync();
        allocated = bytes;
      }
      return target;
    } catch (IOException e) {
      throw noRoom(wholeBytes, e);
    }
  }

  private void requireReserve(long neededBytes) throws IOException {
    if (reserveBytes > 0) {
      long free = storage.usableBytes();
      if (free - neededBytes < reserveBytes) {
        throw new IOException(
            "the disk has " + free + " free bytes, of which " + reserveBytes + " are reserved");
      }
    }
  }

  /**
   * Deletes the file, to free its space and because its content is undefined after a failed sync.
   */
  private NoRoomException noRoom(long bytes, IOException cause) {
    try {
      close();
      storage.discard(FileNames.SPARE);
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
    return new NoRoomException(
        "no room for a segment of %d bytes in %s: %s"
            .formatted(bytes, storage.describe(), cause.getMessage()),
        cause);
  }

  /**
   * Makes it the segment with this header, of at least {@code minBytes}.
   *
   * @throws NoRoomException if there is no room for it; nothing has changed then
   * @throws IOException if it is uncertain whether the file was renamed
   */
  Published publish(SegmentHeader header, long minBytes) throws IOException, NoRoomException {
    long bytes = Math.max(segmentBytes, minBytes);
    DiskFile target = growTo(bytes, bytes);
    SegmentHeader whole = header.allocated(bytes);
    try {
      whole.write(target);
      target.sync();
    } catch (IOException e) {
      throw noRoom(bytes, e);
    }
    storage.publish(FileNames.SPARE, FileNames.segment(header.firstSequence()));
    file = null;
    allocated = 0;
    return new Published(new Segment(whole, bytes), target);
  }

  void close() throws IOException {
    DiskFile open = file;
    file = null;
    allocated = 0;
    if (open != null) {
      open.close();
    }
  }
}
