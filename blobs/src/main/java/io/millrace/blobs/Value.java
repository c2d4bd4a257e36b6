package io.millrace.blobs;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.Arrays;

/**
 * A value as part of a commit: its bytes if it is small, otherwise the name of a blob. Immutable.
 */
public sealed interface Value {
  /** The most bytes that are part of the commit itself: 4096. A longer value becomes a blob. */
  int INLINE_LIMIT = 4096;

  /** Its size in bytes, from 0. */
  long size();

  /**
   * Opens its bytes.
   *
   * @param blobs the store of stored values; not used for inline ones
   * @return a stream, to be closed
   * @throws NoSuchBlobException if the blob of a stored value is gone
   */
  InputStream open(BlobStore blobs);

  /**
   * Reads {@code content} to its end and answers it inline if it has at most {@link #INLINE_LIMIT}
   * bytes; otherwise stores it under {@code name} first. Holds no more of it in memory than the
   * limit and a buffer.
   *
   * @param name the name of the blob, used and checked in any case; a blob that has it is left
   *     alone when the value is inline
   * @param content not closed
   * @throws BlobException when {@code content} cannot be read or the blob cannot be stored; nothing
   *     is left then
   */
  static Value keep(String name, InputStream content, BlobStore blobs) {
    BlobName.check(name);
    byte[] start;
    try {
      start = start(content);
    } catch (IOException e) {
      throw new BlobException("the content for blob " + name + " cannot be read: " + e, e);
    }
    if (start.length <= INLINE_LIMIT) {
      return new Inline(start);
    }
    BlobReceipt receipt =
        blobs.put(name, new SequenceInputStream(new ByteArrayInputStream(start), content));
    return new Stored(name, receipt.size());
  }

  /** All of it, or as much as is more than {@link #INLINE_LIMIT}; most values are short. */
  private static byte[] start(InputStream content) throws IOException {
    byte[] start = new byte[256];
    int length = content.readNBytes(start, 0, start.length);
    while (length == start.length && length <= INLINE_LIMIT) {
      start = Arrays.copyOf(start, Math.min(INLINE_LIMIT + 1, 4 * length));
      length += content.readNBytes(start, length, start.length - length);
    }
    return length == start.length ? start : Arrays.copyOf(start, length);
  }

  /** A value in the commit itself. Equal to another one with the same bytes. */
  final class Inline implements Value {
    private final byte[] bytes;

    /**
     * Copies {@code bytes}.
     *
     * @throws IllegalArgumentException if they are more than {@link #INLINE_LIMIT}
     */
    public Inline(byte[] bytes) {
      if (bytes.length > INLINE_LIMIT) {
        throw new IllegalArgumentException(
            "an inline value has at most " + INLINE_LIMIT + " bytes, not " + bytes.length);
      }
      this.bytes = bytes.clone();
    }

    /** A copy of its bytes. */
    public byte[] bytes() {
      return bytes.clone();
    }

    @Override
    public long size() {
      return bytes.length;
    }

    @Override
    public InputStream open(BlobStore blobs) {
      return new ByteArrayInputStream(bytes);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Inline inline && Arrays.equals(bytes, inline.bytes);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
      return "Inline[size=" + bytes.length + "]";
    }
  }

  /**
   * A value that is a blob.
   *
   * @param name the name of the blob
   * @param size its size in bytes; more than {@link #INLINE_LIMIT} if {@link #keep} stored it
   */
  record Stored(String name, long size) implements Value {
    /**
     * Checks the parts.
     *
     * @throws InvalidBlobNameException if the name is not valid
     * @throws IllegalArgumentException if the size is negative
     */
    public Stored {
      BlobName.check(name);
      if (size < 0) {
        throw new IllegalArgumentException("the size of a stored value is negative: " + size);
      }
    }

    @Override
    public InputStream open(BlobStore blobs) {
      return blobs.open(name);
    }
  }
}
