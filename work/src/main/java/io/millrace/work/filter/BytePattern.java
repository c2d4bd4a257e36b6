package io.millrace.work.filter;

import io.millrace.store.Bytes;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * A text that is looked for in documents as they are stored. It looks for the rarest two bytes of
 * the text and makes no string of the document, which takes a small part of the time that a search
 * in its text takes. Immutable.
 */
public final class BytePattern {
  /**
   * Characters from those that JSON has most of to those that it has least of; others are rarer.
   */
  private static final String BY_FREQUENCY = "\",: 0123456789eatoinsrdlcmuphgbfywvkxjqz";

  private final byte[] lower;
  private final byte[] upper;

  /** The index of the first of the two bytes to look for. */
  private final int rarest;

  private BytePattern(byte[] lower, byte[] upper) {
    this.lower = lower;
    this.upper = upper;
    int found = 0;
    for (int i = 1; i < lower.length - 1; i++) {
      if (rarity(lower, i) > rarity(lower, found)) {
        found = i;
      }
    }
    rarest = found;
  }

  private static int rarity(byte[] text, int index) {
    return rarity(text[index]) + rarity(text[index + 1]);
  }

  private static int rarity(byte b) {
    int known = BY_FREQUENCY.indexOf((char) b);
    return known < 0 ? BY_FREQUENCY.length() : known;
  }

  /**
   * Finds a text as it is.
   *
   * @throws IllegalArgumentException if it is empty
   */
  public static BytePattern of(String text) {
    byte[] bytes = bytes(text);
    return new BytePattern(bytes, bytes);
  }

  /**
   * Finds a text in upper and lower case. Letters beyond ASCII whose lower case is in ASCII (the
   * Kelvin sign, the dotted capital I) are not found.
   *
   * @param text ASCII
   * @throws IllegalArgumentException if it is empty
   */
  static BytePattern inAnyCase(String text) {
    return new BytePattern(
        bytes(text.toLowerCase(Locale.ROOT)), bytes(text.toUpperCase(Locale.ROOT)));
  }

  private static byte[] bytes(String text) {
    if (text.isEmpty()) {
      throw new IllegalArgumentException("there is nothing to look for");
    }
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The number of bytes. */
  int size() {
    return lower.length;
  }

  /** Whether it is within a document. */
  public boolean isIn(Bytes document) {
    return indexIn(document, 0) >= 0;
  }

  /** Where it begins first at or after an index, which may be the end; negative if nowhere. */
  int indexIn(Bytes document, int from) {
    int last = document.size() - lower.length;
    for (int at = next(document, from); at >= 0 && at <= last; at = next(document, at + 1)) {
      if (isAt(document, at)) {
        return at;
      }
    }
    return -1;
  }

  /** Where it may begin; negative if nowhere. */
  private int next(Bytes document, int from) {
    if (lower.length > 1) {
      boolean anyCase = lower[rarest] != upper[rarest] || lower[rarest + 1] != upper[rarest + 1];
      int at = document.indexOf(lower[rarest], lower[rarest + 1], anyCase, from + rarest);
      return at - rarest;
    }
    return from < document.size() ? from : -1;
  }

  private boolean isAt(Bytes document, int begin) {
    for (int i = 0; i < lower.length; i++) {
      byte b = document.at(begin + i);
      if (b != lower[i] && b != upper[i]) {
        return false;
      }
    }
    return true;
  }
}
