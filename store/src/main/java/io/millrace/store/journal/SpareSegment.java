package io.millrace.store.journal;

import io.millrace.store.environment.DiskFile;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The file that becomes the next segment. It is allocated and synced in slices between groups, so
 * that no group waits for all of it. For the syncing thread.
 */
final class SpareSegment {
  private static final int LEAST_SLICE_BYTES = 256 << 10;

  private final Storage storage;
  private final int segmentBytes;
  private @Nullable DiskFile file;
  private long allocated;
  private boolean failed;

  SpareSegment(Storage storage, int segmentBytes) {
    this.storage = storage;
    this.segmentBytes = segmentBytes;
  }

  /**
   * Allocates one slice, twice what was written since the last one but not little. A failure costs
   * no frame yet, as the segment in use still has room: it is left to {@link #publish} to meet it
   * again.
   *
   * @return whether more slices are missing
   */
  boolean grow(long writtenBytes) {
    if (failed || allocated >= segmentBytes) {
      return false;
    }
    try {
      growTo(Math.min(segmentBytes, allocated + Math.max(LEAST_SLICE_BYTES, 2 * writtenBytes)));
      return allocated < segmentBytes;
    } catch (IOException e) {
      failed = true;
      return false;
    }
  }

  private DiskFile growTo(long bytes) throws IOException {
    DiskFile target = file;
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
  }

  /**
   * Makes it the segment with that header.
   *
   * @throws JournalException when there is no room for it
   */
  Segment publish(SegmentHeader header, long leastBytes) throws IOException {
    if (failed) {
      // After a failed sync nothing may be believed of the old file.
      close();
    }
    long bytes = Math.max(segmentBytes, leastBytes);
    DiskFile target;
    try {
      target = growTo(bytes);
    } catch (IOException e) {
      throw new JournalException(
          "no room for a segment of "
              + bytes
              + " bytes in "
              + storage.describe()
              + ": "
              + e.getMessage(),
          e);
    }
    header.allocated(bytes).write(target);
    target.sync();
    target.close();
    file = null;
    allocated = 0;
    failed = false;
    storage.publish(FileNames.SPARE, FileNames.segment(header.firstSequence()));
    return new Segment(header.allocated(bytes), bytes);
  }

  void close() throws IOException {
    if (file != null) {
      file.close();
      file = null;
      allocated = 0;
    }
  }
}
