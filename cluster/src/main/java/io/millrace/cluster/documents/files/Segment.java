package io.millrace.cluster.documents.files;

import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A folder of the first, the next so many, and so on of one document's versions. No two ever have
 * the same name.
 *
 * @param ordinal the how manyth it is since the document was made, from 1
 * @param random 64 bits that make its name its own, in hexadecimal
 */
record Segment(long ordinal, String random) {
  private static final Pattern NAME = Pattern.compile("([1-9][0-9]{0,17})\\.([0-9a-f]{16})");

  /** A segment of a name that has never been. */
  static Segment of(long ordinal, long random) {
    return new Segment(ordinal, HexFormat.of().toHexDigits(random));
  }

  /** The segment of this name; empty where it is none. */
  static Optional<Segment> parse(String name) {
    Matcher matcher = NAME.matcher(name);
    return matcher.matches()
        ? Optional.of(new Segment(Long.parseLong(matcher.group(1)), matcher.group(2)))
        : Optional.empty();
  }

  /** The name of its folder. */
  @Override
  public String toString() {
    return ordinal + "." + random;
  }
}
