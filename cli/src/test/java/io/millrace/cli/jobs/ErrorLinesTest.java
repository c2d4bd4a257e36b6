package io.millrace.cli.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ErrorLinesTest {
  private final List<String> progress = new ArrayList<>();
  private final CommandHandler.ErrorLines lines =
      new CommandHandler.ErrorLines((percent, info) -> progress.add(percent + "|" + info));

  private void read(String text) throws IOException {
    lines.read(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void progress_has_a_percentage_a_text_or_both() throws IOException {
    read(
        """
        progress: 40 half done
        progress: 12.5 %
        progress:100%
        progress: reticulating splines
        progress: 3000 rows
        """);
    assertThat(progress)
        .containsExactly(
            "40.0|half done",
            "12.5|null",
            "100.0|null",
            "null|reticulating splines",
            "null|3000 rows");
    assertThat(lines.logs()).isEmpty();
    assertThat(lines.lastLine()).isEmpty();
  }

  @Test
  void all_other_lines_are_kept() throws IOException {
    read("wörk\r\nno progress: 5\nprogress:\n\nlast");
    assertThat(progress).isEmpty();
    assertThat(lines.logs()).isEqualTo("wörk\r\nno progress: 5\nprogress:\n\nlast\n");
    assertThat(lines.lastLine()).hasValue("last");
  }

  @Test
  void of_much_the_end_is_kept() throws IOException {
    read("x".repeat(1_000_000) + "\n" + "y\n".repeat(10_000));
    assertThat(lines.logs()).hasSize(64_000).endsWith("y\ny\n");
  }
}
