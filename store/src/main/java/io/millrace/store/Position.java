package io.millrace.store;

/**
 * A point in the store's history: the number of commits made since it began.
 *
 * @param history which history: a store that lost acknowledged commits, or was restored from a
 *     backup, goes on under a new one
 * @param number how many commits lie before and at this point, from 0
 */
public record Position(long history, long number) {
  /** The form that {@link #parse} reads: the history in hexadecimal, a dash, the number. */
  @Override
  public String toString() {
    return Long.toHexString(history) + "-" + number;
  }

  /**
   * Reads what {@link #toString} wrote.
   *
   * @throws IllegalArgumentException when {@code text} is something else
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
