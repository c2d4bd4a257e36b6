package io.millrace.journal.shared;

import io.millrace.journal.shared.Head.Snapshot;
import io.millrace.store.journal.FencedException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.Journal;
import io.millrace.store.journal.JournalException;
import io.millrace.store.journal.files.SnapshotInput;
import io.millrace.store.journal.files.SnapshotOutput;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Snapshots in chunks of a database. They have the form of snapshot files and never change; the
 * head names one only after it was read back.
 */
final class StoredSnapshots {
  private static final int CHUNK_BYTES = 1 << 20;

  private StoredSnapshots() {}

  /** The name of a snapshot, for messages. */
  static String name(Snapshot snapshot) {
    return "snapshot " + snapshot.sequence();
  }

  /** Reads a snapshot; fails at its end if it is not complete. */
  static SnapshotInput read(JournalHome home, Snapshot snapshot) throws IOException {
    SnapshotInput input = new SnapshotInput(new Chunks(home, snapshot), name(snapshot));
    if (input.frame().sequence() != snapshot.sequence()) {
      throw new JournalException(name(snapshot) + " is that of frame " + input.frame().sequence());
    }
    return input;
  }

  /** Writes a snapshot. */
  static final class Writer implements Journal.SnapshotWriter {
    private final JournalHome home;
    private final Snapshot snapshot;
    private final long epoch;
    private final long writer;
    private final Pieces pieces;
    private final SnapshotOutput output;

    /** Whether the head may name the snapshot. */
    private boolean unclear;

    /**
     * A snapshot of the state after {@code frame}.
     *
     * @param upload a random number
     */
    Writer(JournalHome home, Frame frame, long upload, boolean standsAlone) {
      this.home = home;
      this.snapshot = new Snapshot(frame.sequence(), upload);
      this.epoch = frame.epoch();
      this.writer = frame.writer();
      this.pieces = new Pieces(home, snapshot);
      try {
        output = new SnapshotOutput(pieces, frame, standsAlone);
      } catch (IOException e) {
        throw failed(e);
      }
    }

    Snapshot snapshot() {
      return snapshot;
    }

    @Override
    public void part(ByteBuffer payload) {
      try {
        output.part(payload);
      } catch (IOException e) {
        throw failed(e);
      }
    }

    /** Stores the end, and reads everything back. */
    void finish() {
      try {
        output.finish();
        pieces.flush();
        read(home, snapshot).readToEnd();
      } catch (IOException e) {
        throw failed(e);
      }
    }

    @Override
    public void publish() {
      finish();
      try {
        unclear = true;
        boolean published = home.publish(snapshot, epoch, writer);
        unclear = false;
        if (!published) {
          throw new FencedException(
              name(snapshot) + " was not published, because another server leads the store");
        }
      } catch (IOException e) {
        throw failed(e);
      }
    }

    @Override
    public void abandon() {
      if (unclear) {
        // A later trim deletes it, if no head names it.
        return;
      }
      try {
        home.deleteSnapshot(snapshot);
      } catch (IOException e) {
        throw failed(e);
      }
    }

    private JournalException failed(Exception cause) {
      return new JournalException(
          name(snapshot) + " cannot be written: " + cause.getMessage(), cause);
    }
  }

  /** Cuts a stream into chunks. */
  private static final class Pieces extends OutputStream {
    private final JournalHome home;
    private final Snapshot snapshot;
    private final ByteBuffer chunk = ByteBuffer.allocate(CHUNK_BYTES);
    private long number;

    Pieces(JournalHome home, Snapshot snapshot) {
      this.home = home;
      this.snapshot = snapshot;
    }

    @Override
    public void write(int value) throws IOException {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      int at = offset;
      while (at < offset + length) {
        int count = Math.min(chunk.remaining(), offset + length - at);
        chunk.put(bytes, at, count);
        at += count;
        if (!chunk.hasRemaining()) {
          flush();
        }
      }
    }

    @Override
    public void flush() throws IOException {
      if (chunk.position() == 0) {
        return;
      }
      byte[] content = new byte[chunk.position()];
      chunk.flip().get(content);
      chunk.clear();
      try {
        home.putChunk(snapshot, number++, content);
      } catch (IOException e) {
        throw new IOException(e.getMessage(), e);
      }
    }
  }

  /** The chunks as a stream. */
  private static final class Chunks extends InputStream {
    private final JournalHome home;
    private final Snapshot snapshot;
    private ByteBuffer chunk = ByteBuffer.allocate(0);
    private long number;

    Chunks(JournalHome home, Snapshot snapshot) {
      this.home = home;
      this.snapshot = snapshot;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      if (length == 0) {
        return 0;
      }
      if (!chunk.hasRemaining() && !next()) {
        return -1;
      }
      int count = Math.min(length, chunk.remaining());
      chunk.get(bytes, offset, count);
      return count;
    }

    private boolean next() throws IOException {
      byte @Nullable [] content;
      try {
        content = home.chunk(snapshot, number);
      } catch (IOException e) {
        throw new IOException(e.getMessage(), e);
      }
      if (content == null) {
        return false;
      }
      if (content.length == 0) {
        throw new EOFException("chunk " + number + " is empty");
      }
      number++;
      chunk = ByteBuffer.wrap(content);
      return true;
    }
  }
}
