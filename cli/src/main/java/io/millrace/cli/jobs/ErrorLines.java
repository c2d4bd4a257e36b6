package io.millrace.cli.jobs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a command writes to standard error: lines of progress, and all others, of which the last
 * characters are kept.
 */
final class ErrorLines {
  private static final Pattern PROGRESS = Pattern.compile("progress:\\s*(.*)");
  private static final Pattern PERCENT =
      Pattern.compile("(\\d{1,3}(?:\\.\\d{1,9})?)\\s*%?(?:\\s+(.*))?");

  /** What a server keeps of the logs of a failure. */
  private static final int MOST_KEPT = 64_000;

  /** A line that is longer counts as several. */
  private static final int LONGEST_LINE = 16 << 10;

  private final BiConsumer<@Nullable Double, @Nullable String> progress;
  private final StringBuilder kept = new StringBuilder();
  private String lastLine = "";

  /**
   * Nothing read yet.
   *
   * @param progress takes percent and text of each line of progress; one of them may be null
   */
  ErrorLines(BiConsumer<@Nullable Double, @Nullable String> progress) {
    this.progress = progress;
  }

  /** Reads a stream to its end. */
  void read(InputStream stream) throws IOException {
    byte[] line = new byte[LONGEST_LINE];
    byte[] buffer = new byte[8 << 10];
    int length = 0;
    for (int count = stream.read(buffer); count >= 0; count = stream.read(buffer)) {
      for (int i = 0; i < count; i++) {
        if (buffer[i] == '\n' || length == line.length) {
          take(line, length);
          length = 0;
        }
        if (buffer[i] != '\n') {
          line[length++] = buffer[i];
        }
      }
    }
    if (length > 0) {
      take(line, length);
    }
  }

  private void take(byte[] bytes, int length) {
    String line = new String(bytes, 0, length, StandardCharsets.UTF_8);
    Matcher marked = PROGRESS.matcher(line.strip());
    if (marked.matches() && !marked.group(1).isEmpty()) {
      advance(marked.group(1));
    } else {
      keep(line);
    }
  }

  private void advance(String told) {
    Matcher form = PERCENT.matcher(told);
    if (form.matches() && Double.parseDouble(form.group(1)) <= 100) {
      progress.accept(Double.parseDouble(form.group(1)), form.group(2));
    } else {
      progress.accept(null, told);
    }
  }

  private synchronized void keep(String line) {
    kept.append(line).append('\n');
    if (kept.length() > 2 * MOST_KEPT) {
      kept.delete(0, kept.length() - MOST_KEPT);
    }
    if (!line.isBlank()) {
      lastLine = line.strip();
    }
  }

  /** The last lines that are no progress, at most 64,000 characters. */
  synchronized String logs() {
    return kept.substring(Math.max(0, kept.length() - MOST_KEPT));
  }

  /** The last line that says something and is no progress. */
  synchronized Optional<String> lastLine() {
    return lastLine.isEmpty() ? Optional.empty() : Optional.of(lastLine);
  }
}
