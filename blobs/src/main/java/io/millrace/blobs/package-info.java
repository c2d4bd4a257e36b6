/**
 * Values too large for the store, by name, streamed.
 *
 * <p>{@link io.millrace.blobs.BlobStore} is the interface; {@link io.millrace.blobs.FileBlobStore}
 * keeps blobs in a folder; the module {@code blobs-s3} has one that keeps them in a bucket, and the
 * Java client one that keeps them in a server. {@link io.millrace.blobs.Value} is the rule that
 * joins blobs with the store: up to {@link io.millrace.blobs.Value#INLINE_LIMIT} bytes travel in
 * the commit, and what is larger is stored first and named in the commit.
 *
 * <pre>
 *   stream --> Value.keep --+-- up to 4096 bytes --> Inline(bytes) -----+--> commit
 *                           |                                           |
 *                           +-- more --> put --> Stored(name, size) ----+
 * </pre>
 *
 * <p>What grows while it is written, like output, is a {@link io.millrace.blobs.Tail}; a {@link
 * io.millrace.blobs.ChunkedBlob} stores it in chunks.
 *
 * <p>A blob is stored before the commit that names it, and deleted after the commit that forgets
 * it. A crash in between leaves an orphan: a blob that nothing names. The owner of a prefix of
 * names deletes these by {@link io.millrace.blobs.UnownedBlobs}, sparing what is younger than its
 * longest step between the two.
 */
@NullMarked
package io.millrace.blobs;

import org.jspecify.annotations.NullMarked;
