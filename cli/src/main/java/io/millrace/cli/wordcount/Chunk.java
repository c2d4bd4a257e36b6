package io.millrace.cli.wordcount;

import io.millrace.store.Bytes;
import java.nio.file.Path;

/**
 * A map task: a piece of a file that begins and ends between words.
 *
 * @param partitions into how many parts the counts are divided
 * @param fileNumber which of the files, from 0
 * @param offset where the piece begins, in bytes
 * @param length how long it is, in bytes
 * @param file the file
 */
record Chunk(int partitions, int fileNumber, long offset, long length, Path file) {
  private static final int FIELDS = 5;

  /** The form that {@link #parse} reads. */
  Bytes data() {
    return Bytes.of(partitions + ":" + fileNumber + ":" + offset + ":" + length + ":" + file);
  }

  static Chunk parse(Bytes data) {
    String[] fields = data.utf8().split(":", FIELDS);
    return new Chunk(
        Integer.parseInt(fields[0]),
        Integer.parseInt(fields[1]),
        Long.parseLong(fields[2]),
        Long.parseLong(fields[3]),
        Path.of(fields[4]));
  }
}
