package io.millrace.cli.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.millrace.cli.queues.Program;
import io.millrace.http.transport.Certificates;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/**
 * The Python package, from its wheel, against running servers. Skipped where there is no Python.
 */
final class PythonPackageTest {
  private static final Path SOURCES = Path.of("..", "python").toAbsolutePath().normalize();
  private static final Path GUIDE = Path.of("..", "docs", "python.md");

  /** A program of the guide, and what it prints. */
  private static final Pattern EXAMPLE =
      Pattern.compile("```python\n(.*?)```(?:\n\n```output\n(.*?)```)?", Pattern.DOTALL);

  /** A setting in the command of the guide that starts a server. */
  private static final Pattern SETTING = Pattern.compile("--set (jobs\\S+)");

  private static final JsonMapper JSON = new JsonMapper();

  @TempDir Path folder;
  private Path file;
  private Path wheel;

  @BeforeEach
  void the_wheel_is_built_and_unpacked() throws Exception {
    assumeThat(isInstalled("python3")).as("python3 is installed").isTrue();
    Path built = folder.resolve("dist");
    run("python3", SOURCES.resolve("build_wheel.py").toString(), built.toString());
    wheel = Files.createDirectory(folder.resolve("wheel"));
    try (var files = Files.list(built)) {
      file = files.toList().getFirst();
    }
    unpack(file, wheel);
  }

  @Test
  void its_tests_pass() throws Exception {
    Path work = Files.createDirectory(folder.resolve("work"));
    // Beside the sources, Python would find these. What is tested is the wheel.
    Path tests = Files.createDirectory(folder.resolve("only"));
    copy(SOURCES.resolve("tests"), Files.createDirectory(tests.resolve("tests")));
    ProcessBuilder python = python(tests, "-m", "unittest", "discover", "-s", "tests", "-t", ".");
    python.environment().put("MILLRACE_TEST_FOLDER", work.toString());
    Path made = Files.createDirectory(folder.resolve("certificates"));
    Certificates certificates = new Certificates(made);
    certificates.makeAuthority("authority");
    certificates.makeSigned("server", "authority");
    certificates.key("server");
    python.environment().put("MILLRACE_TEST_CERTIFICATES", made.toString());
    python
        .environment()
        .put("MILLRACE_TEST_SERVER", JSON.writeValueAsString(Program.serverCommand()));
    try {
      String said = printed(python);
      assertThat(said).contains("\nOK").doesNotContain("skipped");
    } finally {
      Program.killAll(work);
    }
  }

  @Test
  void pip_installs_the_wheel_without_an_index() throws Exception {
    Path python = installed();
    assumeThat(python).as("python3 has venv (Debian: python3-venv)").isNotNull();
    String inside = "import millrace, os; print(os.path.dirname(millrace.__file__))";
    assertThat(printed(isolated(python, "-c", inside)))
        .contains(folder.resolve("environment").toString());
    assertThat(printed(isolated(python, "-m", "pip", "check"))).contains("No broken requirements");
    String _ = printed(isolated(python, "-m", "pip", "uninstall", "-y", "millrace"));
    assertThat(isolated(python, "-c", inside).start().waitFor()).isNotZero();
  }

  /** A Python of a new environment into which the wheel was installed; null if it has no venv. */
  private @Nullable Path installed() throws Exception {
    Path environment = folder.resolve("environment");
    Path log = folder.resolve("venv.log");
    Process venv =
        new ProcessBuilder("python3", "-m", "venv", environment.toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    if (venv.waitFor() != 0) {
      return null;
    }
    Path python = environment.resolve("bin/python");
    String _ = printed(isolated(python, "-m", "pip", "install", "--no-index", file.toString()));
    return python;
  }

  private ProcessBuilder isolated(Path python, String... arguments) {
    ProcessBuilder builder = python(folder, arguments);
    builder.command().set(0, python.toString());
    builder.environment().remove("PYTHONPATH");
    builder.environment().put("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    return builder;
  }

  @Test
  void every_program_of_the_guide_prints_what_it_shows() throws Exception {
    String guide = Files.readString(GUIDE);
    List<String> arguments = new ArrayList<>(List.of("up", "--port", "0", "--data"));
    arguments.add(folder.resolve("data").toString());
    for (MatchResult setting : SETTING.matcher(guide).results().toList()) {
      arguments.addAll(List.of("--set", setting.group(1)));
    }
    Program.Ready server = Program.startReady(folder.resolve("server.log"), arguments);
    try {
      Matcher address = Pattern.compile("http://127\\.0\\.0\\.1:\\d+").matcher(server.line());
      assertThat(address.find()).as(server.line()).isTrue();
      int programs = 0;
      Path installed = installed();
      for (MatchResult example : EXAMPLE.matcher(guide).results().toList()) {
        ProcessBuilder python =
            installed == null
                ? python(folder, "-c", example.group(1))
                : isolated(installed, "-c", example.group(1));
        python.environment().put("MILLRACE_SERVER", address.group());
        assertThat(printed(python)).as(example.group(1)).isEqualTo(example.group(2));
        programs++;
      }
      assertThat(programs).isGreaterThan(5);
    } finally {
      server.program().stop();
    }
  }

  @Test
  void its_types_are_checked() throws Exception {
    assumeThat(isInstalled("mypy")).as("mypy is installed").isTrue();
    ProcessBuilder mypy = new ProcessBuilder("mypy", "--strict", "--python-version", "3.9");
    mypy.command().addAll(List.of("--cache-dir", folder.resolve("cache").toString()));
    mypy.command().addAll(List.of("millrace", "tests", "build_wheel.py"));
    assertThat(printed(mypy.directory(SOURCES.toFile()))).contains("Success");
  }

  private ProcessBuilder python(Path directory, String... arguments) {
    ProcessBuilder python = new ProcessBuilder("python3", "-W", "error::SyntaxWarning");
    python.command().addAll(List.of(arguments));
    python.environment().keySet().removeIf(name -> name.startsWith("MILLRACE_"));
    python.environment().put("PYTHONPATH", wheel.toString());
    python.environment().put("PYTHONDONTWRITEBYTECODE", "1");
    python.environment().put("PYTHONIOENCODING", "utf-8");
    return python.directory(directory.toFile());
  }

  private static boolean isInstalled(String program) throws InterruptedException {
    try {
      return new ProcessBuilder(program, "--version")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private void run(String... command) throws Exception {
    String _ = printed(new ProcessBuilder(command).directory(folder.toFile()));
  }

  /** Everything that a command prints. It has to succeed. */
  private String printed(ProcessBuilder builder) throws Exception {
    // A file, since a pipe would stay open while anything lives that the command has started.
    Path output = Files.createTempFile(folder, "printed", "");
    Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    process.getOutputStream().close();
    boolean ended = process.waitFor(9, TimeUnit.MINUTES);
    if (!ended) {
      process.destroyForcibly();
    }
    String printed = Files.readString(output);
    assertThat(ended).as("%s ends:%n%s", builder.command(), printed).isTrue();
    assertThat(process.exitValue()).as("%s%n%s", builder.command(), printed).isZero();
    return printed;
  }

  private static void copy(Path from, Path to) throws IOException {
    try (var files = Files.list(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Files.copy(file, to.resolve(file.getFileName()));
      }
    }
  }

  private static void unpack(Path archive, Path to) throws IOException {
    try (InputStream in = Files.newInputStream(archive);
        ZipInputStream zip = new ZipInputStream(in)) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        Path file = to.resolve(entry.getName()).normalize();
        assertThat(file).startsWithRaw(to);
        Files.createDirectories(file.getParent());
        Files.copy(zip, file);
      }
    }
  }
}
