package io.millrace.examples.wordcount;

import io.millrace.store.Bytes;
import io.millrace.store.DocumentKey;
import java.nio.file.Path;
import java.util.Locale;

/** The names and formats of the tasks and documents of word count. */
final class WordTasks {
  /** The group of chunks of text to count. */
  static final String MAP = "map";

  /** The group of counts to add to a result. */
  static final String REDUCE = "reduce";

  /** The collection of results, one document for each partition. */
  static final String RESULT = "wordcount";

  /**
   * While this document exists, the last map tasks are not finished; its body says how many. So
   * there is work left to interrupt, however short the text is.
   */
  static final DocumentKey HOLD = new DocumentKey("demo", "hold");

  private WordTasks() {}

  /** The document of a partition's result. */
  static DocumentKey result(int partition) {
    return new DocumentKey(RESULT, String.format(Locale.ROOT, "%05d", partition));
  }

  /**
   * A map task: a chunk of a file that begins and ends between words.
   *
   * @param partitions the number of partitions that the counts are divided into
   * @param offset the offset of the chunk in bytes
   * @param length the length in bytes
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

  /**
   * A reduce task: counts to add to the result of a partition.
   *
   * @param partition the number of the partition
   * @param counts the counts of its words in one chunk of text
   */
  record Part(int partition, Counts counts) {
    /** The form that {@link #parse} reads: the partition in a line of its own, then the counts. */
    Bytes data() {
      return Bytes.of(partition + "\n" + counts.data().utf8());
    }

    static Part parse(Bytes data) {
      String text = data.utf8();
      int end = text.indexOf('\n');
      return new Part(
          Integer.parseInt(text.substring(0, end)),
          Counts.parse(Bytes.of(text.substring(end + 1))));
    }
  }
}
