package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.client.JsonCalls;
import io.millrace.journal.shared.SharedJournal;
import io.millrace.journal.sql.SqlJournalOptions;
import io.millrace.server.config.Configuration;
import io.millrace.store.Bytes;
import io.millrace.store.Commit;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Owner;
import io.millrace.store.StoreOptions;
import io.millrace.store.Subscription;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import io.millrace.store.environment.Environment;
import io.millrace.store.journal.FencedException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two servers of one process that share a store: one leads, and the other one listens. */
class StandbyServerTest {
  private final HttpClient http = HttpClient.newHttpClient();
  private final Counted ofFirst = new Counted();
  private final Counted ofSecond = new Counted();
  @TempDir private Path root;
  private MillraceServer first;
  private MillraceServer second;

  /** What runs while a server leads. */
  private static final class Counted implements MillraceServer.Companion {
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();

    @Override
    public void start(MillraceServer server, MillraceServer.Led led) {
      begun.incrementAndGet();
    }

    @Override
    public void stop(int shard) {
      ended.incrementAndGet();
    }
  }

  @BeforeEach
  void start() throws Exception {
    first = serve("first", ofFirst);
    first.leads().get(60, TimeUnit.SECONDS);
    second = serve("second", ofSecond);
    await(second, "\"leader\":\"" + address(first) + "\"");
  }

  @AfterEach
  void close() {
    second.close();
    first.close();
    http.close();
  }

  private String url() {
    return "jdbc:sqlite:" + root.resolve("store.db");
  }

  private MillraceServer serve(String name, Counted companion, String... more) {
    Map<String, String> flags =
        new HashMap<>(
            Map.of(
                "server.port", "0",
                "store.data", root.resolve(name).toString(),
                "store.url", url(),
                "store.lease", "3s",
                "audit.enabled", "false"));
    for (int i = 0; i < more.length; i += 2) {
      flags.put(more[i], more[i + 1]);
    }
    return MillraceServer.start(
        Configuration.read(MillraceServer.SECTIONS, null, flags), null, companion);
  }

  private static String address(MillraceServer server) {
    return "http://127.0.0.1:" + server.port();
  }

  private HttpResponse<String> send(MillraceServer server, String method, String path)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(address(server) + path))
            .timeout(Duration.ofSeconds(30))
            .method(method, HttpRequest.BodyPublishers.ofString("{}"))
            .build();
    return http.send(request, HttpResponse.BodyHandlers.ofString());
  }

  /** Waits until the health of a server has this text. */
  private void await(MillraceServer server, String text) throws Exception {
    while (!send(server, "GET", "/health").body().contains(text)) {
      LockSupport.parkNanos(5_000_000);
    }
  }

  /** A client that knows both servers, the second one first. */
  private ClientOptions both() {
    return ClientOptions.at(address(second) + ", " + address(first));
  }

  private static void add(TaskStore store, String data) {
    store.commit(Transaction.by(Owner.client(1)).add("group", Bytes.of(data)).build());
  }

  @Test
  void a_standby_tells_its_role_and_directs_everything_else_to_the_leader() throws Exception {
    HttpResponse<String> leader = send(first, "GET", "/health/leader");
    assertThat(leader.statusCode()).isEqualTo(200);
    assertThat(leader.body()).contains("\"role\":\"leader\"");

    HttpResponse<String> standby = send(second, "GET", "/health");
    assertThat(standby.statusCode()).isEqualTo(200);
    assertThat(standby.body()).contains("\"role\":\"standby\"", "\"position\":\"");
    assertThat(send(second, "GET", "/health/leader").statusCode()).isEqualTo(503);
    assertThat(send(second, "GET", "/metrics").body()).contains("millrace_leader 0.0");
    assertThat(send(first, "GET", "/metrics").body()).contains("millrace_leader 1.0");

    for (String method : List.of("GET", "POST", "DELETE")) {
      HttpResponse<String> directed = send(second, method, "/store/tasks?a=%20b");
      assertThat(directed.statusCode()).isEqualTo(307);
      assertThat(directed.headers().firstValue("Location"))
          .contains(address(first) + "/store/tasks?a=%20b");
    }
  }

  @Test
  void a_clean_stop_hands_over_and_clients_go_on_at_the_next_leader() throws Exception {
    try (HttpTaskStore store = HttpTaskStore.open(both());
        JsonCalls calls = JsonCalls.open(both());
        Subscription changes = store.subscribe(new Interest(null, Set.of("group"), Set.of()))) {
      add(store, "one");
      first.close();
      second.leads().get(60, TimeUnit.SECONDS);
      add(store, "two");
      assertThat(calls.get("/health").path("role").asString()).isEqualTo("leader");
      assertThat(store.group(GroupQuery.all("group")).value()).hasSize(2);
      for (int i = 0; i < 2; i++) {
        Commit commit = changes.next(Duration.ofSeconds(60));
        assertThat(commit).isNotNull();
      }
    }
    assertThat(ofFirst.ended).hasValue(1);
    assertThat(ofSecond.begun).hasValue(1);
  }

  @Test
  void a_request_to_a_standby_waits_while_nobody_leads() throws Exception {
    first.close();
    HttpResponse<String> answer;
    long tookNanos;
    do {
      long began = System.nanoTime();
      answer = send(second, "GET", "/store/groups");
      tookNanos = System.nanoTime() - began;
      // Again if a read of the journal, or the takeover, takes longer than requests wait for it.
    } while (answer.statusCode() != 200 && tookNanos >= 1_000_000_000L);
    if (answer.statusCode() == 307) {
      // It has just begun to lead, and never names the one that has ended.
      assertThat(answer.headers().firstValue("Location"))
          .contains(address(second) + "/store/groups");
      answer = send(second, "GET", "/store/groups");
    }
    assertThat(answer.statusCode()).isEqualTo(200);
  }

  /** A store that leads although another one does; it fails if that one renews meanwhile. */
  private EmbeddedTaskStore fencing() {
    SqlJournalOptions options = SqlJournalOptions.at(url()).withLease(Duration.ofSeconds(3));
    while (true) {
      SharedJournal journal = SharedJournal.open(Environment.system(), options);
      try {
        return TaskStore.open(StoreOptions.in(root), journal);
      } catch (FencedException _) {
        journal.close();
      }
    }
  }

  @Test
  void a_leader_that_is_fenced_becomes_a_standby_and_leads_again() throws Exception {
    try (HttpTaskStore store = HttpTaskStore.open(both())) {
      add(store, "one");
      try (EmbeddedTaskStore other = fencing()) {
        add(other, "two");
        await(first, "\"role\":\"standby\"");
        while (ofFirst.ended.get() == 0) {
          LockSupport.parkNanos(5_000_000);
        }
        // The other one has announced no address.
        HttpResponse<String> unknown = send(first, "GET", "/store/groups");
        assertThat(unknown.statusCode()).isEqualTo(503);
        assertThat(unknown.headers().firstValue("Retry-After")).contains("1");
      }
      add(store, "three");
      assertThat(store.group(GroupQuery.all("group")).value()).hasSize(3);
    }
    while (ofFirst.begun.get() + ofSecond.begun.get() < 2) {
      LockSupport.parkNanos(5_000_000);
    }
    assertThat(first.stopped()).isNotDone();
  }

  @Test
  void strangers_learn_no_figures_of_a_standby() throws Exception {
    try (MillraceServer third =
        serve("third", new Counted(), "server.require-credentials", "true")) {
      await(third, "\"leader\"");
      assertThat(send(third, "GET", "/metrics").statusCode()).isEqualTo(401);
      assertThat(send(third, "GET", "/store/groups").statusCode()).isEqualTo(307);
    }
  }
}
