package io.millrace.blobs;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The tables of a database that holds blobs, for {@link DatabaseBlobStore}: names, contents, and
 * chunks of contents. A name refers to one content; several names may refer to the same one.
 *
 * <p>Every method is one step, durable when it returns, and throws {@link BlobException} if the
 * database fails; then the step was taken or not. Times are those of the callers' clocks. Safe for
 * use by any number of threads, and by several processes.
 */
public interface BlobTables extends AutoCloseable {
  /**
   * What a name refers to.
   *
   * @param id of the content, which never changes
   * @param size in bytes
   */
  record Content(String id, long size) {}

  /**
   * Adds a chunk to a content that is not complete; the first one begins it.
   *
   * @param number counts from 0
   * @param length how many bytes of {@code bytes} are the chunk
   * @throws BlobException also if the content was removed as {@linkplain #remove abandoned}
   */
  void append(String content, int number, byte[] bytes, int length, Instant now);

  /**
   * Adds the last chunk, if there is one, and gives the content a name. A content that had the name
   * is released.
   *
   * @param number of the last chunk; if it is 0, the content has no other
   * @param length of the last chunk; 0 for none
   * @throws BlobException as {@link #append}
   */
  void complete(String name, Content content, int number, byte[] bytes, int length, Instant now);

  /** What a name refers to; empty if nothing has it. */
  Optional<Content> find(String name);

  /** The bytes of a chunk; null if the content was removed. */
  byte @Nullable [] chunk(String content, int number);

  /**
   * Gives the content of {@code from} a second name, and releases the one that had it.
   *
   * @return whether {@code from} refers to a content
   */
  boolean link(String from, String to, Instant now);

  /**
   * Removes a name, and releases its content.
   *
   * @return whether it was there
   */
  boolean delete(String name, Instant now);

  /**
   * Some names in order of their characters.
   *
   * @param prefix what they begin with
   * @param after only names greater than this; empty for all
   */
  List<Blob> list(String prefix, String after, int most);

  /**
   * Looks at some contents, and removes those that no name refers to, with their chunks.
   *
   * @param released complete ones that were completed and released before this time
   * @param abandoned others to which nothing was added since this time
   * @return whether there may be more
   */
  boolean remove(Instant released, Instant abandoned);

  /** The longest chunk, in bytes. */
  default int chunkBytes() {
    return 1 << 20;
  }

  @Override
  void close();
}
