/**
 * A journal in the files of one folder.
 *
 * <pre>
 *   append  -> GroupCommitter -> ActiveSegment -> FrameCodec -> file; SpareSegment becomes the next one
 *   recover -> SnapshotLoad -> FrameScan over the segments -> TornTail
 *   read    -> FrameReader -> FrameScan, up to the durable end in SegmentIndex
 * </pre>
 */
@NullMarked
package io.millrace.store.journal.files;

import org.jspecify.annotations.NullMarked;
