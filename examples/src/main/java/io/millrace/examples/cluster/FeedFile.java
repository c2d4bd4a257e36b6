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
 * A file of {@link Line}s that has each line of each followed file once. Under the lock of the file
 * an append is refused whose fence is smaller than one that the same followed file had before, and
 * lines are left out that do not lie behind all that is there of it. So it does not matter how
 * often a follower begins again at an older offset, nor whether a late one still writes. Safe for
 * use by any number of threads and processes that share the object within each process.
 */
final class FeedFile {
  private static final Map<Path, FeedFile> OPEN = new ConcurrentHashMap<>();

  private final LineFile output;
  private final Map<String, Progress> progress = new HashMap<>();

  /** How far a followed file is: where its last line begins, and its largest fence. */
  private record Progress(long offset, long fence) {
    Progress with(Line line) {
      return new Progress(Math.max(offset, line.offset()), Math.max(fence, line.fence()));
    }
  }

  FeedFile(Path output) {
    this.output = new LineFile(output, new Known());
  }

  /** The one object of this process for a file, for lambdas, which bring nothing of the kind. */
  static FeedFile at(Path file) {
    return OPEN.computeIfAbsent(file, FeedFile::new);
  }

  /**
   * Appends what is not there yet.
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

  private final class Known implements LineFile.Ledger {
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
  record Line(String file, long offset, String line, String token, long fence) {
    String text() {
      return "%s %d %s %s %d\n"
          .formatted(LineFile.NameText.withoutBlanks(file), offset, line, token, fence);
    }

    /** Reads a line; empty if it is none. */
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
                LineFile.NameText.read(text.substring(0, first)),
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
