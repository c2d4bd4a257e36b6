package io.millrace.cluster.example;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A file of lines {@code LINE MEMBER-TOKEN FENCING-TOKEN}, of which the fencing tokens never go
 * back. LINE stands as it came, and may have blanks or be empty. Safe for use by any number of
 * threads and processes that share the object within each process.
 */
final class PortFile {
  private final LineFile file;
  private long largest;

  PortFile(Path file) {
    this.file = new LineFile(file, new Known());
  }

  /**
   * Appends a line.
   *
   * @param line without its end
   * @throws StaleFenceException where the file has a line with a larger fence
   */
  void append(String line, String token, long fence) throws IOException {
    file.append(() -> {
      if (fence < largest) {
        throw new StaleFenceException(
            "a line with fence %d comes after fence %d, and is refused".formatted(fence, largest));
      }
      return line + " " + token + " " + fence + "\n";
    });
  }

  private final class Known implements LineFile.Ledger {
    @Override
    public void clear() {
      largest = 0;
    }

    @Override
    public void read(String line) {
      String fence = line.substring(line.lastIndexOf(' ') + 1);
      try {
        largest = Math.max(largest, Long.parseLong(fence));
      } catch (NumberFormatException e) {
        // No line of ours.
      }
    }
  }
}
