package io.millrace.cluster.example;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A file of {@link ResultLine}s, of which each name has one more with a larger fence at most. Safe
 * for use by any number of threads and processes that share the object within each process.
 */
final class ResultFile {
  private static final Map<Path, ResultFile> OPEN = new ConcurrentHashMap<>();

  private final LineFile file;
  private final Map<String, Long> fences = new HashMap<>();

  ResultFile(Path file) {
    this.file = new LineFile(file, new Known());
  }

  /** The one object of this process for a file, for lambdas, which bring nothing of the kind. */
  static ResultFile at(Path file) {
    return OPEN.computeIfAbsent(file, ResultFile::new);
  }

  /**
   * Appends a line.
   *
   * @throws StaleFenceException where the file has a line of the same name with the same or a
   *     larger fence
   */
  void append(ResultLine line) throws IOException {
    file.append(() -> {
      Long known = fences.get(line.name());
      if (known != null && known >= line.fence()) {
        throw new StaleFenceException(
            "'%s' with fence %d comes after fence %d, and is refused"
                .formatted(line.name(), line.fence(), known));
      }
      return line.text();
    });
  }

  private final class Known implements LineFile.Ledger {
    @Override
    public void clear() {
      fences.clear();
    }

    @Override
    public void read(String text) {
      ResultLine.read(text).ifPresent(line -> fences.merge(line.name(), line.fence(), Math::max));
    }
  }
}
