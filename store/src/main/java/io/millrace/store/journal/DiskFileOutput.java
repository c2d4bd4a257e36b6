package io.millrace.store.journal;

import io.millrace.store.environment.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;

/**
 * Writes a new file from its beginning. It syncs every few megabytes, so that no flood of unwritten
 * pages stands in the way of the journal's own syncs.
 */
final class DiskFileOutput implements WritableByteChannel {
  private static final int PIECE_BYTES = 256 << 10;
  private static final int SYNC_BYTES = 4 << 20;

  private final DiskFile file;
  private final ByteBuffer piece = ByteBuffer.allocateDirect(PIECE_BYTES);
  private long offset;
  private long synced;
  private boolean open = true;

  DiskFileOutput(DiskFile file) {
    this.file = file;
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    int count = source.remaining();
    while (source.hasRemaining()) {
      if (!piece.hasRemaining()) {
        flush();
      }
      int step = Math.min(source.remaining(), piece.remaining());
      piece.put(source.slice(source.position(), step));
      source.position(source.position() + step);
    }
    return count;
  }

  private void flush() throws IOException {
    piece.flip();
    int count = piece.remaining();
    file.write(offset, piece);
    offset += count;
    piece.clear();
    if (offset - synced >= SYNC_BYTES) {
      file.sync();
      synced = offset;
    }
  }

  /** Makes all that was written durable. */
  void sync() throws IOException {
    flush();
    file.sync();
  }

  @Override
  public boolean isOpen() {
    return open;
  }

  @Override
  public void close() throws IOException {
    open = false;
    file.close();
  }
}
