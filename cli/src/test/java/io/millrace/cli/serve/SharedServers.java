package io.millrace.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.queues.Program;
import io.millrace.client.ClientOptions;
import io.millrace.client.JsonCalls;
import io.millrace.store.StoreException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.JsonNode;

/**
 * Servers that share a store in a SQLite file, as processes.
 *
 * @param root the folder of all of them
 * @param lease for how long a leader may be silent
 */
record SharedServers(Path root, String lease) implements AutoCloseable {
  /** Starts a server; its first line names its address. */
  Program.Ready up(String name, String... more) throws IOException {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "up",
                "--no-node",
                "--port=0",
                "--data=" + root.resolve(name),
                "--store=jdbc:sqlite:" + root.resolve("store.db"),
                "--set=store.lease=" + lease));
    arguments.addAll(List.of(more));
    return Program.startReady(root.resolve(name + ".log"), arguments);
  }

  static String address(Program.Ready server) {
    int from = server.line().indexOf("http://");
    return server.line().substring(from, server.line().indexOf(' ', from));
  }

  /** What a server does: {@code leader}, {@code standby}, or {@code standby with a leader}. */
  static String role(Program.Ready server) {
    try (JsonCalls calls = JsonCalls.open(ClientOptions.at(address(server)))) {
      JsonNode health = calls.get("/health");
      return health.path("role").asString("") + (health.has("leader") ? " with a leader" : "");
    } catch (StoreException _) {
      // It does not lead any more, and is not a standby yet.
      return "";
    }
  }

  /** Waits until a server has a role. */
  static void await(Program.Ready server, String role) {
    while (!role(server).equals(role)) {
      LockSupport.parkNanos(20_000_000);
    }
  }

  /** Of two servers, the one that leads; waits until the other one follows it. */
  static Program.Ready leader(Program.Ready one, Program.Ready other) {
    while (true) {
      String first = role(one);
      String second = role(other);
      if (first.equals("leader") && second.equals("standby with a leader")) {
        return one;
      }
      if (second.equals("leader") && first.equals("standby with a leader")) {
        return other;
      }
      LockSupport.parkNanos(20_000_000);
    }
  }

  static void signal(Program.Ready server, String name) throws IOException, InterruptedException {
    String pid = Long.toString(server.program().pid());
    assertThat(new ProcessBuilder("kill", "-" + name, pid).start().waitFor()).isZero();
  }

  @Override
  public void close() throws IOException {
    Program.killAll(root);
  }
}
