package io.millrace.blobs;

import io.millrace.blobs.Tail.TailStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * A value that is stored in several blobs, so that it can grow: chunks of equal size, the last one
 * shorter. They have one prefix and their number, which counts from 0, as name. Nothing is kept in
 * memory; a value of which no chunk is there is empty. Safe for use by any number of threads.
 *
 * @param blobs where the chunks are
 * @param prefix what the names of the chunks begin with
 * @param chunkBytes the size of all chunks but the last
 */
public record ChunkedBlob(BlobStore blobs, String prefix, int chunkBytes) implements Tail {
  /** The name of one chunk. */
  public String chunk(long number) {
    return prefix + number;
  }

  /** The names of all chunks of a value of this size. */
  public Stream<String> chunks(long sizeBytes) {
    return LongStream.range(0, Math.ceilDiv(sizeBytes, (long) chunkBytes)).mapToObj(this::chunk);
  }

  /**
   * Stores the first {@code sizeBytes} of a tail.
   *
   * @throws BlobException if it cannot be stored; some of its chunks may have been stored
   */
  public void copyOf(Tail tail, long sizeBytes) {
    for (long from = 0; from < sizeBytes; from += chunkBytes) {
      long to = Math.min(sizeBytes, from + chunkBytes);
      var _ = blobs.put(chunk(from / chunkBytes), new TailStream(tail, from, to));
    }
  }

  /**
   * The bytes of the chunks from the first one on. A store lists names by looking at all of them,
   * so this searches for the last chunk instead.
   *
   * @throws BlobException if the store fails
   */
  @Override
  public long size() {
    if (!blobs.exists(chunk(0))) {
      return 0;
    }
    long last = 0;
    long beyond = 1;
    while (blobs.exists(chunk(beyond))) {
      last = beyond;
      beyond *= 2;
    }
    while (beyond - last > 1) {
      long middle = (last + beyond) / 2;
      if (blobs.exists(chunk(middle))) {
        last = middle;
      } else {
        beyond = middle;
      }
    }
    OptionalLong rest = blobs.size(chunk(last));
    return last * chunkBytes + rest.orElse(0);
  }

  /**
   * {@inheritDoc}
   *
   * @throws BlobException if the store fails
   */
  @Override
  public byte[] read(long offset, int most) {
    try (InputStream bytes = open(offset)) {
      return bytes.readNBytes(most);
    } catch (IOException e) {
      throw new BlobException("the value " + prefix + " cannot be read: " + e, e);
    }
  }

  /** {@inheritDoc} Its reads throw {@link IOException} or {@link BlobException} on failure. */
  @Override
  public InputStream open(long offset) {
    return new Chunks(offset);
  }

  /** The chunks one after the other, each opened when the one before is read. */
  private final class Chunks extends InputStream {
    private long at;
    private long chunkBegin;
    private InputStream chunk = InputStream.nullInputStream();

    Chunks(long offset) {
      this.at = offset;
      this.chunkBegin = -1;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      Objects.checkFromIndexSize(offset, length, bytes.length);
      if (length == 0) {
        return 0;
      }
      int read = chunk.read(bytes, offset, length);
      while (read < 0) {
        if (at == chunkBegin || (chunkBegin >= 0 && at % chunkBytes != 0)) {
          return -1;
        }
        chunk.close();
        chunkBegin = at;
        try {
          chunk = blobs.open(chunk(at / chunkBytes), at % chunkBytes);
        } catch (NoSuchBlobException _) {
          return -1;
        }
        read = chunk.read(bytes, offset, length);
      }
      at += read;
      return read;
    }

    @Override
    public void close() throws IOException {
      chunk.close();
    }
  }
}
