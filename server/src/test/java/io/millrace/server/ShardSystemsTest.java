package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.store.Bytes;
import io.millrace.store.Owner;
import io.millrace.store.Transaction;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The systems of each shard, below {@code /shards/3}, at two servers. */
class ShardSystemsTest {
  private static final String[] FORM = {"Content-Type", "application/x-www-form-urlencoded"};

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

  /** The answer of whoever leads the shard. */
  private HttpResponse<String> follow(
      MillraceServer server, String method, String path, String body, String... headers)
      throws Exception {
    HttpResponse<String> response = servers.send(server, method, path, body, headers);
    if (response.statusCode() != 307) {
      return response;
    }
    String location = response.headers().firstValue("Location").orElseThrow();
    MillraceServer leader =
        servers.all().stream()
            .filter(each -> location.startsWith(ShardServers.address(each) + "/"))
            .findFirst()
            .orElseThrow();
    assertThat(location).isEqualTo(ShardServers.address(leader) + path);
    return servers.send(leader, method, path, body, headers);
  }

  private JsonNode get(MillraceServer server, String path) throws Exception {
    HttpResponse<String> response = follow(server, "GET", path, "");
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JsonMapper.shared().readTree(response.body());
  }

  private JsonNode post(MillraceServer server, String path, String body, String... headers)
      throws Exception {
    HttpResponse<String> response = follow(server, "POST", path, body, headers);
    assertThat(response.statusCode()).as(response.body()).isBetween(200, 202);
    return JsonMapper.shared().readTree(response.body());
  }

  @Test
  void each_shard_has_systems_of_its_own_at_every_server() throws Exception {
    MillraceServer first = servers.first();
    MillraceServer second = servers.serve();
    servers.awaitLeads(2, 2);
    for (int shard = 0; shard < ShardServers.SHARDS; shard++) {
      String at = "/shards/" + shard;
      JsonNode queue = post(first, at + "/dci/queues", "name=mail&plugin=exec&threads=1", FORM);
      String id = queue.path("id").path("$oid").asString();
      assertThat(Long.parseLong(id, 8, 18, 16) % ShardServers.SHARDS).isEqualTo(shard);
      JsonNode node =
          post(
              second,
              at + "/v1/nodes",
              "[{\"metadata\": {\"type\": \"group\", \"parent\": \"root\"}, \"data\": {}}]");
      String text = node.toString();
      long nodeId = Long.parseLong(text.replaceAll("\\D*(\\d+).*", "$1"));
      assertThat(nodeId >> 48).isEqualTo(shard);
    }
    for (MillraceServer server : servers.all()) {
      for (int shard = 0; shard < ShardServers.SHARDS; shard++) {
        String at = "/shards/" + shard;
        assertThat(get(server, at + "/dci/queues")).hasSize(1);
        if (shard > 0) {
          assertThat(get(server, at + "/health").path("role").asString()).isEqualTo("leader");
        }
        assertThat(follow(server, "GET", at + "/", "").body()).contains("<html");
        assertThat(follow(server, "GET", at + "/metrics", "").statusCode()).isEqualTo(200);
        // What the store has once is the same below each shard.
        assertThat(get(server, at + "/access/me").path("principal").asString())
            .isEqualTo(get(server, "/access/me").path("principal").asString());
        assertThat(get(server, at + "/shards")).hasSize(ShardServers.SHARDS);
      }
      assertThat(servers.send(server, "GET", "/shards/4/dci/queues", "").statusCode())
          .isIn(404, 307);
    }
  }

  @Test
  void a_store_below_a_shard_takes_only_what_belongs_to_it() throws Exception {
    MillraceServer first = servers.first();
    int refused = 0;
    for (int i = 0; i < 20; i++) {
      HttpResponse<String> added =
          servers.send(
              first,
              "POST",
              "/shards/3/store/update",
              "{\"clientid\": 7, \"adds\": [{\"group\": \"team%d/work\"}]}".formatted(i));
      if (added.statusCode() == 400) {
        refused++;
        assertThat(added.body())
            .contains("a path below /shards/3 is for that shard alone")
            .containsPattern("group team" + i + "/work in shard [012]");
      } else {
        assertThat(added.statusCode()).isEqualTo(200);
        assertThat(servers.json(first, "/store/group/team" + i + "%2Fwork")).hasSize(1);
      }
    }
    assertThat(refused).isBetween(1, 19);
    HttpResponse<String> access =
        servers.send(
            first,
            "POST",
            "/shards/3/store/update",
            "{\"clientid\": 7, \"puts\": [{\"collection\": \"access.keys\", \"key\": \"k\","
                + " \"body\": \"b\"}]}");
    assertThat(access.statusCode()).as(access.body()).isIn(400, 403);
    HttpResponse<String> own =
        servers.send(
            first,
            "POST",
            "/shards/3/store/update",
            "{\"clientid\": 7, \"puts\": [{\"collection\": \"queues.own\", \"key\": \"k\","
                + " \"body\": \"b\"}]}");
    assertThat(own.statusCode()).as(own.body()).isEqualTo(200);
  }

  @Test
  void they_move_with_the_lead() throws Exception {
    MillraceServer first = servers.first();
    JsonNode made = post(first, "/shards/2/dci/queues", "name=mail&plugin=exec&threads=1", FORM);
    MillraceServer second = servers.serve();
    servers.awaitLeads(2, 2);
    String mail = "/shards/2/dci/queues/mail";
    assertThat(get(first, mail).path("id")).isEqualTo(made.path("id").path("$oid"));
    servers.close(first);
    servers.awaitLeads(ShardServers.SHARDS);
    assertThat(get(second, mail).path("id")).isEqualTo(made.path("id").path("$oid"));
    try (HttpTaskStore store =
        HttpTaskStore.open(
            ClientOptions.at(ShardServers.address(second) + "/shards/2")
                .withRetryFor(Duration.ofMinutes(1)))) {
      assertThat(
              store
                      .commit(
                          Transaction.by(Owner.client(7)).add("queues/own", Bytes.of("it")).build())
                      .done()
                      .tasks()
                      .getFirst()
                      .id()
                  % ShardServers.SHARDS)
          .isEqualTo(2);
    }
  }
}
