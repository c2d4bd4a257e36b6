package io.millrace.store.journal.files;

import io.millrace.store.journal.JournalException;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** The names of a journal's files. */
final class FileNames {
  static final String SEGMENT = ".segment";
  static final String SNAPSHOT = ".snapshot";

  /** An empty file whose name is the newest epoch. */
  static final String EPOCH = ".epoch";

  /** A part that recovery by an earlier version has cut from a segment and kept for people. */
  static final String TORN = ".torn";

  static final String TEMPORARY = ".tmp";
  static final String SPARE = "spare" + SEGMENT + TEMPORARY;

  /** An empty file that is there while a snapshot is restored to the folder. */
  static final String INCOMPLETE = "incomplete";

  private static final int DIGITS = 16;

  private FileNames() {}

  static String segment(long firstSequence) {
    return HexFormat.of().toHexDigits(firstSequence) + SEGMENT;
  }

  static String snapshot(long sequence) {
    return HexFormat.of().toHexDigits(sequence) + SNAPSHOT;
  }

  static String epoch(long epoch) {
    return HexFormat.of().toHexDigits(epoch) + EPOCH;
  }

  /** The number in a name of the given kind; empty if it is another name. */
  static OptionalLong number(String name, String kind) {
    if (name.length() != DIGITS + kind.length() || !name.endsWith(kind)) {
      return OptionalLong.empty();
    }
    String digits = name.substring(0, DIGITS);
    if (!digits.chars().allMatch(HexFormat::isHexDigit)) {
      return OptionalLong.empty();
    }
    long number = HexFormat.fromHexDigitsToLong(digits);
    return number < 0 ? OptionalLong.empty() : OptionalLong.of(number);
  }

  /**
   * Refuses a folder in which a restore has not ended.
   *
   * @throws JournalException if it is one
   */
  static void requireComplete(List<String> names, String folder) {
    if (names.contains(INCOMPLETE)) {
      throw new JournalException(
          "the store in "
              + folder
              + " is incomplete: a restore or copy to it has not ended; repeat it, and let it"
              + " replace what is there");
    }
  }

  /** Whether this is the name of a file that this version writes, except temporary files. */
  static boolean isKnown(String name) {
    return Stream.of(SEGMENT, SNAPSHOT, EPOCH).anyMatch(kind -> number(name, kind).isPresent());
  }

  /** The numbers of all files of a kind, ascending. */
  static List<Long> numbers(List<String> names, String kind) {
    return names.stream()
        .map(name -> number(name, kind))
        .filter(OptionalLong::isPresent)
        .map(OptionalLong::getAsLong)
        .sorted()
        .toList();
  }
}
