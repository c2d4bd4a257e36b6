package io.millrace.graph;

import java.util.Optional;

/**
 * The id of a graph node: given by the server, growing, never used twice.
 *
 * @param value from 1 to 2^53 - 1
 */
public record NodeId(long value) implements Comparable<NodeId> {
  /** The largest id: 2^53 - 1, so that every JSON reader can hold it. */
  public static final long MOST = (1L << 53) - 1;

  private static final int MAX_DIGITS = 16;

  /** Checks the range. */
  public NodeId {
    if (value < 1 || value > MOST) {
      throw new IllegalArgumentException("no id of a node: " + value);
    }
  }

  /**
   * Reads an id in decimal; empty if the text is not an id, for example with a sign or leading
   * zeros.
   */
  public static Optional<NodeId> parse(String text) {
    if (text.isEmpty()
        || text.length() > MAX_DIGITS
        || text.charAt(0) == '0'
        || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
      return Optional.empty();
    }
    long value = Long.parseLong(text);
    return value > MOST ? Optional.empty() : Optional.of(new NodeId(value));
  }

  @Override
  public int compareTo(NodeId other) {
    return Long.compare(value, other.value);
  }

  /** In decimal. */
  @Override
  public String toString() {
    return Long.toString(value);
  }
}
