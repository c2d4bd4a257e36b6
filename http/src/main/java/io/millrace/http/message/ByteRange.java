package io.millrace.http.message;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A part of a sequence of bytes.
 *
 * @param first its first byte
 * @param last its last byte, smaller than {@code first} if the range is empty
 */
public record ByteRange(long first, long last) {
  private static final Pattern SINGLE = Pattern.compile("bytes=(\\d*)-(\\d*)");

  private static final int MOST_DIGITS = 18;

  /**
   * Reads {@code bytes=N-M}, {@code bytes=N-} or {@code bytes=-N}.
   *
   * @return null for any other form, several ranges included: the whole is answered then
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

  /** A number; one that is larger than any position counts as the largest. */
  private static long number(String digits) {
    String significant = digits.replaceFirst("^0+(?=\\d)", "");
    return significant.length() > MOST_DIGITS ? Long.MAX_VALUE : Long.parseLong(significant);
  }

  /** Whether it holds nothing: it begins at or after the end. */
  public boolean isEmpty() {
    return last < first;
  }

  /** How many bytes it has. */
  public long length() {
    return last - first + 1;
  }
}
