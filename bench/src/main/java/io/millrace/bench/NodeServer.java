package io.millrace.bench;

import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The whole program, a server with its execution node, as a user starts it. */
final class NodeServer implements AutoCloseable {
  private static final String PROGRAM = "io.millrace.cli.Millrace";
  private static final String RUNNER_FLAGS = "millrace.runner";

  private final Process process;
  private final JsonCalls calls;

  private NodeServer(Process process, URI address) {
    this.process = process;
    this.calls = JsonCalls.open(ClientOptions.at(address));
  }

  /** Whether the program is here: the bench can run without it. */
  static boolean isHere() {
    try {
      Class.forName(PROGRAM, false, NodeServer.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /** Starts it on an empty folder, keeping so many runners warm. */
  static NodeServer start(Setting setting, Path folder, int warm) throws IOException {
    List<String> command = new ArrayList<>(Child.java(setting));
    String flags = System.getProperty(RUNNER_FLAGS);
    if (flags != null) {
      command.add("-D" + RUNNER_FLAGS + "=" + flags);
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), PROGRAM, "up"));
    command.addAll(List.of("--port", "0", "--data", folder.resolve("data").toString()));
    command.addAll(List.of("--warm-runners", Integer.toString(warm)));
    command.addAll(List.of("--stop-with", Long.toString(ProcessHandle.current().pid())));
    Path log = folder.resolve("server.log");
    Process process = new ProcessBuilder(command).redirectError(log.toFile()).start();
    BufferedReader said = process.inputReader(StandardCharsets.UTF_8);
    String line = said.readLine();
    int from = line == null ? -1 : line.indexOf("http://");
    if (line == null || from < 0) {
      process.destroy();
      throw new BenchException("the server did not start: " + Files.readString(log));
    }
    Thread.startVirtualThread(() -> readOn(said));
    return new NodeServer(process, URI.create(line.substring(from, line.indexOf(' ', from))));
  }

  private static void readOn(BufferedReader said) {
    try (said) {
      said.transferTo(Writer.nullWriter());
    } catch (IOException _) {
      // It has ended.
    }
  }

  /** Calls of its interfaces. */
  JsonCalls calls() {
    return calls;
  }

  /** Its task runners, which are processes of the same program. */
  List<ProcessHandle> runners() {
    return process
        .descendants()
        .filter(each -> each.info().command().orElse("").endsWith("java"))
        .toList();
  }

  /** The processor time that all of it has taken so far. */
  Usage usage() {
    Usage usage = Usage.ofServer(process.pid());
    for (ProcessHandle runner : runners()) {
      usage = usage.plus(Usage.ofRunner(runner.pid()));
    }
    return usage;
  }

  /** Stops it, and whatever it has started. */
  @Override
  public void close() {
    List<ProcessHandle> started = process.descendants().toList();
    calls.close();
    process.destroy();
    process.onExit().join();
    // Idle runners have been told to end; the others would work on.
    CompletableFuture<?>[] ends =
        started.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new);
    CompletableFuture.allOf(ends)
        .completeOnTimeout(null, 5, TimeUnit.SECONDS)
        .thenRun(() -> started.forEach(ProcessHandle::destroyForcibly))
        .thenCompose(_ -> CompletableFuture.allOf(ends))
        .join();
  }
}
