package io.millrace.blobs;

import java.io.IOException;
import java.io.InputStream;

/** A source that fails at the first read, after an action. */
public final class FailingStream extends InputStream {
  private final String message;
  private final Runnable before;

  /** Throws with this message. */
  public FailingStream(String message, Runnable before) {
    this.message = message;
    this.before = before;
  }

  @Override
  public int read() throws IOException {
    before.run();
    throw new IOException(message);
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    return read();
  }
}
