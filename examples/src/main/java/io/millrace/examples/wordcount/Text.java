package io.millrace.examples.wordcount;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The text to count: one file, split into chunks that are counted separately. */
final class Text {
  private static final Path STANDARD_INPUT = Path.of("-");
  private static final long WANTED = 40;
  private static final long LARGEST = 4 << 20;
  private static final long PARTITION_BYTES = 512 << 10;
  private static final int FEWEST_PARTITIONS = 8;
  private static final int MAX_PARTITIONS = 256;
  private static final int LOOK_BYTES = 64 << 10;

  private Text() {}

  /**
   * Returns the given file, or a copy of several files joined together, because a word may begin in
   * one file and end in the next. Without files, returns the text that is included in the program.
   *
   * @param folder the folder for a copy
   * @throws WordcountException if a file cannot be read
   */
  static Path of(List<Path> files, Path folder, InputStream standardInput) throws IOException {
    for (Path file : files) {
      check(file);
    }
    if (files.size() == 1 && Files.isRegularFile(files.getFirst())) {
      return files.getFirst().toAbsolutePath();
    }
    Path copy = folder.resolve("text");
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(copy))) {
      if (files.isEmpty()) {
        try (InputStream own = own()) {
          own.transferTo(out);
        }
      }
      for (Path file : files) {
        if (file.equals(STANDARD_INPUT)) {
          standardInput.transferTo(out);
        } else {
          Files.copy(file, out);
        }
      }
    }
    return copy;
  }

  private static void check(Path file) {
    if (file.equals(STANDARD_INPUT)) {
      return;
    }
    if (Files.notExists(file)) {
      throw new WordcountException("there is no file " + file);
    }
    if (Files.isDirectory(file)) {
      throw new WordcountException(file + " is a folder");
    }
    if (!Files.isReadable(file)) {
      throw new WordcountException("cannot read " + file);
    }
  }

  private static InputStream own() {
    InputStream text = Text.class.getResourceAsStream("millrace.txt");
    if (text == null) {
      throw new IllegalStateException("the text that is included in the program is missing");
    }
    return text;
  }

  /**
   * Splits a file into chunks of about the same size, never inside a word; returns at least one
   * chunk.
   */
  static List<WordTasks.Chunk> split(Path file) throws IOException {
    List<WordTasks.Chunk> chunks = new ArrayList<>();
    try (FileChannel channel = FileChannel.open(file)) {
      long end = channel.size();
      int partitions = Math.clamp(end / PARTITION_BYTES, FEWEST_PARTITIONS, MAX_PARTITIONS);
      long size = Math.clamp(end / WANTED, 1, LARGEST);
      long offset = 0;
      do {
        long next = boundary(channel, Math.min(offset + size, end), end);
        chunks.add(new WordTasks.Chunk(partitions, offset, next - offset, file));
        offset = next;
      } while (offset < end);
    }
    return chunks;
  }

  /** The first position from {@code offset} on that is not inside a word. */
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
