package io.millrace.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.Program;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.store.Bytes;
import io.millrace.store.DocumentKey;
import io.millrace.store.Owner;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import io.millrace.store.Transaction.DocumentVersion;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads of some age at servers that share a store, while they stand still and are killed. */
class StaleServersTest {
  private static final DocumentKey KEY = new DocumentKey("books", "k");
  private static final Duration PAUSE = Duration.ofMillis(1_200);
  private final HttpClient http = HttpClient.newHttpClient();
  private final Path root;
  private final SharedServers servers;

  StaleServersTest(@TempDir Path root) {
    this.root = root;
    this.servers = new SharedServers(root, "2s");
  }

  @AfterEach
  void close() throws IOException {
    http.close();
    servers.close();
  }

  private HttpResponse<String> get(Program.Ready server, String path) throws Exception {
    return http.send(
        HttpRequest.newBuilder(URI.create(SharedServers.address(server) + path)).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static void put(TaskStore store, int value) {
    store.commit(
        Transaction.by(Owner.client(1))
            .requestId("put " + value)
            .put(KEY, DocumentVersion.ANY, Bytes.of(Integer.toString(value)))
            .build());
  }

  private static int read(TaskStore store) {
    return store
        .document(KEY)
        .value()
        .map(found -> Integer.parseInt(found.body().utf8()))
        .orElse(0);
  }

  @Test
  void no_answer_is_older_than_its_bound_and_none_goes_back() throws Exception {
    Program.Ready leader = servers.up("first");
    SharedServers.await(leader, "leader");
    Program.Ready standby = servers.up("second");
    SharedServers.await(standby, "standby with a leader");
    ClientOptions all =
        ClientOptions.at(SharedServers.address(standby) + "," + SharedServers.address(leader))
            .withRetryFor(Duration.ofMinutes(1));
    try (HttpTaskStore writer = HttpTaskStore.open(all);
        HttpTaskStore reader = HttpTaskStore.open(all.withStale(PAUSE.dividedBy(2)));
        HttpTaskStore both = HttpTaskStore.open(all.withStale(Duration.ofMinutes(1)))) {
      for (int i = 1; i <= 20; i++) {
        put(both, i);
        assertThat(read(both)).as("it reads what it has written").isEqualTo(i);
      }

      // A standby that stood still does not know how old it is.
      SharedServers.signal(standby, "STOP");
      put(writer, 21);
      long written = System.nanoTime();
      while (System.nanoTime() - written < PAUSE.toNanos()) {
        Thread.onSpinWait();
      }
      SharedServers.signal(standby, "CONT");
      for (int i = 0; i < 4; i++) {
        assertThat(read(reader)).isEqualTo(21);
      }
      Shell.CommandResult shown =
          Shell.run(
              "store",
              "document",
              "books",
              "k",
              "--server=" + SharedServers.address(standby),
              "--stale=2s");
      assertThat(shown.out()).contains("21");

      // Through a takeover.
      put(both, 22);
      leader.program().killAlive();
      int last = 22;
      for (int i = 23; i < 30; i++) {
        int seen = read(both);
        assertThat(seen).isGreaterThanOrEqualTo(last);
        put(both, i);
        last = read(both);
        assertThat(last).isEqualTo(i);
      }
      HttpResponse<String> strict = get(standby, "/store/document/books/k?stale=1s");
      assertThat(strict.headers().firstValue("Millrace-Staleness")).contains("0");
    }
  }

  @Test
  void an_age_that_no_server_accepts_is_named() {
    assertThat(Shell.run("store", "groups", "--stale=61s").err()).contains("at most 60s");
    assertThat(Shell.run("store", "groups", "--stale=1s", "--data=" + root).err())
        .contains("--data cannot be combined with --stale");
  }
}
