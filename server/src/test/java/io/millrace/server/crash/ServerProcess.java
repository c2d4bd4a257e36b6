package io.millrace.server.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.store.TaskStore;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/** A server in a process of its own, which ends only by being killed. */
final class ServerProcess implements AutoCloseable {
  private static final String READY = "ready on port ";

  /** What Java makes of an end by signal 9. */
  private static final int KILLED = 128 + 9;

  private final Process process;
  private final URI address;

  private ServerProcess(Process process, int port) {
    this.process = process;
    this.address = URI.create("http://127.0.0.1:" + port);
  }

  /**
   * Starts a server on a folder, with this test's class path, and waits until it is ready. It makes
   * no commits of its own, such as entries of the audit log, so that each is one of its clients.
   */
  static ServerProcess start(Path folder, String journaling) throws IOException {
    return start(
        "",
        "-Xmx256m",
        "store.data",
        folder.toString(),
        "store.journal",
        journaling,
        "store.snapshot-every",
        "400",
        "audit.enabled",
        "false");
  }

  /**
   * The same with settings of its own.
   *
   * @param before what the shell does before, ending in a semicolon; may be empty
   * @param heap the flag for the largest heap
   */
  static ServerProcess start(String before, String heap, String... keysAndValues)
      throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                "sh",
                "-c",
                before + " exec \"$0\" \"$@\"",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                heap,
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                ServerMain.class.getName(),
                "server.port",
                "0"));
    command.addAll(List.of(keysAndValues));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    return new ServerProcess(process, ready(process));
  }

  /** The port on which it listens, once it says so; reads on, so that it never waits for us. */
  private static int ready(Process process) {
    CompletableFuture<Integer> port = new CompletableFuture<>();
    Queue<String> said = new ConcurrentLinkedQueue<>();
    Thread.startVirtualThread(() -> {
      process
          .inputReader()
          .lines()
          .forEach(line -> {
            if (line.startsWith(READY)) {
              port.complete(Integer.valueOf(line.substring(READY.length())));
            }
            said.add(line);
          });
      port.completeExceptionally(
          new AssertionError("the server ended: " + String.join("\n", said)));
    });
    try {
      return port.orTimeout(60, TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
      process.destroyForcibly();
      throw new AssertionError("the server did not start: " + String.join("\n", said), e);
    }
  }

  /** A client that never tries twice, so that it sees every answer that was lost. */
  TaskStore connect() {
    return HttpTaskStore.open(
        ClientOptions.at(address)
            .withConnectTimeout(Duration.ofSeconds(10))
            .withRetryFor(Duration.ZERO));
  }

  /** Where it listens. */
  URI address() {
    return address;
  }

  /** Ends it in the middle of whatever it does. */
  void kill() throws InterruptedException {
    assertThat(process.isAlive()).as("it lived until it was killed").isTrue();
    assertThat(process.destroyForcibly().waitFor()).isEqualTo(KILLED);
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
