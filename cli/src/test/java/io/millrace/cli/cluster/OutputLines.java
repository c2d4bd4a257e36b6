package io.millrace.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The lines that members have appended. */
final class OutputLines {
  private final Path file;

  OutputLines(Path file) {
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

  /** The names in them. */
  Set<String> names() throws IOException {
    return read().stream().map(Line::name).collect(Collectors.toSet());
  }

  /** Every file has a line, all hashes are right, and fences of a name grow. */
  void check(ClusterFixture site) throws IOException {
    Map<String, Long> fences = new HashMap<>();
    for (Line line : read()) {
      assertThat(line.hash()).as(line.name()).isEqualTo(sha256(site.content(line.name())));
      Long before = fences.put(line.name(), line.fence());
      assertThat(before == null || before < line.fence())
          .as("the fence of %s grows from %s to %s", line.name(), before, line.fence())
          .isTrue();
    }
    assertThat(fences).hasSize(site.files());
  }

  private static String sha256(String text) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
