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
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers that share a store in a database: one leads, and the others follow and take over. */
class SharedServersTest {
  private static final int TASKS = 40;
  private static final Duration LONGEST_TAKEOVER = Duration.ofSeconds(10);

  private final Path root;
  private final SharedServers servers;

  SharedServersTest(@TempDir Path root) {
    this.root = root;
    this.servers = new SharedServers(root, "500ms");
  }

  @AfterEach
  void close() throws IOException {
    servers.close();
  }

  @Test
  void whatever_ends_the_leader_another_one_goes_on_without_an_error_of_the_client()
      throws Exception {
    Program.Ready first = servers.up("first");
    SharedServers.await(first, "leader");
    Program.Ready second = servers.up("second");
    Program.Ready ended = SharedServers.leader(first, second);
    Program.Ready other = ended.equals(first) ? second : first;
    String both = SharedServers.address(second) + "," + SharedServers.address(first);
    try (HttpTaskStore store = open(both)) {
      commit(store, "before");
      ended.program().killAlive();
      commit(store, "after the kill");
      SharedServers.await(other, "leader");
    }
    Program.Ready third = servers.up("third");
    try (HttpTaskStore store =
        open(SharedServers.address(other) + "," + SharedServers.address(third))) {
      Program.Ready stopped = SharedServers.leader(other, third);
      Program.Ready next = stopped.equals(other) ? third : other;
      standStill(stopped, next);
      commit(store, "after the pause");

      Program.Ready last = SharedServers.leader(other, third);
      assertThat(last.program().stopped()).isZero();
      commit(store, "after the stop");
      SharedServers.await(last.equals(other) ? third : other, "leader");
      List<String> found =
          store.group(GroupQuery.all("group")).value().stream()
              .map(task -> task.data().utf8())
              .toList();
      assertThat(found).hasSize(4 * TASKS).doesNotHaveDuplicates();
    }
  }

  private static HttpTaskStore open(String servers) {
    return HttpTaskStore.open(ClientOptions.at(servers).withRetryFor(Duration.ofMinutes(1)));
  }

  /**
   * Has a leader stand still until the other server leads, which makes it a standby when it goes
   * on. If it stands still in the middle of a transaction, SQLite is locked: then another time.
   */
  private static void standStill(Program.Ready stopped, Program.Ready next) throws Exception {
    boolean taken = false;
    while (!taken) {
      SharedServers.signal(stopped, "STOP");
      long began = System.nanoTime();
      while (!taken && System.nanoTime() - began < LONGEST_TAKEOVER.toNanos()) {
        taken = SharedServers.role(next).equals("leader");
      }
      SharedServers.signal(stopped, "CONT");
    }
    // On a busy machine the lead may come back to it.
    var _ = SharedServers.leader(stopped, next);
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
    assertThat(Shell.run("up", folder, "--store=ftp://host/queues").err())
        .contains("store.url begins with 'jdbc:postgresql:'");
    assertThat(Shell.run("up", folder, "--store=mongodb://host").err())
        .contains("store.url", "no database");
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
