package io.millrace.examples.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A file of {@link Line}s; a line is refused unless its fence is larger than that of every earlier
 * line of the same name. Safe for use by several processes, and by several threads that share the
 * object.
 */
final class ResultFile {
  private static final Map<Path, ResultFile> OPEN = new ConcurrentHashMap<>();

  private final LineFile file;
  private final Map<String, Long> fences = new HashMap<>();

  ResultFile(Path file) {
    this.file = new LineFile(file, new FenceReader());
  }

  /** The only instance for a file in this process, for lambdas, which cannot capture one. */
  static ResultFile at(Path file) {
    return OPEN.computeIfAbsent(file, ResultFile::new);
  }

  /**
   * Appends a line.
   *
   * @throws LineFile.StaleFenceException if the file has a line of the same name with the same or a
   *     larger fence
   */
  void append(Line line) throws IOException {
    file.append(() -> {
      Long known = fences.get(line.name());
      if (known != null && known >= line.fence()) {
        throw new LineFile.StaleFenceException(
            "'%s' with fence %d comes after fence %d, and is refused"
                .formatted(line.name(), line.fence(), known));
      }
      return line.text();
    });
  }

  private final class FenceReader implements LineFile.LineListener {
    @Override
    public void clear() {
      fences.clear();
    }

    @Override
    public void read(String text) {
      Line.read(text).ifPresent(line -> fences.merge(line.name(), line.fence(), Math::max));
    }
  }

  /**
   * A line of results: {@code NAME HASH MEMBER-TOKEN FENCING-TOKEN}. In a name, backslashes are
   * doubled and a line end is written as {@code \n}; it may contain spaces; the other three fields
   * contain none.
   *
   * @param name the file's name
   * @param hash its SHA-256 in hexadecimal digits
   * @param token the member that hashed it
   * @param fence the fencing token of that member
   */
  record Line(String name, String hash, String token, long fence) {
    String text() {
      return LineFile.NameEncoding.of(name) + " " + hash + " " + token + " " + fence + "\n";
    }

    /** Parses a line; empty if it has another form. */
    static Optional<Line> read(String line) {
      int third = line.lastIndexOf(' ');
      int second = line.lastIndexOf(' ', third - 1);
      int first = line.lastIndexOf(' ', second - 1);
      if (first < 0) {
        return Optional.empty();
      }
      try {
        return Optional.of(
            new Line(
                LineFile.NameEncoding.read(line.substring(0, first)),
                line.substring(first + 1, second),
                line.substring(second + 1, third),
                Long.parseLong(line, third + 1, line.length(), 10)));
      } catch (NumberFormatException e) {
        return Optional.empty();
      }
    }
  }
}
