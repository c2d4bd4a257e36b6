package io.millrace.cli.wordcount;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Cuts files into pieces of about the same size, never inside a word. */
final class Splitter {
  private static final long WANTED = 40;
  private static final long LARGEST = 4 << 20;
  private static final long PARTITION_BYTES = 512 << 10;
  private static final int FEWEST_PARTITIONS = 8;
  private static final int MOST_PARTITIONS = 256;
  private static final int LOOK_BYTES = 64 << 10;

  private Splitter() {}

  /** At least one piece, even if there is nothing to count. */
  static List<Chunk> split(List<Path> files) throws IOException {
    long total = 0;
    for (Path file : files) {
      total += Files.size(file);
    }
    int partitions = Math.clamp(total / PARTITION_BYTES, FEWEST_PARTITIONS, MOST_PARTITIONS);
    long size = Math.clamp(total / WANTED, 1, LARGEST);
    List<Chunk> chunks = new ArrayList<>();
    for (int number = 0; number < files.size(); number++) {
      Path file = files.get(number).toAbsolutePath();
      try (FileChannel channel = FileChannel.open(file)) {
        long end = channel.size();
        for (long offset = 0; offset < end || (chunks.isEmpty() && number == 0); ) {
          long next = boundary(channel, Math.min(offset + size, end), end);
          chunks.add(new Chunk(partitions, number, offset, next - offset, file));
          offset = Math.max(next, 1);
        }
      }
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
