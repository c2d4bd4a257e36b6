package io.millrace.blobs;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * The bytes of a blob from some offset to its end. Reading throws {@link IOException} if the store
 * fails or the blob ends early, so that the stream never ends too soon without an exception. For
 * one thread at a time.
 */
public final class BlobStream extends FilterInputStream {
  private final long size;

  /**
   * A blob from some offset on.
   *
   * @param bytes to its end; its reads must fail if the blob ends early
   * @param size of the whole blob
   */
  public BlobStream(InputStream bytes, long size) {
    super(bytes);
    this.size = size;
  }

  /** The size in bytes of the whole blob, whatever the offset. */
  public long size() {
    return size;
  }

  @Override
  public long transferTo(OutputStream out) throws IOException {
    return in.transferTo(out);
  }
}
