/**
 * Versioned documents in files, for processes of one machine that may stop or die at any
 * instruction without being in anybody's way. There are no locks.
 *
 * <pre>
 *   FOLDER/documents/KEY/               the folder of a document; none if there is none
 *                        1.f00…/1 … 64  its first segment: versions 1 to 64, each a file
 *                        2.ba4…/1 …     the next one, named in the last file of the one before
 *   FOLDER/unfinished/                  what nobody sees yet
 *   FOLDER/discarded/                   what nobody can find any more
 * </pre>
 *
 * <p><b>The newest version</b> is that with the largest number in the segment with the largest
 * ordinal of those that have any. It may say that the document was deleted. There are five steps by
 * which anything changes, and the system makes each of them whole or not at all:
 *
 * <ol>
 *   <li><i>Make.</i> A folder with one segment and version 1 in it is prepared, synced, and moved
 *       to KEY. That fails where KEY is there and not empty.
 *   <li><i>Append.</i> The version that replaces version n of a segment is prepared as a file,
 *       synced, and given the name n + 1 in that segment, or 1 in the next one if version n names a
 *       next one. That fails where the name is taken or the segment is not there.
 *   <li><i>Prepare the next segment.</i> Whoever writes the last version of a segment first makes
 *       an empty folder of a new random name in KEY, and writes this name into that version.
 *   <li><i>Clear</i> a segment: it is moved away as a whole, or removed if it is empty. That
 *       happens to segments before one that has a version; and once the newest version says
 *       "deleted", to all, to the one with that version last.
 *   <li><i>Remove</i> KEY where it is empty.
 * </ol>
 *
 * <p><b>Of all that replace a version, one succeeds.</b> A segment's name is random and used once;
 * nothing is ever removed from or replaced in a segment, and none comes back. So the numbers in it
 * have no gaps, and what was there while the segment is in its place still is. Say a writer was
 * about to replace version n of segment S, stopped for any time, and goes on. If S is in its place
 * and n + 1 is free, then version n is still the newest: nobody has replaced it, since that would
 * have taken the name n + 1. If it is taken, another has replaced it. If S is gone, it was cleared,
 * which happens only after a version in a later segment or a deletion, hence after n was replaced;
 * and no other S will be made. The same holds for name 1 in the next segment, of which version n is
 * the only one that says its name; its folder was made before n could be seen, by the writer of n
 * alone. So a name that could be made is a change that counts, and a name that could not be is
 * none, and neither needs a second look. A segment is moved away whole before anything in it is
 * removed; what is moved stays for a minute, because the system may have found a segment for a name
 * and make the name only after the move: then the taken name is still there.
 *
 * <p><b>Of all that make a document, one succeeds</b>, and only where there is none. KEY holds a
 * segment with a version from the moment it is made until its deletion is cleared away: a segment
 * is cleared only while a later one, or the deletion, is there, and the deletion goes last. So
 * where KEY can be replaced, there is no document. Whoever makes one clears a deletion away
 * himself, and does that by the random names of segments: should another life of the document have
 * begun meanwhile, these are not there any more.
 *
 * <p><b>Empty segments without a use</b> come from writers who died or were too late. One whose
 * ordinal is not above that of a segment with a version will never be used, nor will any in a
 * folder whose newest version is a deletion, or in one without any version: the writer who made it
 * cannot write the version that would name it, as its number is taken or its segment is gone.
 *
 * <p><b>A reader</b> lists KEY, then its segments from the last to the first, takes the first that
 * has versions, and of those the largest. If something that it saw is not there when it comes to
 * it, it begins again; somebody else has then got further. Otherwise what it found was the newest
 * at some moment of the call: when it listed the segment, no larger number had been there since
 * before the listing began, and if a next segment has a version by then which it did not see, that
 * version came after the reader's look at that segment, or after its listing of KEY.
 *
 * <p><b>The power may be cut</b> at any time. A file is synced before it gets its name, and the
 * name before the writer hears of success. A version that somebody else read in between may be
 * lost; all who read it are on the same machine. What a clearing had moved may be back, behind what
 * replaced it.
 *
 * <p><b>Who dies</b> leaves at most a file or a folder in {@code unfinished}, removed by whoever
 * opens the documents when it is an hour old; should its owner only have stood still, he finds it
 * gone when he goes on, knows that nothing has happened, and begins again.
 */
@NullMarked
package io.millrace.cluster.documents.files;

import org.jspecify.annotations.NullMarked;
