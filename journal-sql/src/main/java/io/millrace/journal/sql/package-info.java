/**
 * The journal of a store in a SQL database.
 *
 * <pre>
 *   millrace_journal_head       one row for each store, never deleted: the last frame and its checksum,
 *                               the epoch, the snapshots, and the first frame that is kept
 *   millrace_journal_frames     the frames, as the journal in files writes them
 *   millrace_journal_snapshots  snapshots in chunks
 *
 *   append n: head is n - 1 with this checksum and epoch? --yes--> head = n, frame n  (one transaction)
 *                                                         --no---> nothing
 * </pre>
 *
 * A leader that was deposed finds another head, whether or not the frames after its own are still
 * kept. docs/stores.md says what each database guarantees.
 */
@NullMarked
package io.millrace.journal.sql;

import org.jspecify.annotations.NullMarked;
