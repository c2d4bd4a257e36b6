package io.millrace.store.journal.files;

import io.millrace.store.journal.Chain;

/**
 * A segment file of the journal.
 *
 * @param header its header
 * @param sizeBytes the size of the file, or of the part that belongs to the journal
 * @param from the offset from which its frames are readable
 * @param before the frame before the first readable one
 */
record Segment(SegmentHeader header, long sizeBytes, long from, Chain before) {
  /** A segment that is readable from its beginning. */
  Segment(SegmentHeader header, long sizeBytes) {
    this(header, sizeBytes, SegmentHeader.BLOCK_BYTES, header.before());
  }

  long firstSequence() {
    return header.firstSequence();
  }

  /** The number of commits before the first readable frame. */
  long positionBefore() {
    return before.position();
  }

  String name() {
    return FileNames.segment(firstSequence());
  }
}
