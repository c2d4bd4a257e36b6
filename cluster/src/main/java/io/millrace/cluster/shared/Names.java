package io.millrace.cluster.shared;

import io.millrace.cluster.documents.Keys;
import java.nio.charset.StandardCharsets;

/** What names of shared things may be: parts of keys of documents. */
final class Names {
  private static final int MOST_BYTES = 300;

  private Names() {}

  /**
   * Checks a name.
   *
   * @param what what it is the name of, for people
   * @throws IllegalArgumentException naming what is wrong
   */
  static String check(String what, String name) {
    int length = name.getBytes(StandardCharsets.UTF_8).length;
    if (length < 1 || length > MOST_BYTES) {
      throw new IllegalArgumentException(
          "the name of a %s has 1 to %d bytes, not %d".formatted(what, MOST_BYTES, length));
    }
    try {
      Keys.check(name);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "'%s' cannot be the name of a %s: %s".formatted(name, what, e.getMessage()), e);
    }
    return name;
  }

  /** Checks a name below whose key there are others. */
  static String checkPart(String what, String name) {
    if (name.contains("/")) {
      throw new IllegalArgumentException(
          "the name of a %s has no '/', and '%s' has one".formatted(what, name));
    }
    return check(what, name);
  }
}
