package io.millrace.cluster.documents.files;

import io.millrace.cluster.documents.Version;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a version lies.
 *
 * @param segment in which segment
 * @param number under which number, from 1 to 99
 */
record Spot(Segment segment, int number) {
  private static final Pattern TEXT = Pattern.compile("(.+)\\.([1-9][0-9]?)");

  /**
   * Where a version lies, if it is there.
   *
   * @throws IllegalArgumentException when it is none of these documents
   */
  static Spot of(Version version) {
    Matcher matcher = TEXT.matcher(version.text());
    if (matcher.matches()) {
      int number = Integer.parseInt(matcher.group(2));
      Segment segment = Segment.parse(matcher.group(1)).orElse(null);
      if (segment != null) {
        return new Spot(segment, number);
      }
    }
    throw new IllegalArgumentException("not a version of these documents: " + version);
  }

  /** What others call this version. */
  Version version() {
    return new Version(segment + "." + number);
  }

  /** Its file below the folder of its key. */
  Path in(Path folder) {
    return folder.resolve(segment.toString()).resolve(Integer.toString(number));
  }
}
