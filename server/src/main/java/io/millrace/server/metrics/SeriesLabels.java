package io.millrace.server.metrics;

import java.util.HashSet;
import java.util.Set;

/**
 * The values of one label of metrics, which users choose, such as names of queues. To bound the
 * number of series, the first 100 values are labels of their own until the server stops; all others
 * share {@link #OTHER}. Safe for use by threads.
 */
public final class SeriesLabels {
  /** The label that all values beyond the bound share. */
  public static final String OTHER = "(other)";

  /** How many values have labels of their own. */
  public static final int MAX_VALUES = 100;

  private final Set<String> own = new HashSet<>();

  /** The label of a value. */
  public synchronized String of(String value) {
    if (own.contains(value) || (own.size() < MAX_VALUES && own.add(value))) {
      return value;
    }
    return OTHER;
  }

  /** The values so far that have labels of their own. */
  public synchronized Set<String> own() {
    return Set.copyOf(own);
  }
}
