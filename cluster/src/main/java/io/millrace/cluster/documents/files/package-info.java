/**
 * Versioned documents in files, for processes of one machine that may stop or die at any
 * instruction without blocking the others. There are no locks.
 *
 * <pre>
 *   FOLDER/documents/KEY/               the folder of a document, if it exists
 *                        1.f00…/1 … 64  its first segment: versions 1 to 64, each a file
 *                        2.ba4…/1 …     the next one, named in the last file of the previous one
 *   FOLDER/unfinished/                  what is not visible yet
 *   FOLDER/discarded/                   discarded segments
 * </pre>
 *
 * <p><b>The newest version</b> is the one with the largest number in the segment with the largest
 * ordinal that has any version. It may mark the document as deleted. There are five kinds of
 * change, and the file system makes each of them completely or not at all:
 *
 * <ol>
 *   <li><i>Create.</i> A folder with one segment and version 1 in it is prepared, synced, and moved
 *       to KEY. That fails if KEY exists and is not empty.
 *   <li><i>Append.</i> The version that replaces version n of a segment is prepared as a file,
 *       synced, and given the name n + 1 in that segment, or 1 in the next one if version n names a
 *       next one. That fails if the name is taken or the segment does not exist.
 *   <li><i>Prepare the next segment.</i> The writer of the last version of a segment first creates
 *       an empty folder with a new random name in KEY, and writes this name into that version.
 *   <li><i>Clear</i> a segment: it is moved away as a whole, or removed if it is empty. That
 *       happens to segments before one that has a version. If the newest version marks the document
 *       as deleted, it happens to all segments, last to the one with that version.
 *   <li><i>Remove</i> KEY if it is empty.
 * </ol>
 *
 * <p><b>Of all writers that replace a version, one succeeds.</b> The name of a segment is random
 * and used once. Nothing is ever removed from a segment or replaced in it, and no segment comes
 * back. So its numbers have no gaps, and as long as a segment is in its place, everything that was
 * in it is still there. Suppose a writer was about to replace version n of segment S, stopped for
 * any time, and continues. If S is in its place and n + 1 is free, then version n is still the
 * newest, because any replacement would have taken the name n + 1. If that name is taken, another
 * writer has replaced version n. If S is gone, it was cleared, which happens only after a version
 * in a later segment or a deletion, hence after n was replaced; and no other S will be made. The
 * same holds for name 1 in the next segment: only version n names that segment, and the writer of n
 * made its folder before n could be seen. So a change takes effect exactly if its name could be
 * created, and no second read is needed. A segment is moved away as a whole before anything in it
 * is removed, and is kept for a minute: the system may have found the segment before the move and
 * create the name after it; then the existing name is still there.
 *
 * <p><b>Of all writers that create a document, one succeeds</b>, and only if there is no document.
 * KEY contains a segment with a version from the moment it is created until its deletion is cleared
 * away: a segment is cleared only while a later one, or the deletion, exists, and the deletion is
 * cleared last. So if KEY can be replaced, there is no document. A writer that creates a document
 * first clears a deletion away, by the random names of its segments; if the document was created
 * again meanwhile, those names do not exist any more.
 *
 * <p><b>Unused empty segments</b> are left by writers that died or lost a race. A segment whose
 * ordinal is not above that of a segment with a version will never be used, nor will any in a
 * folder whose newest version is a deletion, or in one without any version: the writer that made it
 * cannot write the version that would name it, because the number of that version is taken or its
 * segment is gone.
 *
 * <p><b>A reader</b> lists KEY, then its segments from the last to the first, takes the first that
 * has versions, and of those the largest. If something that it listed no longer exists, it starts
 * again; another process has then made progress. Otherwise what it found was the newest version at
 * some moment of the call: when it listed the segment, no larger number had existed since before
 * the listing began; and if a next segment has a version by then which the reader did not see, that
 * version came after it listed that segment, or after it listed KEY.
 *
 * <p><b>The power may fail</b> at any time. A file is synced before it gets its name, and the name
 * before the writer learns of success. A version that another process read in between may be lost;
 * all its readers are on the same machine. Segments that were moved away may reappear, but before
 * those that replaced them.
 *
 * <p><b>A process that dies</b> leaves at most one file or folder in {@code unfinished}. It is
 * removed when the documents are opened and it is an hour old. If its owner was only stopped, it
 * finds the file gone when it continues, concludes that nothing has changed, and starts again.
 */
@NullMarked
package io.millrace.cluster.documents.files;

import org.jspecify.annotations.NullMarked;
