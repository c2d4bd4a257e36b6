package io.millrace.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

/**
 * The least that a strict store must do: a loop that writes a group's bytes to the end of a file
 * that has its room already, and syncs it.
 */
final class BareLoop {
  private static final int FILE_BYTES = 64 << 20;
  private static final int PIECE_BYTES = 1 << 20;

  private BareLoop() {}

  /** How many groups of so many bytes are on disk in a second. */
  static double groupsPerSecond(Path folder, int groupBytes, Duration time) {
    Path file = folder.resolve("bare-loop");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      for (long at = 0; at < FILE_BYTES; at += PIECE_BYTES) {
        channel.write(ByteBuffer.allocate(PIECE_BYTES), at);
      }
      channel.force(true);
      ByteBuffer group = ByteBuffer.allocateDirect(Math.max(1, groupBytes));
      long groups = 0;
      long offset = 0;
      long began = System.nanoTime();
      long now = began;
      while (now - began < time.toNanos()) {
        channel.write(group.clear(), offset);
        channel.force(false);
        offset = offset + 2L * group.capacity() > FILE_BYTES ? 0 : offset + group.capacity();
        groups++;
        now = System.nanoTime();
      }
      return groups * 1e9 / (now - began);
    } catch (IOException e) {
      throw new BenchException("the bare loop cannot write in " + folder, e);
    } finally {
      delete(file);
    }
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new BenchException("cannot delete " + file, e);
    }
  }
}
