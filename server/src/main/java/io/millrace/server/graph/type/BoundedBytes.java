package io.millrace.server.graph.type;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/** Takes so many bytes and breaks what copies more off. */
final class BoundedBytes extends OutputStream {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final int most;

  private BoundedBytes(int most) {
    this.most = most;
  }

  /** Says that enough was copied. */
  private static final class FullException extends IOException {
    private static final long serialVersionUID = 1;
  }

  /** Something that copies bytes. */
  @FunctionalInterface
  interface Copying {
    /** Copies until its end, or until {@code target} takes no more. */
    void to(OutputStream target) throws IOException;
  }

  /** The first bytes of what is copied. */
  static byte[] of(Copying copying, int most) {
    BoundedBytes target = new BoundedBytes(most);
    try {
      copying.to(target);
    } catch (FullException _) {
      // That is all that was wanted.
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return target.bytes.toByteArray();
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] source, int offset, int length) throws IOException {
    int taken = Math.min(length, most - bytes.size());
    bytes.write(source, offset, taken);
    if (bytes.size() >= most) {
      throw new FullException();
    }
  }
}
