package io.millrace.store.journal;

/**
 * A segment file that is part of the journal.
 *
 * @param header its first block
 * @param sizeBytes the size of the file
 */
record Segment(SegmentHeader header, long sizeBytes) {
  long firstSequence() {
    return header.firstSequence();
  }

  /** The commits before its first frame. */
  long positionBefore() {
    return header.before().position();
  }

  String name() {
    return FileNames.segment(firstSequence());
  }
}
