package io.millrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The Java in README and guides can be compiled: whole classes by themselves, and fragments in
 * frames with the imports and variables that a page leaves to its reader ({@code
 * documents/frames/PAGE-NUMBER}).
 */
final class DocumentedProgramsTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern PROGRAM =
      Pattern.compile("^ *```java\n(.*?)^ *```", Pattern.DOTALL | Pattern.MULTILINE);
  private static final Pattern NAME = Pattern.compile("(?m)^public (?:final )?class (\\w+)");

  /** Run by LibraryGuideTest, and compiled by SpringGuideTest. */
  private static final Set<String> TESTED_ELSEWHERE = Set.of("library.md", "spring.md");

  static List<Path> pages() throws IOException {
    try (Stream<Path> guides = Files.list(ROOT.resolve("docs"))) {
      return Stream.concat(Stream.of(ROOT.resolve("README.md")), guides.sorted())
          .filter(page -> page.toString().endsWith(".md"))
          .filter(page -> !TESTED_ELSEWHERE.contains(page.getFileName().toString()))
          .filter(page -> read(page).contains("```java"))
          .toList();
    }
  }

  private static String read(Path page) {
    try {
      return Files.readString(page);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @ParameterizedTest
  @MethodSource("pages")
  void the_java_of_a_page_can_be_compiled(Path page, @TempDir Path folder) throws Exception {
    int fragments = 0;
    for (MatchResult program : PROGRAM.matcher(read(page)).results().toList()) {
      Matcher name = NAME.matcher(program.group(1));
      if (name.find()) {
        compile(page, folder, name.group(1), program.group(1));
      } else {
        fragments++;
        String frame = page.getFileName() + "-" + fragments;
        // An ellipsis stands for what a reader writes there.
        compile(page, folder, "Frame", frame(frame).formatted(program.group(1).replace("…", "")));
      }
    }
    // No frame is left of a fragment that is gone.
    assertThat(resource(page.getFileName() + "-" + (fragments + 1))).isNull();
  }

  private static String frame(String name) throws IOException {
    try (InputStream in = Objects.requireNonNull(resource(name), "documents/frames/" + name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static @Nullable InputStream resource(String name) {
    return DocumentedProgramsTest.class.getResourceAsStream("documents/frames/" + name);
  }

  private static void compile(Path page, Path folder, String name, String program)
      throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    Path source = Files.writeString(folder.resolve(name + ".java"), program);
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
      assertThat(compiled).as("%s in %s:%n%s", name, page.getFileName(), said).isTrue();
    }
  }
}
