package io.millrace.http.message;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * A body that throws {@link TooLong} once more bytes than a limit are read. For use by one thread.
 */
public final class LimitedBody extends FilterInputStream {
  private long left;
  private boolean exceeded;

  /** A body with a limit in bytes. */
  public LimitedBody(InputStream body, long maxBytes) {
    super(body);
    this.left = maxBytes;
  }

  /** The body is longer than the limit. */
  public static final class TooLong extends IOException {
    TooLong() {
      super("the body exceeds the limit");
    }
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    int read = super.read(target, offset, length);
    if (read > 0) {
      left -= read;
      if (left < 0) {
        exceeded = true;
        throw new TooLong();
      }
    }
    return read;
  }

  /** Whether it has thrown {@link TooLong}, even if a reader has caught it. */
  public boolean exceeded() {
    return exceeded;
  }

  /** Does nothing, because the body belongs to the connection. */
  @Override
  public void close() {}
}
