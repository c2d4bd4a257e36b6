package io.millrace.bench;

import io.millrace.bench.Bench.BenchException;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A command of the whole program in a process of its own, as a user starts it. */
final class MillraceProcess implements AutoCloseable {
  private static final String MAIN = "io.millrace.cli.Millrace";
  private static final String RUNNER_FLAGS = "millrace.runner";

  private final Process process;
  private final String line;

  private MillraceProcess(Process process, String line) {
    this.process = process;
    this.line = line;
  }

  /** Whether the program is installed: the benchmark can run without it. */
  static boolean isHere() {
    try {
      Class.forName(MAIN, false, MillraceProcess.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /** Starts a server with its data in a folder; it stops when this process ends. */
  static MillraceProcess server(Scenario.Context context, Path folder, String... more)
      throws IOException {
    String pid = Long.toString(ProcessHandle.current().pid());
    String data = folder.resolve("data").toString();
    List<String> arguments = new ArrayList<>(List.of("up", "--port", "0", "--data", data));
    arguments.addAll(List.of("--stop-with", pid));
    arguments.addAll(List.of(more));
    return start(ServerProcess.java(context), folder.resolve("server.log"), arguments);
  }

  /**
   * Starts a command that prints a line with an address when it is ready, and waits for that.
   *
   * @param java the JVM with its flags
   */
  static MillraceProcess start(List<String> java, Path log, List<String> arguments)
      throws IOException {
    List<String> command = new ArrayList<>(java);
    String flags = System.getProperty(RUNNER_FLAGS);
    if (flags != null) {
      command.add("-D" + RUNNER_FLAGS + "=" + flags);
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN));
    command.addAll(arguments);
    Process process = new ProcessBuilder(command).redirectError(log.toFile()).start();
    BufferedReader said = process.inputReader(StandardCharsets.UTF_8);
    String line = said.readLine();
    if (line == null || !line.contains("http://")) {
      process.destroy();
      throw new BenchException(arguments.getFirst() + " did not start: " + Files.readString(log));
    }
    Thread.startVirtualThread(() -> ServerProcess.readOn(said));
    return new MillraceProcess(process, line);
  }

  /** The address that it printed. */
  URI address() {
    int from = line.indexOf("http://");
    return URI.create(line.substring(from, line.indexOf(' ', from)));
  }

  /** Its task runners, which are processes of the same program. */
  List<ProcessHandle> runners() {
    return process
        .descendants()
        .filter(each -> each.info().command().orElse("").endsWith("java"))
        .toList();
  }

  /** Its resident memory in bytes; 0 if the system does not tell it. */
  long residentBytes() throws IOException {
    return ServerProcess.residentBytes(process);
  }

  /** Ends it as SIGKILL does, and waits for that. */
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  /** Tells it to stop, as SIGTERM does, and does not wait. */
  void terminate() {
    process.destroy();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** The processor time that it has used so far, without its runners. */
  Usage usage() {
    return Usage.ofServer(process.pid());
  }

  /** Stops it with all processes that it has started. */
  @Override
  public void close() {
    List<ProcessHandle> started = process.descendants().toList();
    process.destroy();
    process.onExit().join();
    // Idle runners have been told to end; the others would go on.
    CompletableFuture<?>[] ends =
        started.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new);
    CompletableFuture.allOf(ends)
        .completeOnTimeout(null, 5, TimeUnit.SECONDS)
        .thenRun(() -> started.forEach(ProcessHandle::destroyForcibly))
        .thenCompose(_ -> CompletableFuture.allOf(ends))
        .join();
  }

  /**
   * Processor time of a server, of its runners and of the programs that these ran, in milliseconds;
   * zero if the system does not tell it.
   */
  record Usage(double server, double runners, double programs) {
    private static final double TICK_MILLIS = 10;

    /** The processor time of a server. */
    static Usage ofServer(long pid) {
      return new Usage(ticks(pid, 11) + ticks(pid, 12), 0, 0);
    }

    /** The processor time of a runner and of those of its programs that have ended. */
    static Usage ofRunner(long pid) {
      return new Usage(0, ticks(pid, 11) + ticks(pid, 12), ticks(pid, 13) + ticks(pid, 14));
    }

    /** A field of /proc/PID/stat, counted from the one after the name. */
    private static double ticks(long pid, int field) {
      try {
        String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return Long.parseLong(fields[field]) * TICK_MILLIS;
      } catch (IOException e) {
        return 0;
      }
    }

    Usage plus(Usage other) {
      return new Usage(server + other.server, runners + other.runners, programs + other.programs);
    }

    Usage since(Usage before) {
      return new Usage(
          server - before.server, runners - before.runners, programs - before.programs);
    }

    /** For each of so many tasks. */
    String describe(int tasks) {
      return String.format(
          Locale.ROOT,
          "ms/task: server %.1f, runner %.1f, program %.1f",
          server / tasks,
          runners / tasks,
          programs / tasks);
    }
  }
}
