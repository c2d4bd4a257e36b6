/**
 * Journals: numbered frames of what a store decided, and snapshots of what they add up to.
 *
 * <pre>
 *   recover: newest whole snapshot -> frames after it -> tail
 *   append:  frame n+1 -> written -> synced -> its future completes
 *   snapshot at frame n: parts -> sync -> rename once frame n is durable -> trim
 * </pre>
 *
 * A journal knows nothing of what a payload means.
 *
 * <p>{@link FileJournal} keeps it in files:
 *
 * <pre>
 *   append -> SyncLoop -> ActiveSegment -> FrameFormat -> file; SpareSegment becomes the next one
 *   recover -> SnapshotLoad -> FrameScan over the segments -> TornTail
 *   read -> FrameReader -> FrameScan, up to what Extent says is durable
 * </pre>
 */
@NullMarked
package io.millrace.store.journal;

import org.jspecify.annotations.NullMarked;
