package io.millrace.bench;

import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A server with its execution node. */
final class NodeServer implements AutoCloseable {
  private final Program program;
  private final JsonCalls calls;

  private NodeServer(Program program) {
    this.program = program;
    this.calls = JsonCalls.open(ClientOptions.at(program.address()));
  }

  /** Starts it on an empty folder, keeping so many runners warm. */
  static NodeServer start(Setting setting, Path folder, int warm) throws IOException {
    List<String> arguments =
        List.of(
            "up",
            "--port",
            "0",
            "--data",
            folder.resolve("data").toString(),
            "--warm-runners",
            Integer.toString(warm),
            "--stop-with",
            Long.toString(ProcessHandle.current().pid()));
    Path log = folder.resolve("server.log");
    return new NodeServer(Program.start(Child.java(setting), log, arguments));
  }

  /** Calls of its interfaces. */
  JsonCalls calls() {
    return calls;
  }

  /** Its task runners. */
  List<ProcessHandle> runners() {
    return program.runners();
  }

  /** The processor time that all of it has taken so far. */
  Usage usage() {
    Usage usage = program.usage();
    for (ProcessHandle runner : runners()) {
      usage = usage.plus(Usage.ofRunner(runner.pid()));
    }
    return usage;
  }

  /** Stops it, and whatever it has started. */
  @Override
  public void close() {
    calls.close();
    program.close();
  }
}
