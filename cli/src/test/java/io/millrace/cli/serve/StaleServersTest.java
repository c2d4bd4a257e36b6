package io.millrace.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.Program;
import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.client.JsonCalls;
import io.millrace.client.graphs.GraphClient;
import io.millrace.client.graphs.GraphClient.GraphOrder;
import io.millrace.client.jobs.JobClient;
import io.millrace.client.jobs.JobFailedException;
import io.millrace.client.jobs.JobKind;
import io.millrace.client.jobs.JobOrder;
import io.millrace.client.queues.QueueClient;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Reads of some age at servers that share a store, while they stand still and are killed. */
class StaleServersTest {
  private static final DocumentKey KEY = new DocumentKey("books", "k");
  private static final String TYPE = "--set=jobs.types.parse.description=parses";
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
        LockSupport.parkNanos(5_000_000);
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
  void clients_of_jobs_queues_and_graphs_read_at_standbys_what_they_have_changed()
      throws Exception {
    Program.Ready leader = servers.up("first", TYPE);
    SharedServers.await(leader, "leader");
    Program.Ready standby = servers.up("second", TYPE);
    SharedServers.await(standby, "standby with a leader");
    String address = SharedServers.address(standby);
    ClientOptions aged =
        ClientOptions.at(SharedServers.address(leader) + "," + address)
            .withStale(Duration.ofMinutes(1));
    try (JsonCalls config = JsonCalls.open(aged)) {
      ObjectNode plugins = JsonNodeFactory.instance.objectNode();
      plugins.putArray("plugins").add("mailer");
      assertThat(config.post("/dci/config", plugins)).isNotNull();
    }
    try (QueueClient queues = QueueClient.open(aged);
        GraphClient graphs = GraphClient.open(aged);
        JobClient jobs = JobClient.open(aged)) {
      assertThat(queues.create("mail", "mailer", Map.of())).isNotEmpty();
      ArrayNode group = JsonNodeFactory.instance.arrayNode();
      group.addObject().putObject("metadata").put("type", "group");
      for (int i = 1; i <= 20; i++) {
        String task = queues.submit("mail", Map.of("number", i)).id();
        assertThat(queues.count(Map.of("queue", queues.queue("mail").id()))).isEqualTo(i);
        assertThat(queues.find(task).id()).isEqualTo(task);
        assertThat(queues.list(Map.of(), null).tasks()).hasSize(i);
        assertThat(queues.queues().getFirst().queued()).isEqualTo(i);

        String removed = graphs.add(group, GraphOrder.DEFAULT).ids().getFirst();
        assertThat(graphs.find(removed).type()).isEqualTo("group");
        assertThat(graphs.remove(removed, false)).isOne();
        assertThat(graphs.list(null, List.of()).nodes()).hasSize(i - 1);
        var _ = graphs.add(group, GraphOrder.DEFAULT);
        assertThat(graphs.list(null, List.of()).nodes()).hasSize(i);

        String job =
            jobs.submit(JobKind.of("parse", byte[].class), new byte[1], JobOrder.DEFAULT).id();
        jobs.cancel(job);
        assertThatThrownBy(() -> jobs.await(JobKind.of("parse", byte[].class), job, Duration.ZERO))
            .isInstanceOf(JobFailedException.class);
      }
      // It has everything soon, and answers.
      for (String route : List.of("/dci/queues", "/dci/tasks/search", "/v1/nodes")) {
        while (!get(standby, "/metrics")
            .body()
            .lines()
            .anyMatch(line ->
                line.startsWith("millrace_http_requests_seconds_count")
                    && line.contains("\"" + route + "\"")
                    && line.contains("\"200\""))) {
          LockSupport.parkNanos(5_000_000);
          var _ = queues.queues();
          var _ = queues.count(Map.of());
          var _ = graphs.list(null, List.of());
        }
      }
    }
    for (List<String> command :
        List.of(
            List.of("queues", "list"),
            List.of("tasks", "search"),
            List.of("jobs", "list"),
            List.of("graph", "show"),
            List.of("nodes", "list"),
            List.of("schedules", "list"))) {
      List<String> all = new ArrayList<>(command);
      all.addAll(List.of("--stale=1m", "--server=" + address));
      assertThat(Shell.run(all.toArray(String[]::new)).code()).as(command.toString()).isZero();
    }
  }

  @Test
  void an_age_that_no_server_accepts_is_named() {
    assertThat(Shell.run("store", "groups", "--stale=61s").err()).contains("at most 60s");
    assertThat(Shell.run("store", "groups", "--stale=1s", "--data=" + root).err())
        .contains("--data cannot be combined with --stale");
  }
}
