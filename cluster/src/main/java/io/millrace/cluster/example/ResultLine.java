package io.millrace.cluster.example;

import java.util.Optional;

/**
 * A line of results: {@code NAME HASH MEMBER-TOKEN FENCING-TOKEN}. In a name, backslashes are
 * doubled and a line end is written as {@code \n}; it may have spaces, the other three have none.
 *
 * @param name the file's name
 * @param hash its SHA-256 in hexadecimal digits
 * @param token the member that hashed it
 * @param fence the fencing token with which that was done
 */
record ResultLine(String name, String hash, String token, long fence) {
  String text() {
    return NameText.of(name) + " " + hash + " " + token + " " + fence + "\n";
  }

  /** Reads a line; empty where it is none. */
  static Optional<ResultLine> read(String line) {
    int third = line.lastIndexOf(' ');
    int second = line.lastIndexOf(' ', third - 1);
    int first = line.lastIndexOf(' ', second - 1);
    if (first < 0) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new ResultLine(
              NameText.read(line.substring(0, first)),
              line.substring(first + 1, second),
              line.substring(second + 1, third),
              Long.parseLong(line, third + 1, line.length(), 10)));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }
}
