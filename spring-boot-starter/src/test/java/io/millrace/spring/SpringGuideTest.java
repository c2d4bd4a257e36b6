package io.millrace.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The programs of docs/spring.md can be compiled, with what each leaves to its reader. */
class SpringGuideTest {
  private static final Pattern PROGRAM = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

  @Test
  void the_programs_of_the_guide_can_be_compiled(@TempDir Path folder) throws Exception {
    List<String> programs =
        PROGRAM
            .matcher(Files.readString(Path.of("../docs/spring.md")))
            .results()
            .map(program -> program.group(1))
            .toList();
    assertThat(programs).hasSize(2);
    Path source = folder.resolve("Application.java");
    Files.writeString(
        source,
        """
        import io.millrace.client.jobs.*;
        import io.millrace.spring.*;
        import io.millrace.spring.outbox.*;
        import org.springframework.stereotype.Component;
        import org.springframework.transaction.annotation.Transactional;

        %s

        interface Letters {
          void save(Letter letter);
        }

        class Orders {
          Letters letters;
          JobOutbox outbox;

          %s
        }
        """
            .formatted(programs.getFirst(), programs.getLast()));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter said = new StringWriter();
    try (var files = compiler.getStandardFileManager(null, null, null)) {
      List<String> options = List.of("-proc:none", "-d", folder.toString());
      boolean compiled =
          compiler
              .getTask(said, files, null, options, null, files.getJavaFileObjects(source))
              .call();
      assertThat(compiled).as(said.toString()).isTrue();
    }
  }
}
