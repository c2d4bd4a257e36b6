package io.millrace.store.journal.files;

import io.millrace.store.environment.DiskFile;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;

/** Writes a snapshot file under a temporary name, and renames it when it is complete. */
final class SnapshotFileWriter implements Journal.SnapshotWriter {
  private final Storage storage;
  private final String name;
  private final String temporary;
  private final Output file;
  private final SnapshotOutput output;

  SnapshotFileWriter(Storage storage, Frame frame, boolean standsAlone) {
    this.storage = storage;
    name = FileNames.snapshot(frame.sequence());
    temporary = name + FileNames.TEMPORARY;
    try {
      storage.discard(temporary);
      file = new Output(storage.open(temporary));
      output = new SnapshotOutput(file, frame, standsAlone);
    } catch (IOException e) {
      throw failed(e);
    }
  }

  @Override
  public void part(ByteBuffer payload) {
    try {
      output.part(payload);
    } catch (IOException e) {
      throw failed(e);
    }
  }

  @Override
  public void publish() {
    try {
      output.finish();
      file.sync();
      file.close();
      storage.publish(temporary, name);
    } catch (IOException e) {
      throw failed(e);
    }
  }

  @Override
  public void abandon() {
    try {
      file.close();
      storage.discard(temporary);
    } catch (IOException e) {
      throw failed(e);
    }
  }

  private JournalException failed(IOException cause) {
    return new JournalException(
        "cannot write " + temporary + " in " + storage.describe() + ": " + cause.getMessage(),
        cause);
  }

  /**
   * Writes a new file from its beginning. Syncs every few megabytes, so that the syncs of the
   * journal do not have to wait for many unwritten pages.
   */
  private static final class Output implements WritableByteChannel {
    private static final int PIECE_BYTES = 256 << 10;
    private static final int SYNC_BYTES = 4 << 20;

    private final DiskFile file;
    private final ByteBuffer piece = ByteBuffer.allocateDirect(PIECE_BYTES);
    private long offset;
    private long synced;
    private boolean open = true;

    Output(DiskFile file) {
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

    /** Makes everything written durable. */
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
}
