package io.millrace.cli.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The lines that members have appended. */
final class Lines {
  private final Path file;

  Lines(Path file) {
    this.file = file;
  }

  /** One of them. */
  record Line(String name, String hash, String token, long fence) {
    private static Line read(String text) {
      String[] fields = text.split(" ", -1);
      if (fields.length != 4) {
        throw new AssertionError("no line of results: " + text);
      }
      return new Line(fields[0], fields[1], fields[2], Long.parseLong(fields[3]));
    }
  }

  /** All whole lines, in order. */
  List<Line> read() throws IOException {
    if (!Files.exists(file)) {
      return List.of();
    }
    String text = Files.readString(file, StandardCharsets.UTF_8);
    return text.substring(0, text.lastIndexOf('\n') + 1).lines().map(Line::read).toList();
  }
}
