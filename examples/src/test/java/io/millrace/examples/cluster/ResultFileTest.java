package io.millrace.examples.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ResultFileTest {
  private final Path path;
  private final ResultFile file;

  ResultFileTest(@TempDir Path folder) {
    path = folder.resolve("lines");
    file = new ResultFile(path);
  }

  @Test
  void a_line_with_a_larger_fence_is_appended_and_one_with_the_same_or_a_smaller_fence_is_refused()
      throws IOException {
    file.append(new ResultFile.Line("a", "00", "t", 5));
    file.append(new ResultFile.Line("b", "11", "t", 3));
    file.append(new ResultFile.Line("a", "00", "u", 6));
    for (long fence : new long[] {6, 5, 1}) {
      assertThatThrownBy(() -> file.append(new ResultFile.Line("a", "00", "v", fence)))
          .isInstanceOf(LineFile.StaleFenceException.class)
          .hasMessageStartingWith("'a' with fence " + fence + " comes after fence ");
    }
    assertThat(path).hasContent("a 00 t 5\nb 11 t 3\na 00 u 6\n");
  }

  @Test
  void names_may_have_spaces_backslashes_and_line_ends() throws IOException {
    String name = "a b\\n\nc ";
    file.append(new ResultFile.Line(name, "00", "t", 5));
    assertThat(path).hasContent("a b\\\\n\\nc  00 t 5\n");
    assertThat(ResultFile.Line.read(Files.readString(path).strip()))
        .contains(new ResultFile.Line(name, "00", "t", 5));
    assertThatThrownBy(() -> file.append(new ResultFile.Line(name, "00", "t", 4)))
        .isInstanceOf(LineFile.StaleFenceException.class);
  }

  @Test
  void an_incomplete_line_of_a_killed_writer_is_overwritten() throws IOException {
    file.append(new ResultFile.Line("ä", "00", "t", 5));
    Files.writeString(path, "b 11 t", StandardOpenOption.APPEND);
    file.append(new ResultFile.Line("c", "22", "t", 6));
    assertThat(path).hasContent("ä 00 t 5\nc 22 t 6\n");
  }

  @Test
  void other_lines_are_ignored() throws IOException {
    Files.writeString(path, "a\n\nb c x\n");
    file.append(new ResultFile.Line("a", "00", "t", 5));
    assertThat(path).hasContent("a\n\nb c x\na 00 t 5\n");
  }
}
