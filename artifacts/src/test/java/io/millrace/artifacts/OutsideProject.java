package io.millrace.artifacts;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A Maven project outside this build, which knows the libraries only by its POM and a repository
 * with the installed artifacts.
 *
 * @param folder where its {@code pom.xml} and its sources are
 */
record OutsideProject(Path folder) {
  private static final Path GUIDE = Path.of("..", "docs", "library.md");
  private static final Pattern INSTALLATION =
      Pattern.compile("^\\./mvnw .*install .*-pl (\\S+) -am$", Pattern.MULTILINE);
  private static final Path BOM = Path.of("..", "bom", "pom.xml");
  private static final Path JAVA_HOME = Path.of(System.getProperty("java.home"));

  /** What the libraries are installed into, once for all projects of this JVM. */
  private static final Path REPOSITORY = Path.of("target", "repository").toAbsolutePath();

  private static boolean installed;

  /** What manages the versions of all libraries. */
  static String bom() throws IOException {
    return Files.readString(BOM);
  }

  /** The version that a POM has, or manages first. */
  static String version(String pom) {
    int from = pom.indexOf("<version>", pom.indexOf("<groupId>io.millrace")) + "<version>".length();
    return pom.substring(from, pom.indexOf('<', from));
  }

  /** The artifacts that a POM manages. */
  static List<String> artifacts(String pom) {
    String managed =
        pom.substring(
            pom.indexOf("<dependencyManagement>"), pom.indexOf("</dependencyManagement>"));
    return Pattern.compile("<artifactId>(millrace-[^<]+)")
        .matcher(managed)
        .results()
        .map(found -> found.group(1))
        .toList();
  }

  /**
   * Installs the libraries and compiles it, as its developer does.
   *
   * @return its class path
   */
  String compile() throws IOException, InterruptedException {
    if (!installed) {
      install();
      installed = true;
    }
    Path paths = folder.resolve("class-path");
    assertThat(run(maven("compile", "dependency:build-classpath", "-Dmdep.outputFile=" + paths)))
        .isEmpty();
    return folder.resolve("target/classes") + ":" + Files.readString(paths);
  }

  /**
   * Installs what the command of the guide installs. What this build has made is not made again,
   * and of the phase {@code install} only the installation itself is done: documentation and
   * signatures take long.
   */
  private void install() throws IOException, InterruptedException {
    Matcher command = INSTALLATION.matcher(Files.readString(GUIDE));
    assertThat(command.find()).isTrue();
    List<String> install =
        maven(
            "-f",
            Path.of("..").toRealPath().toString(),
            "package",
            "install:install@install",
            "-Dmaven.main.skip",
            "-Dmaven.resources.skip",
            "-Dmaven.test.skip",
            "-Dmaven.source.skip",
            "-Dexec.skip",
            "-am",
            "-pl",
            command.group(1));
    assertThat(run(install)).isEmpty();
  }

  /** Maven with a repository of its own, which has what that of this build has too. */
  private List<String> maven(String... arguments) {
    return Stream.concat(
            Stream.of(
                Path.of(System.getProperty("maven.home"), "bin", "mvn").toString(),
                "-q",
                "-B",
                "-Dmaven.repo.local=" + REPOSITORY,
                "-Dmaven.repo.local.tail=" + System.getProperty("outer.repository"),
                "-Dmaven.repo.local.tail.ignoreAvailability=true"),
            Stream.of(arguments))
        .toList();
  }

  /** The command that runs a program of it. */
  List<String> java(String classPath, String... programAndArguments) {
    return Stream.concat(
            Stream.of(
                JAVA_HOME.resolve("bin/java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-Djava.io.tmpdir=" + folder,
                "-cp",
                classPath),
            Stream.of(programAndArguments))
        .toList();
  }

  /** What a command prints, which must succeed. */
  String run(List<String> command) throws IOException, InterruptedException {
    Path output = folder.resolve("output-" + System.nanoTime());
    Path errors = folder.resolve("errors-" + System.nanoTime());
    Process process = start(command, output, errors);
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

  /** Starts a command in its folder. */
  Process start(List<String> command, Path output, Path errors) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectOutput(output.toFile())
            .redirectError(errors.toFile());
    builder.environment().put("JAVA_HOME", JAVA_HOME.toString());
    // Maven ends before the larger compiler has paid.
    builder.environment().put("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
    return builder.start();
  }
}
