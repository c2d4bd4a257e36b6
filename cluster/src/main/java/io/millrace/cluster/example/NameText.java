package io.millrace.cluster.example;

/**
 * Names of files as they stand in lines: backslashes are doubled, a line end is {@code \n} and,
 * where it is wanted, a blank {@code \s}.
 */
final class NameText {
  private NameText() {}

  /** A name that keeps its blanks. */
  static String of(String name) {
    return name.replace("\\", "\\\\").replace("\n", "\\n");
  }

  /** A name without blanks. */
  static String withoutBlanks(String name) {
    return of(name).replace(" ", "\\s");
  }

  /** The name that was written in either way. */
  static String read(String written) {
    StringBuilder name = new StringBuilder();
    for (int i = 0; i < written.length(); i++) {
      char character = written.charAt(i);
      if (character == '\\' && i + 1 < written.length()) {
        i++;
        character =
            switch (written.charAt(i)) {
              case 'n' -> '\n';
              case 's' -> ' ';
              default -> written.charAt(i);
            };
      }
      name.append(character);
    }
    return name.toString();
  }
}
