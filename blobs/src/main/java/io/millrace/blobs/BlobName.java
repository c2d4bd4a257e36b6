package io.millrace.blobs;

/** The form of a blob's name, which can neither lead out of a folder nor break a path. */
public final class BlobName {
  /** The longest name, which common file systems allow too. */
  static final int MAX_LENGTH = 255;

  private BlobName() {}

  /** Whether a blob may have this name. */
  public static boolean isValid(String name) {
    return !name.isEmpty()
        && name.length() <= MAX_LENGTH
        && name.charAt(0) != '.'
        && name.chars().allMatch(BlobName::isAllowed);
  }

  /**
   * Checks the name of a blob.
   *
   * @throws InvalidBlobNameException if it is not valid
   */
  public static void check(String name) {
    if (!isValid(name)) {
      throw new InvalidBlobNameException(
          describe("blob name", name)
              + ": a name has 1 to "
              + MAX_LENGTH
              + " characters out of A-Z a-z 0-9 . _ - and does not start with a dot");
    }
  }

  /**
   * Checks a prefix of names.
   *
   * @throws InvalidBlobNameException if no valid name begins with it
   */
  public static void checkPrefix(String prefix) {
    if (!prefix.isEmpty() && !isValid(prefix)) {
      throw new InvalidBlobNameException(
          describe("prefix of blob names", prefix)
              + ": it is empty or has up to "
              + MAX_LENGTH
              + " characters out of A-Z a-z 0-9 . _ - and does not start with a dot");
    }
  }

  private static String describe(String what, String name) {
    if (name.length() > MAX_LENGTH) {
      return "bad %s of %d characters, \"%s…\"".formatted(what, name.length(), shown(name, 40));
    }
    return "bad %s \"%s\"".formatted(what, shown(name, MAX_LENGTH));
  }

  /** Without control characters, which would garble the message. */
  private static String shown(String name, int limit) {
    StringBuilder text = new StringBuilder();
    name.codePoints()
        .limit(limit)
        .forEach(c -> text.appendCodePoint(Character.isISOControl(c) ? '\uFFFD' : c));
    return text.toString();
  }

  private static boolean isAllowed(int c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '.'
        || c == '_'
        || c == '-';
  }
}
