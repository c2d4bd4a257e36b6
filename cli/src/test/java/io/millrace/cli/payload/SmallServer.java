package io.millrace.cli.payload;

import io.millrace.cli.queues.Program;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A server process whose heap is smaller than the data that passes through it. */
final class SmallServer {
  private static final List<String> SMALL_HEAP = List.of("-Xmx64m");

  private final Program program;
  private final String address;

  private SmallServer(Program program, String address) {
    this.program = program;
    this.address = address;
  }

  /** Starts one that has its files in this folder. */
  static SmallServer start(Path root) throws IOException {
    List<String> arguments =
        List.of("up", "--no-node", "--port", "0", "--data", root.resolve("server").toString());
    Program.Ready ready = Program.startReady(root.resolve("server.log"), SMALL_HEAP, arguments);
    String line = ready.line();
    int from = line.indexOf("127.0.0.1:");
    return new SmallServer(ready.program(), line.substring(from, line.indexOf(' ', from)));
  }

  URI at(String path) {
    return URI.create("http://" + address + path);
  }

  URI socketAt(String path) {
    return URI.create("ws://" + address + path);
  }

  /** The most memory that the process has held, heap and all, as the system writes it. */
  String mostMemory() throws IOException {
    return Files.readAllLines(Path.of("/proc", String.valueOf(program.pid()), "status")).stream()
        .filter(line -> line.startsWith("VmHWM:"))
        .map(line -> line.substring(line.indexOf(':') + 1).strip())
        .findFirst()
        .orElse("unknown");
  }

  void stop() throws InterruptedException {
    program.stop();
  }
}
