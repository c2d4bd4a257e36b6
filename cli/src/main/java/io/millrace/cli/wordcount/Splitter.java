package io.millrace.cli.wordcount;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Cuts a file into pieces of about the same size, never inside a word. */
final class Splitter {
  private static final long WANTED = 40;
  private static final long LARGEST = 4 << 20;
  private static final long PARTITION_BYTES = 512 << 10;
  private static final int FEWEST_PARTITIONS = 8;
  private static final int MOST_PARTITIONS = 256;
  private static final int LOOK_BYTES = 64 << 10;

  private Splitter() {}

  /** At least one piece, even if there is nothing to count. */
  static List<Chunk> split(Path file) throws IOException {
    List<Chunk> chunks = new ArrayList<>();
    try (FileChannel channel = FileChannel.open(file)) {
      long end = channel.size();
      int partitions = Math.clamp(end / PARTITION_BYTES, FEWEST_PARTITIONS, MOST_PARTITIONS);
      long size = Math.clamp(end / WANTED, 1, LARGEST);
      long offset = 0;
      do {
        long next = boundary(channel, Math.min(offset + size, end), end);
        chunks.add(new Chunk(partitions, offset, next - offset, file));
        offset = next;
      } while (offset < end);
    }
    return chunks;
  }

  /** The first place from {@code offset} on that is not inside a word. */
  private static long boundary(FileChannel channel, long offset, long end) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(LOOK_BYTES);
    long at = offset;
    while (at < end) {
      buffer.clear();
      int read = channel.read(buffer, at);
      if (read < 0) {
        return at;
      }
      for (int i = 0; i < read; i++) {
        if (!WordReader.isLetter(buffer.get(i))) {
          return at + i;
        }
      }
      at += read;
    }
    return end;
  }
}
