package io.millrace.cli.queues;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** The built program, in a process of its own. */
public final class Program {
  /** The exit code of a process that was ended by signal 9. */
  private static final int KILLED = 128 + 9;

  /** The same for signal 15, which ends a program that does not handle it yet. */
  private static final int TERMINATED = 128 + 15;

  /** The distribution, which the build makes before it runs the tests. */
  private static final Path BUILT = Path.of("target", "millrace").toAbsolutePath();

  /** The JVM flags by kind of process. */
  private static final Map<String, List<String>> OPTIONS = new ConcurrentHashMap<>();

  private final Process process;

  private Program(Process process) {
    this.process = process;
  }

  private static ProcessBuilder builder(Path errors, List<String> flags, List<String> arguments) {
    String cache = arguments.getFirst().equals("up") ? "server" : "command";
    return new ProcessBuilder(command(options("command", cache), more(flags), arguments))
        .directory(errors.resolveSibling(".").normalize().toFile())
        .redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()));
  }

  private static List<String> more(List<String> flags) {
    // Processes of tests end before the larger compiler has paid.
    List<String> more = new ArrayList<>(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1"));
    more.addAll(flags);
    // It logs as it does for users. The tests themselves log differently.
    more.add("-Dlogback.configurationFile=logback.xml");
    more.add("-Dmillrace.runner=" + String.join("\n", options("runner")));
    return more;
  }

  /** The command line of a server, without {@code up} and its arguments. */
  public static List<String> serverCommand() {
    return command(options("command", "server"), more(List.of()), List.of());
  }

  /** The command line of a task runner, without its arguments. */
  public static List<String> runner() {
    return command(options("runner"), List.of(), List.of("runner"));
  }

  private static List<String> command(
      List<String> options, List<String> more, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(more);
    command.addAll(List.of("-cp", BUILT.resolve("lib", "millrace-cli.jar").toString()));
    command.add("io.millrace.cli.Millrace");
    command.addAll(arguments);
    return command;
  }

  private static List<String> options(String kind) {
    return options(kind, kind);
  }

  /**
   * The JVM flags of a kind of process, with a class cache that was made for them or compatible.
   */
  private static List<String> options(String kind, String cache) {
    List<String> options = new ArrayList<>(OPTIONS.computeIfAbsent(kind, Program::read));
    options.add("-XX:AOTCache=" + BUILT.resolve(cache + ".aot"));
    return options;
  }

  private static List<String> read(String kind) {
    Path file = BUILT.resolve("../../../build/java-options").normalize();
    String script = ". '%s'; printf '%%s\\n' \"${%s_options[@]}\"".formatted(file, kind);
    try {
      Process bash = new ProcessBuilder("bash", "-c", script).start();
      List<String> options = bash.inputReader().readAllLines();
      assertThat(bash.waitFor()).as("%s", file).isZero();
      return options;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted", e);
    }
  }

  /** Starts a command whose output is appended to a file. */
  public static Program start(Path words, List<String> arguments) throws IOException {
    return start(words, Map.of(), arguments);
  }

  /** The same with additional environment variables. */
  public static Program start(Path words, Map<String, String> environment, List<String> arguments)
      throws IOException {
    ProcessBuilder builder = builder(words, List.of(), arguments);
    builder.environment().putAll(environment);
    return new Program(
        builder.redirectOutput(ProcessBuilder.Redirect.appendTo(words.toFile())).start());
  }

  /**
   * A command that has printed its first line.
   *
   * @param line the first line
   * @param output what it prints afterwards
   */
  public record Ready(Program program, String line, BufferedReader output) {}

  /** Starts a command that prints one line when it is ready, and waits for that line. */
  public static Ready startReady(Path errors, List<String> arguments) throws IOException {
    return startReady(errors, List.of(), arguments);
  }

  /** The same with additional JVM flags. */
  public static Ready startReady(Path errors, List<String> flags, List<String> arguments)
      throws IOException {
    return ready(builder(errors, flags, arguments), errors);
  }

  /** The same with additional environment variables. */
  public static Ready startReady(
      Path errors, Map<String, String> environment, List<String> arguments) throws IOException {
    ProcessBuilder builder = builder(errors, List.of(), arguments);
    builder.environment().putAll(environment);
    return ready(builder, errors);
  }

  private static Ready ready(ProcessBuilder builder, Path errors) throws IOException {
    Process process = builder.start();
    BufferedReader reader = process.inputReader();
    String line = reader.readLine();
    if (line == null) {
      throw new AssertionError("it did not start: " + Files.readString(errors));
    }
    return new Ready(new Program(process), line, reader);
  }

  public long pid() {
    return process.pid();
  }

  /** Ends it with signal 9, if it has not ended. */
  public void kill() {
    process.destroyForcibly().onExit().join();
  }

  /** Ends it with signal 9. It must not have ended by itself. */
  public void killAlive() {
    kill();
    assertThat(process.exitValue()).as("its end").isEqualTo(KILLED);
  }

  /** Whether it has not ended. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** Waits until it has ended, and returns its exit code. */
  public int ended() throws InterruptedException {
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("it ends").isTrue();
    return process.exitValue();
  }

  /** Stops it with signal 15, and returns its exit code. */
  public int stopped() throws InterruptedException {
    process.destroy();
    return ended();
  }

  /** Stops it with signal 15, and waits for its end. */
  public void stop() throws InterruptedException {
    assertThat(stopped()).as("its end").isIn(0, TERMINATED);
  }

  /**
   * Ends with signal 9 all processes whose command line contains a path, and those that they start
   * meanwhile, so that the folder can be removed.
   */
  public static void killAll(Path path) throws IOException {
    awaitNone(path, ProcessHandle::destroyForcibly);
  }

  /** Waits until all processes whose command line contains a path have ended by themselves. */
  public static void awaitNone(Path path) throws IOException {
    awaitNone(path, _ -> {});
  }

  private static void awaitNone(Path path, Consumer<ProcessHandle> each) throws IOException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    for (List<ProcessHandle> left = speakingOf(path); !left.isEmpty(); left = speakingOf(path)) {
      assertThat(System.nanoTime() - end).as("processes left: %s", left).isNegative();
      left.forEach(each);
      LockSupport.parkNanos(5_000_000);
    }
  }

  /** All processes of this machine whose command line contains a path. */
  public static List<ProcessHandle> speakingOf(Path path) throws IOException {
    try (Stream<Path> entries = Files.list(Path.of("/proc"))) {
      return entries
          .filter(entry -> entry.getFileName().toString().matches("[0-9]+"))
          .filter(entry -> commandLine(entry).contains(path.toString()))
          .flatMap(
              entry -> ProcessHandle.of(Long.parseLong(entry.getFileName().toString())).stream())
          .toList();
    }
  }

  /** The command line, which {@link ProcessHandle} truncates after a long class path. */
  private static String commandLine(Path entry) {
    try {
      return new String(Files.readAllBytes(entry.resolve("cmdline")), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      // It has ended.
      return "";
    }
  }
}
