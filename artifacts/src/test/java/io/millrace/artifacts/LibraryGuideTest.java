package io.millrace.artifacts;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The programs of docs/library.md in a project of their own, which knows the libraries only by the
 * POM of that guide and a repository with the installed artifacts.
 */
class LibraryGuideTest {
  private static final Path GUIDE = Path.of("..", "docs", "library.md");
  private static final Pattern PROGRAM =
      Pattern.compile("```java\\n(.*?)```\\s+```text\\n(.*?)```", Pattern.DOTALL);
  private static final Pattern NAME =
      Pattern.compile("^public final class (\\w+)", Pattern.MULTILINE);
  private static final Pattern PACKAGE = Pattern.compile("^package ([\\w.]+);", Pattern.MULTILINE);

  @TempDir static Path project = Path.of("");

  private static final Map<String, String> OUTPUTS = new LinkedHashMap<>();
  private static String classPath = "";

  @BeforeAll
  static void compile() throws Exception {
    String guide = Files.readString(GUIDE);
    Path sources = Files.createDirectories(project.resolve("src/main/java"));
    for (Matcher program = PROGRAM.matcher(guide); program.find(); ) {
      Matcher name = NAME.matcher(program.group(1));
      assertThat(name.find()).as(program.group(1)).isTrue();
      Matcher located = PACKAGE.matcher(program.group(1));
      String whole = (located.find() ? located.group(1) + "." : "") + name.group(1);
      Path source = sources.resolve(whole.replace('.', '/') + ".java");
      Files.createDirectories(source.getParent());
      Files.writeString(source, program.group(1));
      OUTPUTS.put(whole, program.group(2));
    }
    int from = guide.indexOf("```xml\n") + "```xml\n".length();
    Files.writeString(
        project.resolve("pom.xml"), guide.substring(from, guide.indexOf("```", from)));
    classPath = new OutsideProject(project).compile();
  }

  @TestFactory
  Stream<DynamicTest> every_program_of_the_guide_prints_what_the_guide_shows() {
    return OUTPUTS.entrySet().stream()
        .map(program ->
            DynamicTest.dynamicTest(
                program.getKey(),
                () -> {
                  OutsideProject outside = new OutsideProject(project);
                  assertThat(outside.run(outside.java(classPath, program.getKey())))
                      .isEqualTo(program.getValue());
                }));
  }

  @Test
  void the_guide_has_a_program_for_each_part() throws IOException {
    long programs = Files.readString(GUIDE).lines().filter("```java"::equals).count();
    assertThat(OUTPUTS).hasSize((int) programs).hasSizeGreaterThanOrEqualTo(8);
  }

  @Test
  void the_bom_has_the_libraries_in_the_version_of_this_build() throws IOException {
    String root = Files.readString(Path.of("..", "pom.xml"));
    String bom = OutsideProject.bom();
    assertThat(OutsideProject.version(bom)).isEqualTo(OutsideProject.version(root));
    assertThat(Files.readString(GUIDE))
        .contains("<version>" + OutsideProject.version(root) + "</version>");
    List<String> programs = List.of("millrace-cli", "millrace-bench", "millrace-examples");
    assertThat(OutsideProject.artifacts(bom))
        .containsExactlyInAnyOrderElementsOf(
            OutsideProject.artifacts(root).stream()
                .filter(name -> !programs.contains(name))
                .toList());
  }
}
