package io.millrace.queues;

import java.util.NavigableSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The blob of some archived tasks, by its name, which says between which ids they are.
 *
 * @param name its name
 * @param id of the archiving; later ones are greater
 * @param first the least id of its tasks
 * @param last the greatest
 */
record ArchiveFile(String name, String id, String first, String last) {
  /** What all names begin with. */
  static final String PREFIX = "queue-archive-";

  private static final String ID = "([0-9a-f]{24})";
  private static final Pattern NAME =
      Pattern.compile(PREFIX + ID + "(?:-" + ID + "-" + ID + ")?\\.jsonl");
  private static final String LEAST = "0".repeat(24);
  private static final String GREATEST = "f".repeat(24);

  /** The name of a new one. */
  static String name(ObjectId id, String first, String last) {
    return PREFIX + id.hex() + "-" + first + "-" + last + ".jsonl";
  }

  /** What a name says; null if it is not that of an archive. One without ids may hold any. */
  static @Nullable ArchiveFile of(String name) {
    Matcher parts = NAME.matcher(name);
    if (!parts.matches()) {
      return null;
    }
    return parts.group(2) == null
        ? new ArchiveFile(name, parts.group(1), LEAST, GREATEST)
        : new ArchiveFile(name, parts.group(1), parts.group(2), parts.group(3));
  }

  /** Whether one of these tasks may be in it. */
  boolean mayHold(NavigableSet<String> tasks) {
    return !tasks.subSet(first, true, last, true).isEmpty();
  }
}
