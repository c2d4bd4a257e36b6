package io.millrace.store;

/**
 * A point in the store's history.
 *
 * @param history the id of the history. A store that may have lost commits, or was restored from a
 *     backup, continues under a new history
 * @param number the number of commits up to and including this point, from 0
 */
public record Position(long history, long number) {
  /** The history in hexadecimal, a dash, and the number; {@link #parse} reads it. */
  @Override
  public String toString() {
    return Long.toHexString(history) + "-" + number;
  }

  /**
   * Parses a text that {@link #toString} returned.
   *
   * @throws IllegalArgumentException if {@code text} is something else
   */
  public static Position parse(String text) {
    int dash = text.indexOf('-');
    if (dash < 1) {
      throw new IllegalArgumentException("not a position: " + text);
    }
    try {
      long number = Long.parseLong(text.substring(dash + 1));
      if (number < 0) {
        throw new IllegalArgumentException("not a position: " + text);
      }
      return new Position(Long.parseUnsignedLong(text.substring(0, dash), 16), number);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("not a position: " + text, e);
    }
  }
}
