package io.millrace.store.journal.files;

import io.millrace.store.journal.Frame;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;

/**
 * Writes a snapshot in the format of snapshot files, to a file of the journal or, as a backup, to
 * any stream. Not buffered. For use by one thread at a time.
 */
public final class SnapshotOutput {
  private final WritableByteChannel channel;
  private final ByteBuffer partHeader = ByteBuffer.allocate(SnapshotFormat.PART_HEADER_BYTES);
  private int checksum;
  private long parts;

  /**
   * Starts a snapshot of the state after {@code frame}, whose payload is not used, and writes the
   * header.
   *
   * @param standsAlone whether a journal may begin with it, without the frames up to {@code frame}
   * @throws IOException if the stream fails; the snapshot is then unusable
   */
  public SnapshotOutput(OutputStream stream, Frame frame, boolean standsAlone) throws IOException {
    this(Channels.newChannel(stream), frame, standsAlone);
  }

  SnapshotOutput(WritableByteChannel channel, Frame frame, boolean standsAlone) throws IOException {
    this.channel = channel;
    ByteBuffer header = ByteBuffer.allocate(SnapshotFormat.HEADER_BYTES);
    header.putInt(0, SnapshotFormat.MAGIC);
    header.putShort(4, SnapshotFormat.VERSION);
    header.putShort(6, standsAlone ? SnapshotFormat.STANDS_ALONE : 0);
    header.putLong(8, frame.sequence());
    header.putLong(16, frame.epoch());
    header.putLong(24, frame.writer());
    header.putLong(32, frame.position());
    header.putLong(40, frame.timeMillis());
    checksum = SnapshotFormat.headerChecksum(header);
    header.putInt(SnapshotFormat.CHECKSUM_AT, checksum);
    write(header);
  }

  /**
   * Writes a part: the remaining bytes of {@code payload}, whose position does not change.
   *
   * @throws IOException if the stream fails; the snapshot is then unusable
   */
  public void part(ByteBuffer payload) throws IOException {
    record(SnapshotFormat.PART, payload.duplicate());
    parts++;
  }

  /**
   * Writes the end mark, without which a snapshot is not complete.
   *
   * @throws IOException if the stream fails; the snapshot is then unusable
   */
  public void finish() throws IOException {
    record(SnapshotFormat.END, ByteBuffer.allocate(0));
  }

  private void record(int magic, ByteBuffer payload) throws IOException {
    int length = payload.remaining();
    partHeader.clear();
    partHeader.putInt(0, magic);
    partHeader.putInt(4, length);
    partHeader.putLong(8, parts);
    checksum = SnapshotFormat.partChecksum(checksum, partHeader, payload);
    partHeader.putInt(SnapshotFormat.PART_CHECKSUM_AT, checksum);
    partHeader.putInt(SnapshotFormat.PART_CHECKSUM_AT + 4, 0);
    write(partHeader);
    write(payload);
    write(ByteBuffer.allocate(SnapshotFormat.padding(length)));
  }

  private void write(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }
}
