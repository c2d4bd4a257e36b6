package io.millrace.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.client.HttpTaskStore;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.store.StoreDocuments;
import io.millrace.server.TestServer;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the server shows of a cluster whose documents its store holds. */
final class ClusterApiTest {
  private static final long LATER = 4_000_000_000_000L;

  @TempDir private Path folder = Path.of("");
  private TestServer server;
  private VersionedDocuments documents;

  @BeforeEach
  void start() {
    server = TestServer.in(folder);
    documents = StoreDocuments.owning(HttpTaskStore.open(server.at("")));
  }

  @AfterEach
  void stop() {
    documents.close();
    server.close();
  }

  @Test
  void a_cluster_is_shown_whole_and_in_parts() throws IOException, InterruptedException {
    assertThat(get("/cluster").path("leader").isNull()).isTrue();
    put("leader", "{\"holder\":\"a\",\"expire\":" + LATER + ",\"fence\":7}");
    put("member/b", "{\"holder\":\"b\",\"expire\":0,\"fence\":1001}");
    put("members", "{\"nodes\":[{\"token\":\"a\",\"workers\":2},{\"token\":\"b\",\"workers\":1}]}");
    put(
        "partition/7-10",
        "{\"holder\":\"\",\"expire\":0,\"fence\":3000,\"task\":\"YQ==\","
            + "\"state\":\"outstanding\"}");
    put(
        "partition/7-2",
        "{\"holder\":\"b\",\"expire\":0,\"fence\":2001,\"task\":\"YQ==\"," + "\"state\":\"done\"}");
    put("status/feed/a", "{\"time\":1000,\"text\":\"half done\"}");
    put("status/feed/b", "{\"time\":2000,\"values\":{\"lag\":\"3\"}}");
    put("lock/x", "{\"holder\":\"a\",\"expire\":" + LATER + ",\"fence\":5001}");
    put("semaphore/s", "{\"permits\":1}");
    put("semaphore/s/1", "{\"holder\":\"b\",\"expire\":" + LATER + ",\"fence\":4001}");
    JsonNode status = get("/cluster");
    assertThat(status.toString())
        .isEqualTo(
            ("{'leader':'a','leaderExpires':4000000000000,'fence':7,"
                    + "'members':[{'token':'a','workers':2},{'token':'b','workers':1}],"
                    + "'partitions':[{'id':'7-2','holder':'b','expire':0,'state':'done',"
                    + "'fence':2001},{'id':'7-10','holder':null,'expire':0,"
                    + "'state':'outstanding','fence':3000}],"
                    + "'status':[{'name':'feed','token':'a','time':1000,'text':'half done'},"
                    + "{'name':'feed','token':'b','time':2000,'values':{'lag':'3'}}]}")
                .replace('\'', '"'));
    assertThat(get("/cluster/leader").path("leaderExpires").asLong()).isEqualTo(LATER);
    assertThat(get("/cluster/members")).isEqualTo(status.path("members"));
    assertThat(get("/cluster/partitions")).isEqualTo(status.path("partitions"));
    assertThat(get("/cluster/status")).isEqualTo(status.path("status"));
    assertThat(get("/cluster/locks").toString())
        .isEqualTo(
            ("[{'id':'leader','holder':'a','expire':4000000000000,'fence':7},"
                    + "{'id':'lock/x','holder':'a','expire':4000000000000,'fence':5001},"
                    + "{'id':'member/b','holder':null,'expire':0,'fence':1001},"
                    + "{'id':'semaphore/s/1','holder':'b','expire':4000000000000,'fence':4001}]")
                .replace('\'', '"'));
  }

  @Test
  void a_leader_whose_lease_has_ended_is_none() throws IOException, InterruptedException {
    put("leader", "{\"holder\":\"a\",\"expire\":1000,\"fence\":7}");
    assertThat(get("/cluster/leader").toString())
        .isEqualTo("{\"leader\":null,\"leaderExpires\":1000,\"fence\":7}");
  }

  @Test
  void a_document_that_is_none_of_a_cluster_is_named() throws IOException, InterruptedException {
    put("leader", "{\"holder\":\"a\",\"expire\":\"soon\"}");
    HttpResponse<String> response = server.get("/cluster");
    assertThat(response.statusCode()).isEqualTo(503);
    assertThat(response.body()).contains("document leader is no lock");
  }

  private void put(String key, String json) {
    Version expected = documents.get(key).map(document -> document.version()).orElse(Version.NONE);
    assertThat(documents.put(key, expected, json)).isPresent();
  }

  private JsonNode get(String path) throws IOException, InterruptedException {
    HttpResponse<String> response = server.get(path);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JsonMapper.shared().readTree(response.body());
  }
}
