package io.millrace.cli.storm;

import io.millrace.cli.queues.Program;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A server as a process, which is killed and started again on its folder and its port. */
final class StormServer implements AutoCloseable {
  /**
   * Two hundred that connect at once to a server that has just started take their time, and no job
   * is to fail for the workers that break off.
   */
  private static final String SETTINGS =
      """
      jobs:
        stuck-after: 1s
        max-returns: 1000
        lease: 5s
        worker:
          kick-after-ms: 10000
      """;

  /** A check that runs while no server is running. */
  interface OfflineCheck {
    void look() throws IOException;
  }

  private final Path root;
  private final Path settings;
  private final int port;
  private volatile Program program;
  private volatile CompletableFuture<Void> up = CompletableFuture.completedFuture(null);

  StormServer(Path root) throws IOException {
    this.root = root;
    this.settings = Files.writeString(root.resolve("settings.yaml"), SETTINGS);
    Program.Ready ready = start("0");
    this.program = ready.program();
    String line = ready.line();
    int from = line.indexOf("http://");
    this.port = URI.create(line.substring(from, line.indexOf(' ', from))).getPort();
  }

  private Program.Ready start(String port) throws IOException {
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("up", "--no-node", "--port", port));
    arguments.addAll(List.of("--data", root.resolve("server").toString()));
    arguments.addAll(List.of("--config", settings.toString()));
    return Program.startReady(root.resolve("server.log"), arguments);
  }

  URI at(String path) {
    return URI.create("http://127.0.0.1:" + port + path);
  }

  URI socketAt(String path) {
    return URI.create("ws://127.0.0.1:" + port + path);
  }

  /** Done while the server can be expected to answer. */
  CompletableFuture<Void> up() {
    return up;
  }

  /** Ends it by signal 9, and starts it again. */
  void killAndStart() throws IOException {
    killAndStart(() -> {});
  }

  /** The same, with a look at what there is while no server runs. */
  void killAndStart(OfflineCheck between) throws IOException {
    CompletableFuture<Void> again = new CompletableFuture<>();
    up = again;
    try {
      program.killAlive();
      between.look();
      program = start(String.valueOf(port)).program();
    } finally {
      again.complete(null);
    }
  }

  /** Stops it with signal 15, and waits for its end. */
  void stop() throws InterruptedException {
    program.stop();
  }

  @Override
  public void close() {
    program.kill();
  }
}
