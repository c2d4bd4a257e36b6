package io.millrace.cli.wordcount;

import io.millrace.store.Bytes;

/**
 * A reduce task: counts to add to the result of a partition.
 *
 * @param partition which
 * @param counts the counts of its words in one piece of text
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
        Integer.parseInt(text.substring(0, end)), Counts.parse(Bytes.of(text.substring(end + 1))));
  }
}
