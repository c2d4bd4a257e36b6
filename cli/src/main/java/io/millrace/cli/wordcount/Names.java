package io.millrace.cli.wordcount;

import io.millrace.store.DocumentKey;
import java.util.Locale;

/** The names of what the demonstration keeps in the store. */
final class Names {
  /** The group of pieces of text to count. */
  static final String MAP = "map";

  /** The group of counts to add to a result. */
  static final String REDUCE = "reduce";

  /** The collection of results, one document for each partition. */
  static final String RESULT = "wordcount";

  /**
   * While it is there, the last map tasks are not finished: its body says how many. So there is
   * work left to be interrupted, however short the text.
   */
  static final DocumentKey HOLD = new DocumentKey("demo", "hold");

  private Names() {}

  /** The document of a partition's result. */
  static DocumentKey result(int partition) {
    return new DocumentKey(RESULT, String.format(Locale.ROOT, "%05d", partition));
  }
}
