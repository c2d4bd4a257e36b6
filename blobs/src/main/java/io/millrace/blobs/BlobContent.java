package io.millrace.blobs;

import io.millrace.store.Sha256;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * What a put reads, for implementations of {@link BlobStore}: counts and digests all bytes that are
 * read through it, and tells a failure of the source from one of the target. Closing it leaves the
 * source open. For one thread at a time, except {@link #failure}.
 */
public final class BlobContent extends FilterInputStream {
  private final MessageDigest digest;
  private long size;
  private volatile @Nullable IOException failure;

  /** The content of one put. */
  public BlobContent(InputStream source) {
    super(source);
    digest = Sha256.begin();
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    int count;
    try {
      count = in.read(target, offset, length);
    } catch (IOException e) {
      failure = e;
      throw e;
    }
    if (count > 0) {
      digest.update(target, offset, count);
      size += count;
    }
    return count;
  }

  @Override
  public void close() {}

  /** The exception of the source, if it threw one. */
  public @Nullable IOException failure() {
    return failure;
  }

  /** The receipt; to be called once, after everything was read. */
  public BlobReceipt receipt(String name) {
    return new BlobReceipt(name, size, HexFormat.of().formatHex(digest.digest()));
  }
}
