package io.millrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The classes that guides show can be compiled. Those of library.md are run too, by
 * LibraryGuideTest, and those of spring.md are compiled by SpringGuideTest.
 */
final class DocumentedProgramsTest {
  private static final Pattern PROGRAM = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
  private static final Pattern NAME = Pattern.compile("(?m)^public (?:final )?class (\\w+)");

  @ParameterizedTest
  @ValueSource(strings = {"cluster.md", "jobs.md", "plugins.md"})
  void every_class_of_a_guide_can_be_compiled(String page, @TempDir Path folder) throws Exception {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    String guide = Files.readString(Path.of("../docs", page));
    int classes = 0;
    for (MatchResult program : PROGRAM.matcher(guide).results().toList()) {
      Matcher name = NAME.matcher(program.group(1));
      if (!name.find()) {
        continue;
      }
      Path source = folder.resolve(name.group(1) + ".java");
      Files.writeString(source, program.group(1));
      StringWriter said = new StringWriter();
      try (var files = compiler.getStandardFileManager(null, null, null)) {
        boolean compiled =
            compiler
                .getTask(
                    said,
                    files,
                    null,
                    List.of("-proc:none", "-d", folder.toString()),
                    null,
                    files.getJavaFileObjects(source))
                .call();
        assertThat(compiled).as("%s in %s:%n%s", name.group(1), page, said).isTrue();
      }
      classes++;
    }
    assertThat(classes).isPositive();
  }
}
