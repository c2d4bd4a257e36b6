package io.millrace.server.queues;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Queue;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.server.Heard;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Changes of queues, tasks and nodes, as they are streamed. */
final class DciEventsTest {
  @TempDir private Path folder;
  private final HttpClient client = HttpClient.newHttpClient();
  private Dci dci;

  @BeforeEach
  void start() {
    dci = new Dci(folder);
  }

  @AfterEach
  void stop() {
    client.close();
    dci.close();
  }

  @Test
  void queues_nodes_and_tasks_are_told_as_they_change() throws Exception {
    try (Stream<String> events = events("/events")) {
      Iterator<String> lines = events.iterator();
      next(lines, "start");
      Queue queue = create("demo");
      JsonNode created = next(lines, "queue");
      assertThat(created.path("name").asString()).isEqualTo("demo");
      assertThat(created.path("plugin").asString()).isEqualTo("shell");
      assertThat(created.has("queued")).isFalse();
      submit(queue);
      assertThat(next(lines, "task").path("status").asInt()).isEqualTo(-2);
      NodeIdentity identity = new NodeIdentity("i", "host", "7 mark", List.of("shell"));
      var node = dci.queues.nodes().take("n1", null, identity).orElseThrow();
      JsonNode came = next(lines, "node");
      assertThat(came.path("node").asString()).isEqualTo("n1");
      assertThat(came.path("state").asString()).isEqualTo("alive");
      Run run = dci.queues.runs().claim(node, queue, 1, Duration.ofMinutes(5)).getFirst();
      JsonNode claimed = next(lines, "task");
      assertThat(claimed.path("_id").path("$oid").asString()).isEqualTo(run.task().hex());
      assertThat(claimed.path("node").asString()).isEqualTo("n1");
      assertThat(dci.queues.queues().delete(queue.id())).isTrue();
      JsonNode deleted = next(lines, "deleted");
      assertThat(deleted.path("type").asString()).isEqualTo("queue");
      assertThat(deleted.path("id").asString()).isEqualTo(queue.id().hex());
    }
  }

  @Test
  void a_stream_tells_only_of_the_queues_and_types_that_were_asked_for() throws Exception {
    Queue mine = create("mine");
    Queue other = create("other");
    try (Stream<String> events = events("/events?queue=mine&type=task")) {
      Iterator<String> lines = events.iterator();
      next(lines, "start");
      submit(other);
      create("third");
      submit(mine);
      JsonNode task = next(lines, "task");
      assertThat(task.path("queue").path("$oid").asString()).isEqualTo(mine.id().hex());
    }
  }

  @Test
  void a_stream_goes_on_after_the_event_that_was_read_last() throws Exception {
    String id;
    try (Stream<String> events = events("/events")) {
      Iterator<String> lines = events.iterator();
      next(lines, "start");
      create("first");
      assertThat(find(lines, "event: ")).isEqualTo("event: queue");
      id = find(lines, "id: ").substring("id: ".length());
    }
    create("second");
    try (Stream<String> events = events("/events", "Last-Event-ID", id)) {
      Iterator<String> lines = events.iterator();
      next(lines, "start");
      assertThat(next(lines, "queue").path("name").asString()).isEqualTo("second");
    }
  }

  @Test
  void a_stream_that_cannot_be_opened_is_refused() throws Exception {
    assertThat(dci.refused("GET", "/events?after=x", "").path("error").asString())
        .isEqualTo("after must be the id of an event, not x");
    assertThat(dci.refused("GET", "/events?type=job", "").path("error").asString())
        .isEqualTo("type must be queue, task or node");
    assertThat(dci.refused("GET", "/events?queue=none", "").path("error").asString())
        .isEqualTo("queue not found");
  }

  @Test
  void a_websocket_tells_the_same_with_name_and_id() throws Exception {
    Heard heard = new Heard();
    URI address = URI.create("ws://127.0.0.1:" + dci.server().port() + "/dci/events?type=queue");
    WebSocket socket =
        client.newWebSocketBuilder().buildAsync(address, heard).get(30, TimeUnit.SECONDS);
    JsonNode start = Dci.MAPPER.readTree(heard.next());
    assertThat(start.path("event").asString()).isEqualTo("start");
    create("first");
    JsonNode created = Dci.MAPPER.readTree(heard.next());
    assertThat(created.path("event").asString()).isEqualTo("queue");
    assertThat(created.path("data").path("name").asString()).isEqualTo("first");
    create("second");
    heard.next();
    socket.abort();
    Heard resumed = new Heard();
    URI after = URI.create(address + "&after=" + created.path("id").asString());
    WebSocket second =
        client.newWebSocketBuilder().buildAsync(after, resumed).get(30, TimeUnit.SECONDS);
    assertThat(Dci.MAPPER.readTree(resumed.next()).path("event").asString()).isEqualTo("start");
    assertThat(Dci.MAPPER.readTree(resumed.next()).path("data").path("name").asString())
        .isEqualTo("second");
    second.abort();
  }

  private Queue create(String name) {
    return dci.queues.queues().create(name, "shell", Queue.Settings.DEFAULTS.withThreads(10));
  }

  private void submit(Queue queue) {
    dci.queues
        .submission()
        .submit(queue, List.of(Dci.MAPPER.createObjectNode().put("command", "x")), Status.QUEUED);
  }

  private Stream<String> events(String path, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(dci.server().at("/dci" + path));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), BodyHandlers.ofLines()).body();
  }

  /** The data of the next event, which has this name. */
  private static JsonNode next(Iterator<String> lines, String event) {
    assertThat(find(lines, "event: ")).isEqualTo("event: " + event);
    return Dci.MAPPER.readTree(find(lines, "data: ").substring("data: ".length()));
  }

  private static String find(Iterator<String> lines, String start) {
    String line = lines.next();
    while (!line.startsWith(start)) {
      line = lines.next();
    }
    return line;
  }
}
