package io.millrace.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.client.HttpTaskStore;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.store.StoreDocuments;
import io.millrace.server.Heard;
import io.millrace.server.TestServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Changes of a cluster, as they are streamed. */
@Timeout(60)
final class ClusterEventsTest {
  @TempDir private Path folder = Path.of("");
  private final HttpClient client = HttpClient.newHttpClient();
  private TestServer server;
  private VersionedDocuments documents;

  @BeforeEach
  void start() {
    server = TestServer.in(folder);
    documents = StoreDocuments.owning(HttpTaskStore.open(server.at("")));
  }

  @AfterEach
  void stop() {
    client.close();
    documents.close();
    server.close();
  }

  @Test
  void the_leader_members_locks_partitions_and_reports_are_told_as_they_change() throws Exception {
    try (Stream<String> events = events("")) {
      Iterator<String> lines = events.iterator();
      assertThat(next(lines, "start")).isEqualTo("{}");
      put("leader", lock("a", 1000, 7));
      assertThat(next(lines, "leader"))
          .isEqualTo(json("{'leader':'a','leaderExpires':1000,'fence':7}"));
      put("members", "{\"nodes\":[{\"token\":\"a\",\"workers\":2}]}");
      assertThat(next(lines, "members"))
          .isEqualTo(json("{'members':[{'token':'a','workers':2}],'joined':['a'],'left':[]}"));
      put("members", "{\"nodes\":[{\"token\":\"b\",\"workers\":1}]}");
      assertThat(next(lines, "members"))
          .isEqualTo(json("{'members':[{'token':'b','workers':1}],'joined':['b'],'left':['a']}"));
      put("semaphore/s", "{\"permits\":1}");
      put("semaphore/s/1", lock("b", 2000, 1001));
      assertThat(next(lines, "lock"))
          .isEqualTo(json("{'id':'semaphore/s/1','holder':'b','expire':2000,'fence':1001}"));
      put("partition/7-2", partition("b", 3000, "outstanding"));
      assertThat(next(lines, "partition"))
          .isEqualTo(
              json("{'id':'7-2','holder':'b','expire':3000,'state':'outstanding','fence':2001}"));
      put("partition/7-2", partition("b", 0, "done"));
      assertThat(next(lines, "partition"))
          .isEqualTo(json("{'id':'7-2','holder':'b','expire':0,'state':'done','fence':2001}"));
      delete("partition/7-2");
      assertThat(next(lines, "deleted")).isEqualTo(json("{'type':'partition','id':'7-2'}"));
      put("status/feed/a", "{\"time\":1000,\"text\":\"half done\"}");
      assertThat(next(lines, "report"))
          .isEqualTo(json("{'name':'feed','token':'a','time':1000,'text':'half done'}"));
      delete("status/feed/a");
      assertThat(next(lines, "deleted")).isEqualTo(json("{'type':'report','id':'feed/a'}"));
    }
  }

  @Test
  void the_renewal_of_a_lease_is_not_told() throws Exception {
    put("leader", lock("a", 1000, 7));
    put("partition/7-2", partition("a", 1000, "outstanding"));
    try (Stream<String> events = events("")) {
      Iterator<String> lines = events.iterator();
      next(lines, "start");
      put("leader", lock("a", 2000, 7));
      put("partition/7-2", partition("a", 2000, "outstanding"));
      put("lock/x", lock("a", 1000, 5001));
      assertThat(next(lines, "lock")).contains("lock/x");
      put("lock/x", lock("a", 2000, 5001));
      put("lock/x", lock("", 0, 5001));
      assertThat(next(lines, "lock"))
          .isEqualTo(json("{'id':'lock/x','holder':null,'expire':0,'fence':5001}"));
      put("leader", lock("", 0, 7));
      assertThat(next(lines, "leader"))
          .isEqualTo(json("{'leader':null,'leaderExpires':0,'fence':7}"));
    }
  }

  @Test
  void a_stream_tells_only_of_the_types_that_were_asked_for_and_of_readable_documents()
      throws Exception {
    try (Stream<String> events = events("?type=lock&type=leader")) {
      Iterator<String> lines = events.iterator();
      next(lines, "start");
      put("members", "{\"nodes\":[{\"token\":\"a\",\"workers\":2}]}");
      put("lock/damaged", "{\"holder\":\"a\",\"expire\":\"soon\"}");
      put("config", "{\"lease\":10000}");
      put("leader", lock("a", 1000, 7));
      assertThat(next(lines, "leader")).contains("\"leader\":\"a\"");
    }
  }

  @Test
  void a_stream_goes_on_after_the_event_that_was_read_last() throws Exception {
    String id;
    try (Stream<String> events = events("")) {
      Iterator<String> lines = events.iterator();
      next(lines, "start");
      put("lock/x", lock("a", 1000, 1));
      assertThat(find(lines, "event: ")).isEqualTo("lock");
      id = find(lines, "id: ");
    }
    put("lock/y", lock("b", 1000, 2));
    put("members", "{\"nodes\":[{\"token\":\"a\",\"workers\":2}]}");
    try (Stream<String> events = events("", "Last-Event-ID", id)) {
      Iterator<String> lines = events.iterator();
      next(lines, "start");
      assertThat(next(lines, "lock")).contains("lock/y");
      assertThat(next(lines, "members")).isEqualTo(json("{'members':[{'token':'a','workers':2}]}"));
    }
  }

  @Test
  void a_websocket_tells_the_same_with_name_and_id() throws Exception {
    Heard heard = new Heard();
    URI address = URI.create("ws://127.0.0.1:" + server.port() + "/cluster/events?type=lock");
    WebSocket socket =
        client.newWebSocketBuilder().buildAsync(address, heard).get(30, TimeUnit.SECONDS);
    assertThat(heard.next()).startsWith("{\"event\":\"start\"");
    put("lock/x", lock("a", 1000, 1));
    assertThat(heard.next()).startsWith("{\"event\":\"lock\"").contains("\"holder\":\"a\"");
    socket.abort();
  }

  @Test
  void a_stream_that_cannot_be_opened_is_refused() throws Exception {
    assertThat(server.get("/cluster/events?after=x").statusCode()).isEqualTo(400);
    assertThat(server.get("/cluster/events?after=x").body())
        .contains("after must be the id of an event, not x");
    assertThat(server.get("/cluster/events?type=job").statusCode()).isEqualTo(400);
    assertThat(server.get("/cluster/events?type=job").body())
        .contains("type must be leader, members, lock, partition or report, not job");
  }

  @Test
  void a_websocket_that_cannot_be_opened_is_refused_before_the_switch() throws Exception {
    try (TestServer full = TestServer.in(folder.resolve("full"), "store.max-subscribers", "0")) {
      int status = full.get("/cluster/events").statusCode();
      assertThat(status).isGreaterThanOrEqualTo(400);
      URI address = URI.create("ws://127.0.0.1:" + full.port() + "/cluster/events");
      assertThat(client.newWebSocketBuilder().buildAsync(address, new Heard()))
          .failsWithin(Duration.ofSeconds(30))
          .withThrowableThat()
          .havingCause()
          .isInstanceOfSatisfying(
              WebSocketHandshakeException.class,
              e -> assertThat(e.getResponse().statusCode()).isEqualTo(status));
    }
  }

  private static String lock(String holder, long expire, long fence) {
    return json("{'holder':'%s','expire':%d,'fence':%d}".formatted(holder, expire, fence));
  }

  private static String partition(String holder, long expire, String state) {
    return json(
        "{'holder':'%s','expire':%d,'fence':2001,'task':'YQ==','state':'%s'}"
            .formatted(holder, expire, state));
  }

  private static String json(String text) {
    return text.replace('\'', '"');
  }

  private void put(String key, String json) {
    Version expected = documents.get(key).map(document -> document.version()).orElse(Version.NONE);
    assertThat(documents.put(key, expected, json)).isPresent();
  }

  private void delete(String key) {
    assertThat(documents.delete(key, documents.get(key).orElseThrow().version())).isTrue();
  }

  private Stream<String> events(String query, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(server.at("/cluster/events" + query));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), BodyHandlers.ofLines()).body();
  }

  /** The data of the next event, which has this name. */
  private static String next(Iterator<String> lines, String event) {
    assertThat(find(lines, "event: ")).isEqualTo(event);
    return find(lines, "data: ");
  }

  private static String find(Iterator<String> lines, String start) {
    String line = lines.next();
    while (!line.startsWith(start)) {
      line = lines.next();
    }
    return line.substring(start.length());
  }
}
