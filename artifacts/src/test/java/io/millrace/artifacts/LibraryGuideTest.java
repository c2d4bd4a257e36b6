package io.millrace.artifacts;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
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
  private static final Path BOM = Path.of("..", "bom", "pom.xml");
  private static final Pattern PROGRAM =
      Pattern.compile("```java\\n(.*?)```\\s+```text\\n(.*?)```", Pattern.DOTALL);
  private static final Pattern NAME =
      Pattern.compile("^public final class (\\w+)", Pattern.MULTILINE);
  private static final Pattern PACKAGE = Pattern.compile("^package ([\\w.]+);", Pattern.MULTILINE);
  private static final Path JAVA_HOME = Path.of(System.getProperty("java.home"));

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
    install("pom.xml", "millrace", "pom");
    install("bom/pom.xml", "millrace-bom", "pom");
    for (String artifact : artifacts(Files.readString(BOM))) {
      String module = artifact.substring("millrace-".length());
      install(module + "/pom.xml", artifact, "pom");
      install(
          module + "/target/" + artifact + "-" + version(Files.readString(BOM)) + ".jar",
          artifact,
          "jar");
    }
    Path paths = project.resolve("class-path");
    maven("compile", "dependency:build-classpath", "-Dmdep.outputFile=" + paths);
    classPath = project.resolve("target/classes") + ":" + Files.readString(paths);
  }

  /** Copies a file of the build to where an installation puts it. */
  private static void install(String file, String artifact, String type) throws IOException {
    String version = version(Files.readString(BOM));
    Path folder =
        Files.createDirectories(
            project.resolve("repository/io/millrace").resolve(artifact).resolve(version));
    Files.copy(Path.of("..", file), folder.resolve(artifact + "-" + version + "." + type));
  }

  private static void maven(String... goals) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("maven.home"), "bin", "mvn").toString());
    command.addAll(List.of(goals));
    command.addAll(
        List.of(
            "-q",
            "-B",
            "-Dmaven.repo.local=" + project.resolve("repository"),
            "-Dmaven.repo.local.tail=" + System.getProperty("outer.repository"),
            "-Dmaven.repo.local.tail.ignoreAvailability=true"));
    assertThat(run(command)).isEmpty();
  }

  /** What a command prints, which must succeed. */
  private static String run(List<String> command) throws IOException, InterruptedException {
    Path output = project.resolve("output-" + System.nanoTime());
    Path errors = project.resolve("errors-" + System.nanoTime());
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(project.toFile())
            .redirectOutput(output.toFile())
            .redirectError(errors.toFile());
    builder.environment().put("JAVA_HOME", JAVA_HOME.toString());
    Process process = builder.start();
    try {
      boolean ended = process.waitFor(2, TimeUnit.MINUTES);
      assertThat(ended).as(Files.readString(errors)).isTrue();
      assertThat(process.exitValue())
          .as(Files.readString(output) + Files.readString(errors))
          .isZero();
      return Files.readString(output);
    } finally {
      process.destroyForcibly();
    }
  }

  @TestFactory
  Stream<DynamicTest> every_program_of_the_guide_prints_what_the_guide_shows() {
    return OUTPUTS.entrySet().stream()
        .map(program ->
            DynamicTest.dynamicTest(
                program.getKey(),
                () -> {
                  List<String> command =
                      List.of(
                          JAVA_HOME.resolve("bin/java").toString(),
                          "--enable-native-access=ALL-UNNAMED",
                          "-XX:TieredStopAtLevel=1",
                          "-Djava.io.tmpdir=" + project,
                          "-cp",
                          classPath,
                          program.getKey());
                  assertThat(run(command)).isEqualTo(program.getValue());
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
    String bom = Files.readString(BOM);
    assertThat(version(bom)).isEqualTo(version(root));
    assertThat(Files.readString(GUIDE)).contains("<version>" + version(root) + "</version>");
    List<String> programs = List.of("millrace-cli", "millrace-bench", "millrace-examples");
    assertThat(artifacts(bom))
        .containsExactlyInAnyOrderElementsOf(
            artifacts(root).stream().filter(name -> !programs.contains(name)).toList());
  }

  private static String version(String pom) {
    int from = pom.indexOf("<version>", pom.indexOf("<groupId>io.millrace")) + "<version>".length();
    return pom.substring(from, pom.indexOf('<', from));
  }

  private static List<String> artifacts(String pom) {
    String managed =
        pom.substring(
            pom.indexOf("<dependencyManagement>"), pom.indexOf("</dependencyManagement>"));
    return Pattern.compile("<artifactId>(millrace-[^<]+)")
        .matcher(managed)
        .results()
        .map(found -> found.group(1))
        .toList();
  }
}
