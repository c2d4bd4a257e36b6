package io.millrace.server.jobs;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * A stream that remembers a failure to read it, whether or not its reader reports it. For use by
 * one thread.
 */
final class NotingStream extends FilterInputStream {
  private @Nullable IOException failure;

  NotingStream(InputStream source) {
    super(source);
  }

  /** Null if it has not failed. */
  @Nullable IOException failure() {
    return failure;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    try {
      return super.read(target, offset, length);
    } catch (IOException e) {
      failure = e;
      throw e;
    }
  }
}
