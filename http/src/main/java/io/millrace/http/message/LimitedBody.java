package io.millrace.http.message;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** A body that fails once it is longer than a limit. */
public final class LimitedBody extends FilterInputStream {
  private long left;
  private boolean exceeded;

  /** Fails with {@link TooLong} after so many bytes. */
  public LimitedBody(InputStream body, long mostBytes) {
    super(body);
    this.left = mostBytes;
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

  /** Whether it has failed for its length, whatever its reader made of that. */
  public boolean exceeded() {
    return exceeded;
  }

  /** Leaves the body open: it belongs to the connection. */
  @Override
  public void close() {}
}
