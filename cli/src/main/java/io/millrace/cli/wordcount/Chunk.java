package io.millrace.cli.wordcount;

import io.millrace.store.Bytes;
import java.nio.file.Path;

/**
 * A map task: a piece of a file that begins and ends between words.
 *
 * @param partitions into how many parts the counts are divided
 * @param offset where the piece begins, in bytes
 * @param length how long it is, in bytes
 * @param file the file
 */
record Chunk(int partitions, long offset, long length, Path file) {
  private static final int FIELDS = 4;

  /** The form that {@link #parse} reads. */
  Bytes data() {
    return Bytes.of(partitions + ":" + offset + ":" + length + ":" + file);
  }

  static Chunk parse(Bytes data) {
    String[] fields = data.utf8().split(":", FIELDS);
    return new Chunk(
        Integer.parseInt(fields[0]),
        Long.parseLong(fields[1]),
        Long.parseLong(fields[2]),
        Path.of(fields[3]));
  }
}
