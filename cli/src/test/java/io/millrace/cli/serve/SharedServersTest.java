package io.millrace.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.Program;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.client.JsonCalls;
import io.millrace.store.Bytes;
import io.millrace.store.Owner;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers that share a store in a database: one leads, and the others follow and take over. */
class SharedServersTest {
  private static final int TASKS = 40;

  private final Path root;

  SharedServersTest(@TempDir Path root) {
    this.root = root;
  }

  @AfterEach
  void close() throws IOException {
    for (ProcessHandle process : Program.speakingOf(root)) {
      process.destroyForcibly();
      process.onExit().join();
    }
  }

  /** Starts a server; its first line names its address. */
  private Program.Ready up(String name) throws IOException {
    return Program.startReady(
        root.resolve(name + ".log"),
        List.of(
            "up",
            "--no-node",
            "--port=0",
            "--data=" + root.resolve(name),
            "--store=jdbc:sqlite:" + root.resolve("store.db"),
            "--set=store.lease=500ms"));
  }

  private static String address(Program.Ready server) {
    int from = server.line().indexOf("http://");
    return server.line().substring(from, server.line().indexOf(' ', from));
  }

  /** Waits until the health of a server has a field with this value. */
  private static void await(Program.Ready server, String field, String value) {
    ClientOptions options = ClientOptions.at(address(server));
    try (JsonCalls calls = JsonCalls.open(options)) {
      while (!calls.get("/health").path(field).asString("").equals(value)) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void whatever_ends_the_leader_another_one_goes_on_without_an_error_of_the_client()
      throws Exception {
    Program.Ready first = up("first");
    await(first, "role", "leader");
    Program.Ready second = up("second");
    await(second, "leader", address(first));
    assertThat(second.line()).contains("Millrace is a standby at", "store in jdbc:sqlite:");

    ClientOptions both = ClientOptions.at(address(second) + "," + address(first));
    try (HttpTaskStore store = HttpTaskStore.open(both.withRetryFor(Duration.ofMinutes(1)))) {
      commit(store, "before");
      first.program().killAlive();
      commit(store, "after the kill");
      await(second, "role", "leader");

      Program.Ready third = up("third");
      await(third, "leader", address(second));
      // It stands still for longer than its lease, and loses the lead.
      signal(second, "STOP");
      await(third, "role", "leader");
      signal(second, "CONT");
      await(second, "role", "standby");
      await(second, "leader", address(third));
      commit(store, "after the pause");

      assertThat(third.program().stopped()).isZero();
      commit(store, "after the stop");
      await(second, "role", "leader");
      List<String> found =
          store.group(GroupQuery.all("group")).value().stream()
              .map(task -> task.data().utf8())
              .toList();
      assertThat(found).hasSize(4 * TASKS).doesNotHaveDuplicates();
    }
  }

  private static void signal(Program.Ready server, String name) throws Exception {
    assertThat(
            new ProcessBuilder("kill", "-" + name, Long.toString(server.program().pid()))
                .start()
                .waitFor())
        .isZero();
  }

  private static void commit(HttpTaskStore store, String part) {
    for (int i = 0; i < TASKS; i++) {
      store.commit(
          Transaction.by(Owner.client(1))
              .requestId(part + " " + i)
              .add("group", Bytes.of(part + " " + i))
              .build());
    }
  }

  @Test
  void a_store_that_cannot_be_used_is_named() {
    String folder = "--data=" + root.resolve("data");
    assertThat(Shell.run("up", folder, "--store=mongodb://host/queues").err())
        .contains("store.url begins with 'jdbc:postgresql:'");
    assertThat(Shell.run("up", folder, "--store=file:" + root.resolve("other")).err())
        .contains("store.url and store.data name two folders");
    assertThat(Shell.run("up", folder, "--store=jdbc:sqlite:x.db", "--journal=opportunistic").err())
        .contains("store.journal is 'strict'");
    assertThat(Shell.run("up", folder, "--store=jdbc:postgresql://host/x?password=secret").err())
        .contains("store.url")
        .contains("contains a password")
        .doesNotContain("secret");
    Shell.CommandResult refused =
        Shell.run("doctor", folder, "--store=jdbc:postgresql://127.0.0.1:1/x", "--port=0");
    assertThat(refused.code()).isOne();
    assertThat(refused.out()).contains("failure  store.url", "127.0.0.1:1 refused");
    assertThat(Shell.run("doctor", folder, "--store=jdbc:sqlite:x.db", "--port=0").out())
        .contains("store.url: jdbc:sqlite:x.db (store main) can be used");
  }
}
