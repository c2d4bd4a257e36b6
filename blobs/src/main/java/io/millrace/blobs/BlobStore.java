package io.millrace.blobs;

import java.io.InputStream;
import java.net.URI;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * Blobs by name: sequences of bytes of any size, written once as a whole and read as streams.
 *
 * <p>A name has 1 to 255 characters out of {@code A-Z a-z 0-9 . _ -} and does not start with a dot.
 * Every method that takes a name throws {@link InvalidBlobNameException} for any other, before
 * anything else happens. Names are told apart by case; see {@link FileBlobStore} for file systems
 * that ignore it.
 *
 * <p>A blob's size is limited by the room that holds it and by nothing else; no method holds a blob
 * in memory.
 *
 * <p>All methods throw {@link BlobException} when the store cannot be reached, read or written.
 * Safe for use by any number of threads.
 */
public interface BlobStore extends AutoCloseable {
  /**
   * Stores what {@code content} gives until its end, durably, under {@code name}.
   *
   * <p>A blob that has the name already is replaced in one step: a reader sees the old bytes or the
   * new ones, never a mixture, and a stream of the old blob that is open can be read to its end, or
   * fails, if the store says so. Of several puts under one name one stays: the last to finish,
   * unless the store says otherwise.
   *
   * <p>Where reading {@code content} or writing fails, nothing is left of the attempt, and what had
   * the name before stays. Where only the last step fails (the new name cannot be made durable, or
   * the answer of a server is lost) the blob may be there, whole; putting it again is harmless.
   *
   * @param content read to its end by the calling thread or on its behalf, and not closed
   * @return the size and checksum of what was stored
   */
  BlobReceipt put(String name, InputStream content);

  /**
   * Gives a blob a second name, durably, without moving its bytes through this process; both are
   * deleted independently. A blob with the name {@code to} is replaced. The time of change of
   * {@code to} is now; that of {@code from} may be.
   *
   * @return false if this store cannot do this, and nothing happened: the blob has to be copied
   * @throws NoSuchBlobException if no blob has the name {@code from}
   */
  default boolean link(String from, String to) {
    BlobName.check(from);
    BlobName.check(to);
    return false;
  }

  /** Opens the blob from its start; as {@link #open(String, long)} with the offset 0. */
  default BlobStream open(String name) {
    return open(name, 0);
  }

  /**
   * Opens the blob for reading from {@code offset}.
   *
   * @param offset in bytes, from 0; at or past the end of the blob the stream is empty
   * @return a stream, to be closed, for one thread at a time
   * @throws NoSuchBlobException if no blob has this name
   * @throws IllegalArgumentException if {@code offset} is negative
   */
  BlobStream open(String name, long offset);

  /**
   * An address at which everybody who knows it can read the blob for a while, past this process.
   * Whether there is such a blob is not looked up.
   *
   * @return empty if the store gives no such addresses
   */
  default Optional<URI> publicLink(String name) {
    BlobName.check(name);
    return Optional.empty();
  }

  /** The blob's size in bytes; empty if no blob has this name. */
  OptionalLong size(String name);

  /** Whether a blob has this name. */
  default boolean exists(String name) {
    return size(name).isPresent();
  }

  /**
   * Deletes the blob, durably; an open stream can be read to its end, or fails, if the store says
   * so.
   *
   * @return whether it existed
   */
  boolean delete(String name);

  /**
   * The blobs whose names start with {@code prefix}, in no order, found while the stream is read.
   * Blobs that are put or deleted meanwhile may or may not appear.
   *
   * @param prefix empty for all blobs, otherwise of the form of a name
   * @return a stream that must be closed; reading it throws {@link BlobException} on failure
   * @throws InvalidBlobNameException when no name could start so
   */
  Stream<Blob> list(String prefix);

  /**
   * Removes what puts left that did not end, once nothing has been written to it for 24 hours. Does
   * nothing if puts leave nothing.
   */
  default void removeLeftovers(Instant now) {}

  /** Ends the connections of the store, if it has any; blobs that are open may fail. */
  @Override
  default void close() {}
}
