package io.millrace.cli.graph.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Checks that the guide to graph files is correct and complete. */
class GuideTest {
  private static final Path GUIDE = Path.of("../docs/graph-files.md");

  @Test
  void every_example_is_a_graph_file() throws IOException {
    List<String> examples =
        Pattern.compile("```yaml[^\n]*\n(.*?)```", Pattern.DOTALL)
            .matcher(Files.readString(GUIDE))
            .results()
            .map(example -> example.group(1))
            .toList();
    assertThat(examples).hasSize(2);
    for (String example : examples) {
      assertThat(GraphFile.read(example, Path.of("/")).nodes()).hasSize(6);
    }
  }

  @Test
  void every_key_and_type_is_named() throws IOException {
    String guide = Files.readString(GUIDE);
    assertThat(TypeKeys.allInputs()).allMatch(key -> guide.contains("`" + key + "`"));
    assertThat(TypeKeys.types()).allMatch(type -> guide.contains("`" + type + "`"));
  }
}
