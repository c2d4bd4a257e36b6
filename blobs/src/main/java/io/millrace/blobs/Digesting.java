package io.millrace.blobs;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Counts and digests what is read through it, and tells a failure of the source from one of the
 * place that the bytes go to. Closing it leaves the source open.
 */
final class Digesting extends FilterInputStream {
  private final MessageDigest digest;
  private long size;
  private volatile @Nullable IOException failure;

  Digesting(InputStream source) {
    super(source);
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
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

  /** What the source threw, if it did. */
  @Nullable IOException failure() {
    return failure;
  }

  /** For use once, after everything was read. */
  BlobReceipt receipt(String name) {
    return new BlobReceipt(name, size, HexFormat.of().formatHex(digest.digest()));
  }
}
