package io.millrace.cli.graph;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.millrace.cli.Shell;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Commands, and a server whose responses a test determines. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnsteadyServerTest {
  private static final String ONE =
      "{\"id\":\"%d\",\"type\":\"group\",\"state\":\"%s\",\"parents\":[]}";

  /** What is answered to which question: each answer once, the last one from then on. */
  private final Map<String, List<Answer>> answers = new ConcurrentHashMap<>();

  private final List<String> asked = new ArrayList<>();
  private final HttpServer server;

  private record Answer(int status, String type, String body) {
    static Answer json(int status, String body) {
      return new Answer(status, "application/json", body);
    }

    static Answer events(String... messages) {
      StringBuilder body = new StringBuilder(": alive\n\n");
      for (String message : messages) {
        body.append("data: ").append(message).append("\n\n");
      }
      return new Answer(200, "text/event-stream", body.toString());
    }
  }

  UnsteadyServerTest() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
  }

  @BeforeEach
  void open() {
    server.createContext(
        "/",
        exchange -> {
          String question = exchange.getRequestURI().toString();
          Answer answer;
          synchronized (asked) {
            asked.add(question);
            List<Answer> left = answers.getOrDefault(question, List.of());
            answer =
                left.isEmpty()
                    ? Answer.json(404, "{\"error\":\"nothing at " + question + "\"}")
                    : left.size() > 1 ? left.removeFirst() : left.getFirst();
          }
          byte[] body = answer.body.getBytes(StandardCharsets.UTF_8);
          exchange.getRequestBody().readAllBytes();
          exchange.getResponseHeaders().set("Content-Type", answer.type);
          exchange.sendResponseHeaders(answer.status, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void close() {
    server.stop(0);
  }

  private void says(String question, Answer... told) {
    answers.put(question, new ArrayList<>(List.of(told)));
  }

  private Shell.CommandResult run(String... command) {
    return Shell.run(
        Stream.concat(Stream.of(command), Stream.of("--server", address())).toArray(String[]::new));
  }

  private static String page(int id, String next) {
    return "{\"nodes\":["
        + ONE.formatted(id, "ready")
        + "],\"pagination\":{\"next\":"
        + next
        + ","
        + "\"pid\":\"a b\"}}";
  }

  @Test
  void a_list_that_has_gone_stale_is_read_from_its_beginning() {
    says("/v1/nodes", Answer.json(200, page(1, "\"x/2\"")));
    says(
        "/v1/nodes?start=x%2F2&pid=a%20b",
        Answer.json(409, "{\"error\":\"stale\"}"), Answer.json(200, page(2, "null")));
    assertThat(run("graph", "show").out()).isEqualTo("○ 1 [group]  ready\n○ 2 [group]  ready\n");
    assertThat(asked).hasSize(4);
    says("/v1/nodes?start=x%2F2&pid=a%20b", Answer.json(409, "{\"error\":\"stale\"}"));
    Shell.CommandResult ran = run("graph", "show");
    assertThat(ran.code()).isEqualTo(3);
    assertThat(ran.err()).isEqualTo("millrace: stale\n");
  }

  @Test
  void events_go_on_where_they_broke_off_and_anew_where_that_is_forgotten() {
    says(
        "/v1/events",
        Answer.events("{\"version\":5,\"nodes\":[" + ONE.formatted(1, "running") + "]}"),
        Answer.events("{\"version\":50,\"nodes\":[" + ONE.formatted(1, "finished") + "]}"));
    says(
        "/v1/events?after=5",
        Answer.json(503, "{\"error\":\"soon\"}"),
        Answer.events("{\"version\":6,\"changed\":[" + ONE.formatted(2, "running") + "]}"));
    says("/v1/events?after=6", Answer.json(410, "{\"error\":\"gone\"}"));
    Shell.CommandResult ran = run("graph", "watch", "--settled");
    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(ran.out()).contains("● 2 [group]  running", "✓ 1 [group]  finished");
  }

  @Test
  void events_that_are_refused_or_no_events_end_the_watch() {
    says("/v1/events?type=x", Answer.json(400, "{\"error\":\"no such type\"}"));
    Shell.CommandResult refused = run("graph", "watch", "--type", "x");
    assertThat(refused.code()).isEqualTo(3);
    assertThat(refused.err()).isEqualTo("millrace: no such type\n");
    says("/v1/events", Answer.events("{\"version\":"));
    Shell.CommandResult odd = run("graph", "watch");
    assertThat(odd.code()).isEqualTo(1);
    assertThat(odd.err()).startsWith("millrace: cannot read the events: ").hasLineCount(1);
  }

  @Test
  void output_in_pages_is_put_together_and_begins_anew_with_another_attempt() {
    says(
        "/v1/nodes/7",
        Answer.json(200, ONE.formatted(7, "running")),
        Answer.json(200, ONE.formatted(7, "running")),
        Answer.json(200, ONE.formatted(7, "finished")));
    String stdout = "/v1/nodes/7/data/stdout";
    says(stdout, Answer.json(200, data("one ", "\"1\"")), Answer.json(200, data("again", "null")));
    says(
        stdout + "?start=1&pid=v",
        Answer.json(200, data("tw", "null")),
        Answer.json(200, data("two ", "null")),
        Answer.json(409, "{\"error\":\"stale\"}"));
    Shell.CommandResult ran = run("graph", "output", "7", "--follow");
    assertThat(ran.code()).as(ran.err()).isZero();
    assertThat(ran.out()).isEqualTo("one two again");
  }

  private static String data(String text, String next) {
    return "{\"key\":\"stdout\",\"data\":\""
        + text
        + "\",\"growing\":true,\"pagination\":"
        + "{\"next\":"
        + next
        + ",\"pid\":\"v\"}}";
  }

  @Test
  void a_server_without_a_graph_is_told_plainly() {
    for (String command : List.of("show", "watch", "export")) {
      Shell.CommandResult ran = run("graph", command);
      assertThat(ran.code()).isEqualTo(3);
      assertThat(ran.err()).contains("nothing at /v1/").hasLineCount(1);
    }
    says("/v1/nodes", Answer.json(200, "{\"odd\":1}"));
    Shell.CommandResult odd = Shell.run("graph", "add", "--server", address(), "-s", "x");
    assertThat(odd.code()).isEqualTo(1);
    assertThat(odd.err()).contains("did not answer with the nodes").hasLineCount(1);
  }

  private String address() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }
}
