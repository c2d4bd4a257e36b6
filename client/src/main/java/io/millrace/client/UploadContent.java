package io.millrace.client;

import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * A body that is read while it is sent. It knows how far it came, and tells a failure of its source
 * from one of the connection. Closing it leaves the source open.
 */
final class UploadContent extends FilterInputStream {
  private final long length;
  private long taken;
  private boolean ended;
  private @Nullable IOException failure;

  /**
   * What the source holds.
   *
   * @param length how many bytes that must be; -1 if it is not known
   */
  UploadContent(InputStream source, long length) {
    super(source);
    this.length = length;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int count) throws IOException {
    try {
      int read = in.read(target, offset, count);
      if (read < 0 && taken < length) {
        throw new EOFException("it ended after " + taken + " of " + length + " bytes");
      }
      taken += Math.max(read, 0);
      ended = read < 0 || taken == length;
      return read;
    } catch (IOException e) {
      failure = e;
      throw e;
    }
  }

  @Override
  public void close() {}

  /** How many bytes were read. */
  long taken() {
    return taken;
  }

  /** Whether everything was read. */
  boolean hasEnded() {
    return ended;
  }

  /** What the source threw; null if it did not fail. */
  @Nullable IOException failure() {
    return failure;
  }
}
