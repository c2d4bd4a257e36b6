package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.server.config.Configuration;
import io.millrace.server.config.ConfigurationException;
import io.millrace.store.Bytes;
import io.millrace.store.Claim;
import io.millrace.store.Outcome;
import io.millrace.store.Owner;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.Transaction;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Servers of one process that share a store with four shards. */
class ShardedServersTest {
  private static final int SHARDS = 4;
  private static final Owner CLIENT = Owner.client(7);

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<MillraceServer> servers = new ArrayList<>();
  @TempDir private Path root;

  @AfterEach
  void close() {
    servers.forEach(MillraceServer::close);
    http.close();
  }

  /** Nothing else runs in the processes. */
  private static final class Nothing implements MillraceServer.Companion {
    @Override
    public void start(MillraceServer server) {}

    @Override
    public void stop() {}
  }

  private MillraceServer serve(String... more) {
    Map<String, String> flags =
        new HashMap<>(
            Map.of(
                "server.port",
                "0",
                "store.data",
                root.resolve("server-" + servers.size()).toString(),
                "store.url",
                "jdbc:sqlite:" + root.resolve("store.db"),
                "store.shards",
                Integer.toString(SHARDS),
                "store.lease",
                "3s"));
    for (int i = 0; i < more.length; i += 2) {
      flags.put(more[i], more[i + 1]);
    }
    MillraceServer server =
        MillraceServer.start(
            Configuration.read(MillraceServer.SECTIONS, null, flags), null, new Nothing());
    servers.add(server);
    return server;
  }

  private static String address(MillraceServer server) {
    return "http://127.0.0.1:" + server.port();
  }

  private HttpResponse<String> send(
      MillraceServer server, String method, String path, String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(address(server) + path))
            .timeout(Duration.ofSeconds(30))
            .method(method, HttpRequest.BodyPublishers.ofString(body));
    if (headers.length > 0) {
      var _ = request.headers(headers);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private JsonNode json(MillraceServer server, String path) throws Exception {
    return JsonMapper.shared().readTree(send(server, "GET", path, "").body());
  }

  /** How many shards each server leads, once all are led. */
  private List<Integer> leads() throws Exception {
    while (true) {
      List<Integer> counts = new ArrayList<>();
      for (MillraceServer server : servers) {
        int count = 0;
        for (JsonNode shard : json(server, "/shards")) {
          count += shard.path("role").asString().equals("leader") ? 1 : 0;
        }
        counts.add(count);
      }
      if (counts.stream().mapToInt(Integer::intValue).sum() == SHARDS) {
        return counts;
      }
      Thread.onSpinWait();
    }
  }

  private void awaitLeads(Integer... expected) throws Exception {
    while (!leads().stream().sorted().toList().equals(List.of(expected))) {
      Thread.onSpinWait();
    }
  }

  private HttpTaskStore open() {
    String all = servers.stream().map(ShardedServersTest::address).collect(Collectors.joining(","));
    return HttpTaskStore.open(ClientOptions.at(all).withRetryFor(Duration.ofMinutes(1)));
  }

  private static Task add(HttpTaskStore store, String group, String data) {
    Outcome outcome =
        store.commit(
            Transaction.by(CLIENT)
                .add(group, Bytes.of(data))
                .requestId(group + "-" + data)
                .build());
    return outcome.done().tasks().getFirst();
  }

  @Test
  void groups_are_divided_and_lists_are_of_all_shards() throws Exception {
    MillraceServer first = serve();
    awaitLeads(SHARDS);
    first.leads().get(60, TimeUnit.SECONDS);
    MillraceServer second = serve();
    awaitLeads(2, 2);
    for (MillraceServer server : servers) {
      assertThat(send(server, "GET", "/metrics", "").body().lines())
          .filteredOn(line -> line.startsWith("millrace_shard_leader{") && line.endsWith(" 1.0"))
          .hasSize(2);
      assertThat(json(server, "/health").path("shards")).hasSize(SHARDS);
    }
    try (HttpTaskStore store = open()) {
      List<Task> added =
          IntStream.range(0, 20).mapToObj(i -> add(store, "team" + i + "/work", "it")).toList();

      assertThat(added.stream().map(task -> task.id() % SHARDS).distinct()).hasSize(SHARDS);
      for (MillraceServer server : List.of(first, second)) {
        assertThat(json(server, "/store/groups"))
            .extracting(JsonNode::asString)
            .filteredOn(group -> group.startsWith("team"))
            .hasSize(20)
            .isSorted();
        for (Task task : added) {
          assertThat(json(server, "/store/task/" + task.id()).path("group").asString())
              .isEqualTo(task.group());
        }
      }
      List<Optional<Task>> read =
          store.tasks(added.stream().map(task -> TaskRef.id(task.id())).toList()).value();
      assertThat(read.stream().flatMap(Optional::stream).map(Task::group))
          .isEqualTo(added.stream().map(Task::group).toList());
      assertThat(store.groups().value().stream().mapToLong(GroupSummary::waiting).sum())
          .isGreaterThanOrEqualTo(20);
      for (Task task : added) {
        Outcome claimed = store.claim(Claim.of(CLIENT, task.group(), Duration.ofMinutes(1)));
        store.commit(
            Transaction.by(CLIENT).delete(claimed.done().tasks().getFirst().ref()).build());
      }
      assertThat(store.groups().value())
          .extracting(GroupSummary::name)
          .noneMatch(name -> name.startsWith("team"));
    }
  }

  @Test
  void what_spans_two_shards_is_refused_and_both_are_named() throws Exception {
    MillraceServer server = serve();
    awaitLeads(SHARDS);
    server.leads().get(60, TimeUnit.SECONDS);
    String adds =
        IntStream.range(0, 20)
            .mapToObj(i -> "{\"group\": \"team%d/work\"}".formatted(i))
            .collect(Collectors.joining(", "));

    HttpResponse<String> update =
        send(server, "POST", "/store/update", "{\"clientid\": 7, \"adds\": [" + adds + "]}");
    assertThat(update.statusCode()).isEqualTo(400);
    assertThat(update.body())
        .containsPattern(
            "a transaction changes one shard: group team0/work is in shard \\d, and group"
                + " team\\d+/work in shard \\d");

    HttpResponse<String> together =
        send(
            server,
            "POST",
            "/store/update",
            "{\"clientid\": 7, \"adds\": [{\"group\": \"a/one\"}, {\"group\": \"a.two\"}],"
                + " \"puts\": [{\"collection\": \"a\", \"key\": \"k\", \"body\": \"b\"}]}");
    assertThat(together.statusCode()).isEqualTo(200);

    HttpResponse<String> changes = send(server, "GET", "/store/changes", "");
    assertThat(changes.statusCode()).isEqualTo(400);
    assertThat(changes.body()).contains("name groups, collections or the shard, from 0 to 3");
    assertThat(send(server, "GET", "/store/position", "").statusCode()).isEqualTo(400);
    assertThat(send(server, "GET", "/store/position?shard=3", "").statusCode()).isEqualTo(200);
    assertThat(send(server, "GET", "/store/position?shard=4", "").statusCode()).isEqualTo(404);
  }

  @Test
  void leaders_move_when_a_server_joins_and_when_it_ends() throws Exception {
    MillraceServer first = serve();
    awaitLeads(SHARDS);
    first.leads().get(60, TimeUnit.SECONDS);
    MillraceServer second = serve();
    MillraceServer third = serve();
    awaitLeads(1, 1, 2);
    try (HttpTaskStore store = open()) {
      for (int i = 0; i < 40; i++) {
        Task _ = add(store, "team" + i, "before");
      }
      // Everything that is not divided goes on at another server too.
      servers.remove(first);
      first.close();
      awaitLeads(2, 2);
      for (int i = 0; i < 40; i++) {
        Task _ = add(store, "team" + i, "after");
      }
      for (int i = 0; i < 40; i++) {
        assertThat(store.group(GroupQuery.all("team" + i)).value())
            .extracting(task -> task.data().utf8())
            .containsExactlyInAnyOrder("before", "after");
      }
    }
    assertThat(List.of(second, third))
        .anyMatch(server -> server.leads().isDone() && !server.stopped().isDone());
  }

  @Test
  void keys_of_principals_count_at_every_server() throws Exception {
    String[] strict = {"server.require-credentials", "true", "server.token-file", token()};
    MillraceServer first = serve(strict);
    awaitLedBy(first, "secret-of-all");
    first.leads().get(60, TimeUnit.SECONDS);
    MillraceServer second = serve(strict);
    String[] owner = {"Authorization", "Bearer secret-of-all"};
    assertThat(
            send(
                    first,
                    "POST",
                    "/access/principals",
                    "{\"name\": \"ann\", \"roles\": [\"submitter\"], \"reach\": {\"groups\":"
                        + " [\"team1\"]}}",
                    owner)
                .statusCode())
        .isEqualTo(201);
    String key =
        JsonMapper.shared()
            .readTree(send(first, "POST", "/access/principals/ann/keys", "{}", owner).body())
            .path("key")
            .asString();
    String[] ann = {"Authorization", "Bearer " + key};
    for (MillraceServer server : servers) {
      assertThat(send(server, "GET", "/store/group/team1", "").statusCode()).isEqualTo(401);
      assertThat(send(server, "GET", "/store/group/team1", "", ann).statusCode()).isEqualTo(200);
      assertThat(send(server, "GET", "/store/group/other", "", ann).statusCode()).isEqualTo(403);
    }
    while (!send(second, "GET", "/shards", "", owner).body().contains("\"role\":\"leader\"")) {
      Thread.onSpinWait();
    }
    assertThat(send(second, "POST", "/shards/1/hand-over", "", ann).statusCode()).isEqualTo(403);
  }

  /** The entries about changes of documents in {@code /store}, once they count so many. */
  private List<JsonNode> audited(MillraceServer server, String query, int count) throws Exception {
    while (true) {
      List<JsonNode> found = new ArrayList<>();
      String next = "";
      do {
        JsonNode page =
            json(
                server,
                "/audit?action=store.update&result=done&limit=3"
                    + query
                    + (next.isEmpty() ? "" : "&after=" + next));
        page.path("entries").forEach(found::add);
        next = page.path("next").asString("");
      } while (!next.isEmpty());
      int sum = found.stream().mapToInt(entry -> entry.path("count").asInt()).sum();
      assertThat(sum).as(found.toString()).isLessThanOrEqualTo(count);
      if (sum == count) {
        return found;
      }
    }
  }

  @Test
  void the_audit_log_has_the_changes_in_all_shards() throws Exception {
    MillraceServer first = serve();
    awaitLeads(SHARDS);
    first.leads().get(60, TimeUnit.SECONDS);
    MillraceServer second = serve();
    awaitLeads(2, 2);
    for (MillraceServer server : List.of(first, second)) {
      assertThat(send(server, "GET", "/metrics", "").body().lines())
          .contains("millrace_audit_waiting 0.0", "millrace_audit_lost_total 0.0");
    }
    try (HttpTaskStore store = open()) {
      for (int i = 0; i < 20; i++) {
        Task _ = add(store, "team" + i, "it");
      }
      List<JsonNode> newest = audited(first, "", 20);
      assertThat(newest)
          .extracting(entry -> entry.path("scope").asString())
          .hasSize(20)
          .doesNotHaveDuplicates();
      assertThat(newest)
          .allMatch(entry -> entry.path("result").asString().equals("done"))
          .extracting(entry -> entry.path("id").asString())
          .isEqualTo(
              audited(first, "&order=oldest", 20).reversed().stream()
                  .map(entry -> entry.path("id").asString())
                  .toList());
      assertThat(
              send(first, "GET", "/audit/export?action=store.update&result=done", "")
                  .body()
                  .lines())
          .hasSize(21);
      // Whoever leads the shards that it led has what it wrote until its end.
      for (int i = 0; i < 20; i++) {
        Task _ = add(store, "team" + i, "later");
      }
      servers.remove(second);
      second.close();
      awaitLeads(SHARDS);
      assertThat(audited(first, "", 40)).hasSize(40);
    }
  }

  private String token() throws IOException {
    Path file = root.resolve("token");
    Path _ = Files.writeString(file, "secret-of-all");
    return file.toString();
  }

  private void awaitLedBy(MillraceServer server, String token) throws Exception {
    String authorization = "Bearer " + token;
    while (true) {
      String body = send(server, "GET", "/shards", "", "Authorization", authorization).body();
      if (body.split("\"role\":\"leader\"", -1).length == SHARDS + 1) {
        return;
      }
      Thread.onSpinWait();
    }
  }

  @Test
  void the_number_of_shards_stays_as_it_is() throws Exception {
    MillraceServer first = serve();
    awaitLeads(SHARDS);
    servers.remove(first);
    first.close();

    for (String other : List.of("1", "2")) {
      MillraceServer second = serve("store.shards", other);
      assertThatThrownBy(() -> second.leads().get(60, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .hasMessageContaining(
              "store.shards is " + other + ", but this is shard 0 of 4; the number of shards");
      servers.remove(second);
      second.close();
    }
    MillraceServer whole = serve("store.shards", "1", "store.name", "whole");
    whole.leads().get(60, TimeUnit.SECONDS);
    HttpResponse<String> added =
        send(whole, "POST", "/store/update", "{\"clientid\": 7, \"adds\": [{\"group\": \"a\"}]}");
    assertThat(added.statusCode()).isEqualTo(200);
    servers.remove(whole);
    whole.close();
    MillraceServer divided = serve("store.name", "whole");
    assertThatThrownBy(() -> divided.leads().get(60, TimeUnit.SECONDS))
        .hasMessageContaining("the store is there already, in one piece");
    String folder = root.resolve("folder").toString();
    assertThatThrownBy(() -> serve("store.url", "file:" + folder, "store.data", folder))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("store.shards takes store.url with a database");
  }
}
