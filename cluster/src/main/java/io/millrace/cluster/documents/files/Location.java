package io.millrace.cluster.documents.files;

import io.millrace.cluster.documents.Version;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The location of a version.
 *
 * @param segment its segment
 * @param number its number in the segment, 1 to 99
 */
record Location(Segment segment, int number) {
  private static final Pattern TEXT = Pattern.compile("(.+)\\.([1-9][0-9]?)");

  /**
   * The location of a version, whether or not it exists.
   *
   * @throws IllegalArgumentException if it is not a version of these documents
   */
  static Location of(Version version) {
    Matcher matcher = TEXT.matcher(version.text());
    if (matcher.matches()) {
      int number = Integer.parseInt(matcher.group(2));
      Segment segment = Segment.parse(matcher.group(1)).orElse(null);
      if (segment != null) {
        return new Location(segment, number);
      }
    }
    throw new IllegalArgumentException("not a version of these documents: " + version);
  }

  /** The version, as callers see it. */
  Version version() {
    return new Version(segment + "." + number);
  }

  /** Its file below the folder of its key. */
  Path in(Path folder) {
    return folder.resolve(segment.toString()).resolve(Integer.toString(number));
  }

  /**
   * A folder with successive versions of one document. Names of segments are never reused.
   *
   * @param ordinal its position among the segments since the document was created, from 1
   * @param random 64 bits that make its name unique, in hexadecimal
   */
  record Segment(long ordinal, String random) {
    private static final Pattern NAME = Pattern.compile("([1-9][0-9]{0,17})\\.([0-9a-f]{16})");

    /** A segment with a name that was never used. */
    static Segment of(long ordinal, long random) {
      return new Segment(ordinal, HexFormat.of().toHexDigits(random));
    }

    /** The segment with this name; empty if it is not the name of a segment. */
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
}
