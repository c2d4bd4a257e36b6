package io.millrace.examples.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A file of {@link Line}s that contains each line of each followed file once. An append holds the
 * lock of the file. It is refused if its fence is smaller than an earlier one for the same followed
 * file, and leaves out lines that the file has already. So a follower may start again at an older
 * offset, and a late follower may still write. Safe for use by several processes, and by several
 * threads that share the object.
 */
final class FeedFile {
  private static final Map<Path, FeedFile> OPEN = new ConcurrentHashMap<>();

  private final LineFile output;
  private final Map<String, Progress> progress = new HashMap<>();

  /** The progress of a followed file: the offset of its last line, and its largest fence. */
  private record Progress(long offset, long fence) {
    Progress with(Line line) {
      return new Progress(Math.max(offset, line.offset()), Math.max(fence, line.fence()));
    }
  }

  FeedFile(Path output) {
    this.output = new LineFile(output, new ProgressReader());
  }

  /** The only instance for a file in this process, for lambdas, which cannot capture one. */
  static FeedFile at(Path file) {
    return OPEN.computeIfAbsent(file, FeedFile::new);
  }

  /**
   * Appends those lines that the file does not have yet.
   *
   * @param lines lines of one followed file, with the same fence, in order
   * @throws LineFile.StaleFenceException if that file has a line with a larger fence
   */
  void append(List<Line> lines) throws IOException {
    output.append(
        () -> lines.stream().filter(this::isNew).map(Line::text).collect(Collectors.joining()));
  }

  private boolean isNew(Line line) {
    Progress before = progress.get(line.file());
    if (before != null && before.fence() > line.fence()) {
      throw new LineFile.StaleFenceException(
          "'%s' at %d with fence %d comes after fence %d, and is refused"
              .formatted(line.file(), line.offset(), line.fence(), before.fence()));
    }
    return before == null || before.offset() < line.offset();
  }

  private final class ProgressReader implements LineFile.LineListener {
    @Override
    public void clear() {
      progress.clear();
    }

    @Override
    public void read(String text) {
      Line.read(text)
          .ifPresent(line -> progress.compute(line.file(), (_, before) -> after(before, line)));
    }

    private static Progress after(@Nullable Progress before, Line line) {
      return before == null ? new Progress(line.offset(), line.fence()) : before.with(line);
    }
  }

  /**
   * A line of a growing file, in the form of the output: {@code FILE OFFSET LINE MEMBER-TOKEN
   * FENCING-TOKEN}. In FILE, backslashes are doubled, a blank is {@code \s} and a line end {@code
   * \n}, so that it contains no blanks; LINE is unchanged, and may contain blanks or be empty.
   *
   * @param file the name of the file
   * @param offset the offset of the line in it, in bytes
   * @param line the line without its end
   * @param token the member that read it
   * @param fence the fencing token of that member
   */
  record Line(String file, long offset, String line, String token, long fence) {
    String text() {
      return "%s %d %s %s %d\n"
          .formatted(LineFile.NameEncoding.withoutBlanks(file), offset, line, token, fence);
    }

    /** Parses a line; empty if it has another form. */
    static Optional<Line> read(String text) {
      int first = text.indexOf(' ');
      int second = text.indexOf(' ', first + 1);
      int fourth = text.lastIndexOf(' ');
      int third = text.lastIndexOf(' ', fourth - 1);
      if (first < 0 || second <= first || third <= second) {
        return Optional.empty();
      }
      try {
        return Optional.of(
            new Line(
                LineFile.NameEncoding.read(text.substring(0, first)),
                Long.parseLong(text, first + 1, second, 10),
                text.substring(second + 1, third),
                text.substring(third + 1, fourth),
                Long.parseLong(text, fourth + 1, text.length(), 10)));
      } catch (NumberFormatException e) {
        return Optional.empty();
      }
    }
  }
}
