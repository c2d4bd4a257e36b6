package io.millrace.store.journal.files;

import io.millrace.store.environment.DiskFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** Reads a file from its beginning to its end in large pieces; closes it. */
final class DiskFileInput extends InputStream {
  private static final int PIECE_BYTES = 256 << 10;

  private final DiskFile file;
  private final ByteBuffer piece = ByteBuffer.allocateDirect(PIECE_BYTES).limit(0);
  private long offset;

  DiskFileInput(DiskFile file) {
    this.file = file;
  }

  private boolean fill() throws IOException {
    if (!piece.hasRemaining()) {
      offset += file.read(offset, piece.clear());
      piece.flip();
    }
    return piece.hasRemaining();
  }

  @Override
  public int read() throws IOException {
    return fill() ? piece.get() & 0xff : -1;
  }

  @Override
  public int read(byte[] target, int from, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (!fill()) {
      return -1;
    }
    int count = Math.min(length, piece.remaining());
    piece.get(target, from, count);
    return count;
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
