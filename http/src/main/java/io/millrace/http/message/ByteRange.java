package io.millrace.http.message;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A range of bytes of a value.
 *
 * @param first the offset of its first byte
 * @param last the offset of its last byte; smaller than {@code first} if the range is empty
 */
public record ByteRange(long first, long last) {
  private static final Pattern SINGLE = Pattern.compile("bytes=(\\d*)-(\\d*)");

  private static final int MAX_DIGITS = 18;

  /**
   * Parses {@code bytes=N-M}, {@code bytes=N-} or {@code bytes=-N}.
   *
   * @param size the length of the value, in bytes
   * @return null for any other form, including several ranges; the header is then ignored
   */
  public static @Nullable ByteRange parse(String header, long size) {
    Matcher range = SINGLE.matcher(header.strip());
    if (!range.matches()) {
      return null;
    }
    String first = range.group(1);
    String last = range.group(2);
    if (first.isEmpty()) {
      return last.isEmpty() ? null : new ByteRange(Math.max(0, size - number(last)), size - 1);
    }
    long begin = number(first);
    long end = last.isEmpty() ? Long.MAX_VALUE : number(last);
    return end < begin ? null : new ByteRange(begin, Math.min(end, size - 1));
  }

  /** Parses a number; {@code Long.MAX_VALUE} if it is too large. */
  private static long number(String digits) {
    String significant = digits.replaceFirst("^0+(?=\\d)", "");
    return significant.length() > MAX_DIGITS ? Long.MAX_VALUE : Long.parseLong(significant);
  }

  /** Whether it has no bytes, because it begins at or after the end of the value. */
  public boolean isEmpty() {
    return last < first;
  }

  /** The number of its bytes. */
  public long length() {
    return last - first + 1;
  }
}
