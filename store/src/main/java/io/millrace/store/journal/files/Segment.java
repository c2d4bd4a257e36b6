package io.millrace.store.journal.files;

/**
 * A segment file that is part of the journal.
 *
 * @param header its first block
 * @param sizeBytes the size of the file; less when nothing after that belongs to the journal
 * @param from the byte from which its frames can be read
 * @param before the frame before the first that can be read
 */
record Segment(SegmentHeader header, long sizeBytes, long from, Chain before) {
  /** One that can be read from its beginning. */
  Segment(SegmentHeader header, long sizeBytes) {
    this(header, sizeBytes, SegmentHeader.BLOCK_BYTES, header.before());
  }

  long firstSequence() {
    return header.firstSequence();
  }

  /** The commits before the first frame that can be read. */
  long positionBefore() {
    return before.position();
  }

  String name() {
    return FileNames.segment(firstSequence());
  }
}
