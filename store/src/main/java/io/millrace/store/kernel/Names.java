package io.millrace.store.kernel;

/** The rule for names: Unicode text of 1 to so many bytes of UTF-8. */
final class Names {
  private Names() {}

  /** Whether {@code name} may be used. */
  static boolean isValid(String name, int maxBytes) {
    int bytes = utf8Length(name);
    return bytes > 0 && bytes <= maxBytes;
  }

  /** What is wrong with {@code name}, in words that begin with {@code what}. */
  static String complaint(String what, String name, int maxBytes) {
    int bytes = utf8Length(name);
    if (bytes == 0) {
      return what + " must not be empty";
    }
    if (bytes < 0) {
      return what + " is not well-formed Unicode";
    }
    return what + " has " + bytes + " bytes, more than " + maxBytes;
  }

  /** The number of bytes in UTF-8, or -1 where a surrogate stands alone. */
  static int utf8Length(String text) {
    int bytes = 0;
    for (int i = 0; i < text.length(); i++) {
      char unit = text.charAt(i);
      if (unit < 0x80) {
        bytes++;
      } else if (unit < 0x800) {
        bytes += 2;
      } else if (!Character.isSurrogate(unit)) {
        bytes += 3;
      } else if (Character.isHighSurrogate(unit)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        bytes += 4;
        i++;
      } else {
        return -1;
      }
    }
    return bytes;
  }
}
