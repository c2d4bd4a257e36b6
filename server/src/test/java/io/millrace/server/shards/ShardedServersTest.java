package io.millrace.server.shards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.http.transport.Certificates;
import io.millrace.server.MillraceServer;
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
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Servers of one process that share a store with four shards. */
class ShardedServersTest {
  private static final Owner CLIENT = Owner.client(7);

  @TempDir private Path root;
  private ShardServers servers;

  @BeforeEach
  void open() {
    servers = new ShardServers(root);
  }

  @AfterEach
  void close() {
    servers.close();
  }

  private HttpTaskStore store() {
    return HttpTaskStore.open(
        ClientOptions.at(servers.addresses()).withRetryFor(Duration.ofMinutes(1)));
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
    MillraceServer first = servers.first();
    MillraceServer second = servers.serve();
    servers.awaitLeads(2, 2);
    for (MillraceServer server : servers.all()) {
      assertThat(servers.send(server, "GET", "/metrics", "").body().lines())
          .filteredOn(line -> line.startsWith("millrace_shard_leader{") && line.endsWith(" 1.0"))
          .hasSize(2);
      assertThat(servers.json(server, "/health").path("shards")).hasSize(ShardServers.SHARDS);
    }
    try (HttpTaskStore store = store()) {
      List<Task> added =
          IntStream.range(0, 20).mapToObj(i -> add(store, "team" + i + "/work", "it")).toList();

      assertThat(added.stream().map(task -> task.id() % ShardServers.SHARDS).distinct())
          .hasSize(ShardServers.SHARDS);
      // Each shard has groups of its queues, which are one to a caller.
      assertThat(store.groups().value()).extracting(GroupSummary::name).doesNotHaveDuplicates();
      for (MillraceServer server : List.of(first, second)) {
        assertThat(servers.json(server, "/store/groups"))
            .extracting(JsonNode::asString)
            .filteredOn(group -> group.startsWith("team"))
            .hasSize(20)
            .isSorted();
        for (Task task : added) {
          assertThat(servers.json(server, "/store/task/" + task.id()).path("group").asString())
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
    MillraceServer server = servers.first();
    String adds =
        IntStream.range(0, 20)
            .mapToObj(i -> "{\"group\": \"team%d/work\"}".formatted(i))
            .collect(Collectors.joining(", "));

    HttpResponse<String> update =
        servers.send(
            server, "POST", "/store/update", "{\"clientid\": 7, \"adds\": [" + adds + "]}");
    assertThat(update.statusCode()).isEqualTo(400);
    assertThat(update.body())
        .containsPattern(
            "a transaction changes one shard: group team0/work is in shard \\d, and group"
                + " team\\d+/work in shard \\d");

    HttpResponse<String> together =
        servers.send(
            server,
            "POST",
            "/store/update",
            "{\"clientid\": 7, \"adds\": [{\"group\": \"a/one\"}, {\"group\": \"a.two\"}],"
                + " \"puts\": [{\"collection\": \"a\", \"key\": \"k\", \"body\": \"b\"}]}");
    assertThat(together.statusCode()).isEqualTo(200);

    HttpResponse<String> changes = servers.send(server, "GET", "/store/changes", "");
    assertThat(changes.statusCode()).isEqualTo(400);
    assertThat(changes.body()).contains("name groups, collections or the shard, from 0 to 3");
    assertThat(servers.send(server, "GET", "/store/position", "").statusCode()).isEqualTo(400);
    assertThat(servers.send(server, "GET", "/store/position?shard=3", "").statusCode())
        .isEqualTo(200);
    assertThat(servers.send(server, "GET", "/store/position?shard=4", "").statusCode())
        .isEqualTo(404);
  }

  @Test
  void leaders_move_when_a_server_joins_and_when_it_ends() throws Exception {
    MillraceServer first = servers.first();
    MillraceServer second = servers.serve();
    MillraceServer third = servers.serve();
    servers.awaitLeads(1, 1, 2);
    try (HttpTaskStore store = store()) {
      for (int i = 0; i < 40; i++) {
        Task _ = add(store, "team" + i, "before");
      }
      // Everything that is not divided goes on at another server too.
      servers.close(first);
      servers.awaitLeads(2, 2);
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
    MillraceServer first = servers.serve(strict);
    awaitLedBy(first, "secret-of-all");
    first.leads().get(60, TimeUnit.SECONDS);
    MillraceServer second = servers.serve(strict);
    String[] owner = {"Authorization", "Bearer secret-of-all"};
    assertThat(
            servers
                .send(
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
            .readTree(
                servers.send(first, "POST", "/access/principals/ann/keys", "{}", owner).body())
            .path("key")
            .asString();
    String[] ann = {"Authorization", "Bearer " + key};
    for (MillraceServer server : servers.all()) {
      assertThat(servers.send(server, "GET", "/store/group/team1", "").statusCode()).isEqualTo(401);
      assertThat(servers.send(server, "GET", "/store/group/team1", "", ann).statusCode())
          .isEqualTo(200);
      assertThat(servers.send(server, "GET", "/store/group/other", "", ann).statusCode())
          .isEqualTo(403);
    }
    while (!servers
        .send(second, "GET", "/shards", "", owner)
        .body()
        .contains("\"role\":\"leader\"")) {
      LockSupport.parkNanos(5_000_000);
    }
    assertThat(servers.send(second, "POST", "/shards/1/hand-over", "", ann).statusCode())
        .isEqualTo(403);
  }

  /** The entries about changes of documents in {@code /store}, once they count so many. */
  private List<JsonNode> audited(MillraceServer server, String query, int count) throws Exception {
    while (true) {
      List<JsonNode> found = new ArrayList<>();
      String next = "";
      do {
        JsonNode page =
            servers.json(
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
      LockSupport.parkNanos(5_000_000);
    }
  }

  @Test
  void the_audit_log_has_the_changes_in_all_shards() throws Exception {
    MillraceServer first = servers.first();
    MillraceServer second = servers.serve();
    servers.awaitLeads(2, 2);
    for (MillraceServer server : List.of(first, second)) {
      assertThat(servers.send(server, "GET", "/metrics", "").body().lines())
          .contains("millrace_audit_waiting 0.0", "millrace_audit_lost_total 0.0");
    }
    try (HttpTaskStore store = store()) {
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
              servers
                  .send(first, "GET", "/audit/export?action=store.update&result=done", "")
                  .body()
                  .lines())
          .hasSize(21);
      // Whoever leads the shards that it led has what it wrote until its end.
      for (int i = 0; i < 20; i++) {
        Task _ = add(store, "team" + i, "later");
      }
      servers.close(second);
      servers.awaitLeads(ShardServers.SHARDS);
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
      String body =
          servers.send(server, "GET", "/shards", "", "Authorization", authorization).body();
      if (body.split("\"role\":\"leader\"", -1).length == ShardServers.SHARDS + 1) {
        return;
      }
      LockSupport.parkNanos(5_000_000);
    }
  }

  @Test
  void the_number_of_shards_stays_as_it_is() throws Exception {
    MillraceServer first = servers.serve();
    servers.awaitLeads(ShardServers.SHARDS);
    servers.close(first);

    for (String other : List.of("1", "2")) {
      MillraceServer second = servers.serve("store.shards", other);
      assertThatThrownBy(() -> second.leads().get(60, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .hasMessageContaining(
              "store.shards is " + other + ", but this is shard 0 of 4; the number of shards");
      servers.close(second);
    }
    MillraceServer whole = servers.serve("store.shards", "1", "store.name", "whole");
    whole.leads().get(60, TimeUnit.SECONDS);
    HttpResponse<String> added =
        servers.send(
            whole, "POST", "/store/update", "{\"clientid\": 7, \"adds\": [{\"group\": \"a\"}]}");
    assertThat(added.statusCode()).isEqualTo(200);
    servers.close(whole);
    MillraceServer divided = servers.serve("store.name", "whole");
    assertThatThrownBy(() -> divided.leads().get(60, TimeUnit.SECONDS))
        .hasMessageContaining("the store is there already, in one piece");
    String folder = root.resolve("folder").toString();
    assertThatThrownBy(() -> servers.serve("store.url", "file:" + folder, "store.data", folder))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("store.shards takes store.url with a database");
  }

  @Test
  void servers_with_certificates_of_their_own_authority_trust_each_other() throws Exception {
    Certificates certificates = new Certificates(Files.createDirectory(root.resolve("tls")));
    Path authority = certificates.makeAuthority("authority");
    Path certificate = certificates.makeSigned("server", "authority");
    String[] tls = {
      "server.tls.certificate", certificate.toString(),
      "server.tls.key", certificates.key("server").toString(),
      "server.tls.trusted", authority.toString()
    };
    for (int i = 0; i < 2; i++) {
      var _ = servers.serve(tls);
    }
    servers.awaitLeads(2, 2);
    try (HttpTaskStore store =
        HttpTaskStore.open(
            ClientOptions.at(servers.addresses().replace("http:", "https:"))
                .withCertificates(authority)
                .withRetryFor(Duration.ofMinutes(1)))) {
      IntStream.range(0, 20).forEach(i -> add(store, "team" + i, "it"));
      for (MillraceServer server : servers.all()) {
        assertThat(servers.json(server, "/store/groups"))
            .extracting(JsonNode::asString)
            .filteredOn(group -> group.startsWith("team"))
            .hasSize(20);
      }
    }
    assertThatThrownBy(() -> servers.serve("server.tls.trusted", "/nowhere"))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageStartingWith("server.tls.trusted: cannot read the certificates in /nowhere");
  }
}
