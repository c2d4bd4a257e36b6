package io.millrace.server.graph;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.Heard;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The changes of the graph, both ways. */
final class GraphEventsTest {
  private static final int MANY = 10_000;

  @TempDir private Path folder;
  private Graphs graph;

  @BeforeEach
  void start() {
    graph = new Graphs(folder);
  }

  @AfterEach
  void stop() {
    graph.close();
  }

  /** A stream of server-sent events. */
  private final class Events implements AutoCloseable {
    private final Socket socket;
    private final BufferedReader lines;

    Events(String query, String... headers) throws Exception {
      socket = graph.server().connect();
      socket
          .getOutputStream()
          .write(
              ("GET /v1/events"
                      + query
                      + " HTTP/1.1\r\nHost: localhost\r\n"
                      + String.join("", headers)
                      + "\r\n")
                  .getBytes(StandardCharsets.US_ASCII));
      lines =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }

    JsonNode next() throws Exception {
      String line = lines.readLine();
      while (!line.startsWith("data: ")) {
        line = lines.readLine();
      }
      return Graphs.MAPPER.readTree(line.substring(6));
    }

    /** Takes what comes after a version until a node is told, and no others; the last version. */
    long tell(String wanted, long after, Set<String> these) throws Exception {
      long version = after;
      Set<String> told = new HashSet<>();
      while (!told.contains(wanted)) {
        JsonNode event = next();
        assertThat(event.required("version").longValue()).isGreaterThan(version);
        version = event.required("version").longValue();
        event.required("changed").forEach(node -> told.add(node.required("id").asString()));
      }
      assertThat(these).containsAll(told);
      return version;
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  @Test
  void a_stream_begins_with_all_nodes_and_misses_nothing() throws Exception {
    String first = graph.script("root", "true");
    graph.settled(first);
    try (Events events = new Events("?metadata=state")) {
      JsonNode all = events.next();
      assertThat(all.required("nodes"))
          .isEqualTo(Graphs.json("[{'id':'" + first + "','state':'finished'}]"));
      String second = graph.script(first, "true");
      String state = "";
      long version = all.required("version").longValue();
      while (!state.equals("finished")) {
        JsonNode event = events.next();
        assertThat(event.required("version").longValue()).isGreaterThan(version);
        version = event.required("version").longValue();
        assertThat(event.at("/changed/0/id").asString()).isEqualTo(second);
        state = event.at("/changed/0/state").asString();
      }
      try (Events resumed = new Events("?after=" + all.required("version"))) {
        assertThat(resumed.next().at("/changed/0/state").asString()).isEqualTo("ready");
      }
      graph.answer(200, "DELETE", "/nodes/" + second, "");
      assertThat(events.next().required("removed")).isEqualTo(Graphs.json("['" + second + "']"));
    }
  }

  @Test
  void a_filter_shows_what_comes_into_it_and_what_leaves() throws Exception {
    String never = folder.resolve("never").toString();
    String gate = graph.add("wait for", "root", "{'file': '" + never + "'}");
    String inside = graph.add("wait for", gate, "{'file': '" + never + "'}");
    try (Events below = new Events("?metadata=&below=" + gate);
        Events killed = new Events("?metadata=&state=killed&type=wait%20for")) {
      assertThat(below.next().required("nodes")).hasSize(2);
      assertThat(killed.next().required("nodes")).isEmpty();
      graph.script("root", "true");
      String moved = graph.add("wait for", inside, "{'file': '" + never + "'}");
      assertThat(below.next().at("/changed/0/id").asString()).isEqualTo(moved);
      graph.answer(200, "PATCH", "/nodes/" + inside, "{'parent': 'root'}");
      JsonNode left = below.next();
      assertThat(left.required("changed")).isEmpty();
      assertThat(left.required("removed")).hasSize(2);
      graph.answer(202, "PUT", "/scheduler/kill?id=" + moved, "");
      assertThat(killed.next().required("changed"))
          .isEqualTo(Graphs.json("[{'id':'" + moved + "'}]"));
      graph.answer(200, "POST", "/nodes/" + moved + "/retry", "");
      assertThat(killed.next().required("removed")).isEqualTo(Graphs.json("['" + moved + "']"));
    }
  }

  @Test
  void a_stream_with_filters_goes_on_behind_the_pages_or_the_last_message() throws Exception {
    String never = "{'file': '" + folder.resolve("never") + "'}";
    String top = graph.add("wait for", "root", never);
    String tag =
        graph.server().get("/v1/nodes?below=" + top).headers().firstValue("ETag").orElseThrow();
    String position = tag.substring(1, tag.length() - 1);
    graph.script("root", "true");
    String inside = graph.add("wait for", top, never);
    String filter = "?metadata=&type=wait%20for&below=" + top;
    long version;
    try (Events events = new Events(filter + "&after=" + position)) {
      version = events.tell(inside, Long.parseLong(position), Set.of(top, inside));
    }
    graph.answer(202, "PUT", "/scheduler/kill?id=" + inside, "");
    graph.script("root", "true");
    String last = graph.add("wait for", inside, never);
    try (Events events = new Events(filter + "&after=0", "Last-Event-ID: " + version + "\r\n")) {
      long _ = events.tell(last, version, Set.of(top, inside, last));
    }
  }

  @Test
  void a_stream_that_nobody_reads_while_too_much_happens_ends_with_lost() throws Exception {
    String gate = graph.add("wait for", "root", "{'file': '" + folder.resolve("never") + "'}");
    String group = graph.add("group", gate, "{}");
    String one =
        "{'metadata': {'type': 'wait for', 'parent': '" + group + "'}, 'data': {'time': 0}}";
    graph.add("[" + String.join(",", Collections.nCopies(MANY, one)) + "]");
    URL address = graph.server().at("/v1/events?below=" + group).toURL();
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(address.openStream(), StandardCharsets.UTF_8))) {
      assertThat(lines.readLine()).startsWith("id: ");
      // More changes than are kept and those that are on their way.
      for (int i = 0; i < 8; i++) {
        graph.answer(202, "PUT", "/scheduler/kill?id=" + group, "");
        graph.answer(200, "POST", "/nodes/" + group + "/retry", "");
      }
      assertThat(lines.lines().dropWhile(line -> !line.equals("event: lost")).skip(1))
          .first(InstanceOfAssertFactories.STRING)
          .startsWith("data: {\"reason\":\"changes after version ");
    }
  }

  @Test
  void a_position_that_is_gone_or_none_is_refused() throws Exception {
    graph.refused(410, "GET", "/events?after=1000000", "");
    graph.refused(400, "GET", "/events?after=x", "");
    graph.refused(404, "GET", "/events?below=77", "");
    graph.refused(400, "GET", "/events?state=gone", "");
    String upgrade =
        """
        GET /v1/events HTTP/1.1
        Host: localhost
        Connection: close
        Upgrade: carrier-pigeon

        """;
    assertThat(graph.server().raw(upgrade)).startsWith("HTTP/1.1 426 ");
  }

  @Test
  void a_websocket_goes_on_from_a_position_with_filters() throws Exception {
    String never = "{'file': '" + folder.resolve("never") + "'}";
    String top = graph.add("wait for", "root", never);
    long seen = graph.get("/nodes/" + top).required("version").longValue();
    graph.script("root", "true");
    String inside = graph.add("wait for", top, never);
    try (HttpClient client = HttpClient.newHttpClient()) {
      Heard heard = new Heard();
      URI address =
          URI.create(
              "ws://127.0.0.1:"
                  + graph.server().port()
                  + "/v1/events?metadata=&state=incipient&below="
                  + top
                  + "&after="
                  + seen);
      WebSocket socket =
          client.newWebSocketBuilder().buildAsync(address, heard).get(30, TimeUnit.SECONDS);
      JsonNode first = Graphs.json(heard.next());
      // Whoever resumes may hear of nodes that go and never were there.
      while (first.required("changed").isEmpty()) {
        first = Graphs.json(heard.next());
      }
      assertThat(first.required("changed")).isEqualTo(Graphs.json("[{'id':'" + inside + "'}]"));
      socket.abort();
    }
  }

  @Test
  void the_same_comes_over_a_websocket() throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      Heard heard = new Heard();
      URI address =
          URI.create("ws://127.0.0.1:" + graph.server().port() + "/v1/events?metadata=state");
      WebSocket socket =
          client.newWebSocketBuilder().buildAsync(address, heard).get(30, TimeUnit.SECONDS);
      assertThat(Graphs.json(heard.next()).required("nodes")).isEmpty();
      String node = graph.script("root", "true");
      assertThat(Graphs.json(heard.next()).required("changed"))
          .isEqualTo(Graphs.json("[{'id':'" + node + "','state':'ready'}]"));
      graph.settled(node);
      socket.sendText("hello?", true).join();
      String last = heard.next();
      while (!last.startsWith("closed")) {
        last = heard.next();
      }
      assertThat(last).isEqualTo("closed 1003");
    }
  }
}
