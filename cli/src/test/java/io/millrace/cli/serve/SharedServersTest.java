package io.millrace.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.Program;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.store.Bytes;
import io.millrace.store.Owner;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers that share a store in a database: one leads, and the next one takes over. */
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

  /** Starts a server, which is ready when it leads. */
  private CompletableFuture<Program.Ready> up(String name) {
    List<String> arguments =
        List.of(
            "up",
            "--no-node",
            "--port=0",
            "--data=" + root.resolve(name),
            "--store=jdbc:sqlite:" + root.resolve("store.db"),
            "--set=store.lease=500ms");
    return CompletableFuture.supplyAsync(() -> {
      try {
        return Program.startReady(root.resolve(name + ".log"), arguments);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    });
  }

  private static URI address(Program.Ready server) {
    int from = server.line().indexOf("http://");
    return URI.create(server.line().substring(from, server.line().indexOf(' ', from)));
  }

  /** Waits until a server follows the one that leads. */
  private void awaitStandby(String name) throws IOException {
    Path log = root.resolve(name + ".log");
    while (!Files.exists(log) || !Files.readString(log).contains("following it as a standby")) {
      Thread.onSpinWait();
    }
  }

  @Test
  void each_server_that_ends_is_followed_by_one_that_has_everything() throws Exception {
    Program.Ready first = up("first").get();
    CompletableFuture<Program.Ready> second = up("second");
    awaitStandby("second");
    commit(first, 0);
    assertThat(second).isNotDone();

    first.program().killAlive();
    Program.Ready leader = second.get();
    assertThat(leader.line()).contains("store in jdbc:sqlite:");
    assertThat(tasks(leader)).isEqualTo(TASKS);
    commit(leader, 1);

    CompletableFuture<Program.Ready> third = up("third");
    awaitStandby("third");
    assertThat(leader.program().stopped()).isZero();
    assertThat(tasks(third.get())).isEqualTo(2L * TASKS);
  }

  private static void commit(Program.Ready server, int part) {
    try (HttpTaskStore store = HttpTaskStore.open(ClientOptions.at(address(server)))) {
      for (int i = 0; i < TASKS; i++) {
        store.commit(
            Transaction.by(Owner.client(1)).add("group", Bytes.of(part + " " + i)).build());
      }
    }
  }

  private static long tasks(Program.Ready server) {
    try (HttpTaskStore store = HttpTaskStore.open(ClientOptions.at(address(server)))) {
      return store.group(GroupQuery.all("group")).value().stream()
          .map(task -> task.data().utf8())
          .distinct()
          .count();
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
