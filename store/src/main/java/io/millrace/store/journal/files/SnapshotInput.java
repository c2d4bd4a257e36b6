package io.millrace.store.journal.files;

import io.millrace.store.environment.DiskFile;
import io.millrace.store.journal.DamagedJournalException;
import io.millrace.store.journal.Frame;
import io.millrace.store.journal.JournalException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads and checks a snapshot that {@link SnapshotOutput} wrote. Does not buffer, so the stream
 * should. For use by one thread at a time.
 */
public final class SnapshotInput {
  private static final int MAX_PART_BYTES = 1 << 30;
  private static final int GROWTH_BYTES = 64 << 10;

  private final InputStream stream;
  private final String name;
  private final Frame frame;
  private final boolean standsAlone;
  private final ByteBuffer partHeader = ByteBuffer.allocate(SnapshotFormat.PART_HEADER_BYTES);
  private byte[] payload = new byte[GROWTH_BYTES];
  private int checksum;
  private long parts;
  private long offset;
  private boolean ended;

  /**
   * Reads the header.
   *
   * @param name the name of the stream, for messages
   * @throws DamagedJournalException if this is not the header of a snapshot
   * @throws JournalException if the snapshot has an unknown format version
   * @throws IOException if the stream fails
   */
  public SnapshotInput(InputStream stream, String name) throws IOException {
    this.stream = stream;
    this.name = name;
    byte[] bytes = new byte[SnapshotFormat.HEADER_BYTES];
    readFully(bytes, bytes.length);
    ByteBuffer header = ByteBuffer.wrap(bytes);
    checksum = header.getInt(SnapshotFormat.CHECKSUM_AT);
    if (header.getInt(0) != SnapshotFormat.MAGIC
        || checksum != SnapshotFormat.headerChecksum(header)) {
      throw new DamagedJournalException(name, 0, "this is not a snapshot header");
    }
    short version = header.getShort(4);
    if (version != SnapshotFormat.VERSION) {
      throw new JournalException(
          name
              + " has format version "
              + version
              + ", this program reads only "
              + SnapshotFormat.VERSION);
    }
    standsAlone = (header.getShort(6) & SnapshotFormat.STANDS_ALONE) != 0;
    frame =
        new Frame(
            header.getLong(8),
            header.getLong(16),
            header.getLong(24),
            header.getLong(40),
            header.getLong(8),
            header.getLong(32),
            ByteBuffer.allocate(0));
    offset = SnapshotFormat.HEADER_BYTES;
  }

  /**
   * Reads the header of a snapshot file.
   *
   * @param sequence the frame after which it should have been taken
   * @throws DamagedJournalException if it is not the header of that snapshot
   */
  static SnapshotInput of(DiskFile file, long sequence) throws IOException {
    String name = FileNames.snapshot(sequence);
    SnapshotInput input = new SnapshotInput(new FileInput(file), name);
    if (input.frame().sequence() != sequence) {
      throw new DamagedJournalException(
          name, 8, "this is the snapshot of frame " + input.frame().sequence());
    }
    return input;
  }

  /** The frame after which the snapshot was taken, without its payload. */
  public Frame frame() {
    return frame;
  }

  /** Whether a journal may begin with it. */
  public boolean standsAlone() {
    return standsAlone;
  }

  /** The number of parts read so far. */
  public long parts() {
    return parts;
  }

  /** The number of bytes read so far. */
  public long bytes() {
    return offset;
  }

  /**
   * The next part, valid until the next call; null after the last one, if the end mark is valid.
   * Only then is the snapshot known to be complete.
   *
   * @throws DamagedJournalException if the snapshot is damaged or cut short
   * @throws IOException if the stream fails
   */
  public @Nullable ByteBuffer next() throws IOException {
    if (ended) {
      return null;
    }
    long at = offset;
    readFully(partHeader.array(), SnapshotFormat.PART_HEADER_BYTES);
    int magic = partHeader.getInt(0);
    int length = partHeader.getInt(4);
    boolean end = magic == SnapshotFormat.END;
    if ((!end && magic != SnapshotFormat.PART)
        || length < 0
        || length > MAX_PART_BYTES
        || partHeader.getLong(8) != parts) {
      throw new DamagedJournalException(name, at, "no part " + parts + " of a snapshot");
    }
    int padding = SnapshotFormat.padding(length);
    readFully(payload, length + padding);
    ByteBuffer part = ByteBuffer.wrap(payload, 0, length).slice();
    checksum = SnapshotFormat.partChecksum(checksum, partHeader, part);
    if (checksum != partHeader.getInt(SnapshotFormat.PART_CHECKSUM_AT)) {
      throw new DamagedJournalException(name, at, "the checksum of part " + parts + " is wrong");
    }
    if (end) {
      ended = true;
      return null;
    }
    parts++;
    return part;
  }

  /**
   * Reads the rest and checks its checksums.
   *
   * @throws DamagedJournalException if the snapshot is damaged or cut short
   * @throws IOException if the stream fails
   */
  public void readToEnd() throws IOException {
    while (!ended) {
      next();
    }
  }

  /**
   * Extends the array only as bytes arrive, so that a damaged length does not allocate much memory.
   */
  private void readFully(byte[] first, int count) throws IOException {
    byte[] target = first;
    int have = 0;
    while (have < count) {
      if (have == target.length) {
        target = Arrays.copyOf(target, (int) Math.min(count, have * 2L));
        payload = target;
      }
      int read = stream.read(target, have, Math.min(count, target.length) - have);
      if (read < 0) {
        throw new DamagedJournalException(name, offset + have, "the snapshot is cut short");
      }
      have += read;
    }
    offset += count;
  }

  /** A buffered stream of a file, which is not closed. */
  private static final class FileInput extends InputStream {
    private static final int PIECE_BYTES = 256 << 10;

    private final DiskFile file;
    private final ByteBuffer piece = ByteBuffer.allocateDirect(PIECE_BYTES).limit(0);
    private long offset;

    FileInput(DiskFile file) {
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
  }
}
