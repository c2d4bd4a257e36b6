package io.millrace.server.jobs;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** The content of a part, which remembers how reading it failed. For use by one thread. */
final class PartStream extends FilterInputStream {
  private @Nullable IOException failure;

  PartStream(InputStream part) {
    super(part);
  }

  /** Null where it has not failed. */
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
