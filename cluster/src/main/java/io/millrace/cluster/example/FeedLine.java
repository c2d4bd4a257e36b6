package io.millrace.cluster.example;

import java.util.Optional;

/**
 * A line of a file that grows, as it stands in the output: {@code FILE OFFSET LINE MEMBER-TOKEN
 * FENCING-TOKEN}. In FILE, backslashes are doubled, a blank is {@code \s} and a line end {@code
 * \n}, so that it has no blanks; LINE stands as it is, and may have some or be empty.
 *
 * @param file the file's name
 * @param offset where the line begins in it, in bytes
 * @param line the line without its end
 * @param token the member that read it
 * @param fence the fencing token with which that was done
 */
record FeedLine(String file, long offset, String line, String token, long fence) {
  String text() {
    return "%s %d %s %s %d\n".formatted(NameText.withoutBlanks(file), offset, line, token, fence);
  }

  /** Reads a line; empty where it is none. */
  static Optional<FeedLine> read(String text) {
    int first = text.indexOf(' ');
    int second = text.indexOf(' ', first + 1);
    int fourth = text.lastIndexOf(' ');
    int third = text.lastIndexOf(' ', fourth - 1);
    if (first < 0 || second <= first || third <= second) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new FeedLine(
              NameText.read(text.substring(0, first)),
              Long.parseLong(text, first + 1, second, 10),
              text.substring(second + 1, third),
              text.substring(third + 1, fourth),
              Long.parseLong(text, fourth + 1, text.length(), 10)));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }
}
