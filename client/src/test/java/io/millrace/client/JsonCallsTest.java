package io.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.client.HttpExchange.Request;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.StoreClosedException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

@Timeout(60)
final class JsonCallsTest {
  private static final ObjectNode CONTENT =
      JsonNodeFactory.instance.objectNode().put("name", "wörk");

  private static JsonCalls open(URI server) {
    return JsonCalls.open(ClientOptions.at(server).withRetryFor(Duration.ofSeconds(5)));
  }

  @Test
  void calls_go_over_one_connection_with_their_method_and_body() throws Exception {
    StringBuilder seen = new StringBuilder();
    try (ScriptedServer server =
            new ScriptedServer((request, out) -> {
              seen.append(request.line()).append(' ').append(request.body()).append('\n');
              ScriptedServer.json(out, 200, "", "{\"n\":" + request.number() + "}");
            });
        JsonCalls calls = open(server.address())) {
      assertThat(calls.get("/dci/queues/" + JsonCalls.part("a/b")).path("n").asInt()).isOne();
      assertThat(calls.post("/x", CONTENT).path("n").asInt()).isEqualTo(2);
      assertThat(calls.ask("/y", CONTENT, Duration.ZERO).path("n").asInt()).isEqualTo(3);
      assertThat(calls.delete("/z").path("n").asInt()).isEqualTo(4);
      assertThat(calls.put("/p", CONTENT).path("n").asInt()).isEqualTo(5);
      assertThat(server.connections()).isEqualTo(1);
    }
    assertThat(seen)
        .hasToString(
            """
            GET /dci/queues/a%2Fb HTTP/1.1\s
            POST /x HTTP/1.1 {"name":"wörk"}
            POST /y HTTP/1.1 {"name":"wörk"}
            DELETE /z HTTP/1.1\s
            PUT /p HTTP/1.1 {"name":"wörk"}
            """);
  }

  @Test
  void a_path_that_would_end_its_line_is_refused() {
    try (JsonCalls calls = JsonCalls.open(ClientOptions.at(URI.create("http://127.0.0.1:1")))) {
      assertThatThrownBy(() -> calls.get("/dci/queues HTTP/1.1\r\nX: y"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("percent-encoded");
    }
  }

  @Test
  void of_a_problem_only_the_detail_and_what_is_at_fault_are_told() throws Exception {
    String problem =
        "{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
            + "\"detail\":\"no such zone\",\"error\":\"no such zone\",\"field\":\"zone\"}";
    try (ScriptedServer server =
            new ScriptedServer((_, out) -> ScriptedServer.json(out, 400, "", problem));
        JsonCalls calls = open(server.address())) {
      assertThatThrownBy(() -> calls.post("/x", CONTENT))
          .isInstanceOf(RejectedException.class)
          .hasMessageEndingWith("no such zone (field: zone)");
    }
  }

  @Test
  void what_the_server_does_not_take_is_told_in_its_words() throws Exception {
    try (ScriptedServer server =
            new ScriptedServer((_, out) ->
                ScriptedServer.json(
                    out, 400, "", "{\"error\":\"Invalid param\",\"param\":\"thread\"}"));
        JsonCalls calls = open(server.address())) {
      assertThatThrownBy(() -> calls.post("/x", CONTENT))
          .isInstanceOf(RejectedException.class)
          .hasMessage("Invalid param (param: thread)");
      assertThat(server.requests()).isEqualTo(1);
    }
  }

  @Test
  void credentials_that_are_not_accepted_and_a_server_that_stops_are_told_apart() throws Exception {
    try (ScriptedServer server =
            new ScriptedServer((request, out) ->
                ScriptedServer.json(
                    out, request.number() == 1 ? 401 : 503, "", "{\"error\":\"no\"}"));
        JsonCalls calls = open(server.address())) {
      assertThatThrownBy(() -> calls.get("/x"))
          .isInstanceOf(RejectedException.class)
          .hasMessageContaining("credentials");
      assertThatThrownBy(() -> calls.get("/x")).isInstanceOf(StoreClosedException.class);
    }
  }

  @Test
  void a_question_is_asked_again_when_its_answer_was_lost() throws Exception {
    try (ScriptedServer server =
            new ScriptedServer((request, out) -> {
              if (request.number() < 3) {
                ScriptedServer.hangUp(out);
              } else {
                ScriptedServer.json(out, 200, "", "[]");
              }
            });
        JsonCalls calls = open(server.address())) {
      assertThat(calls.ask("/x", CONTENT, Duration.ZERO).isArray()).isTrue();
    }
  }

  @Test
  void something_to_do_once_is_not_sent_again_when_its_answer_was_lost() throws Exception {
    try (ScriptedServer server = new ScriptedServer((_, out) -> ScriptedServer.hangUp(out));
        JsonCalls calls = open(server.address())) {
      assertThatThrownBy(() -> calls.post("/x", CONTENT))
          .isInstanceOf(OutcomeUnknownException.class);
      assertThat(server.requests()).isEqualTo(1);
    }
  }

  @Test
  void a_server_that_is_away_is_unreachable() throws IOException {
    URI nobody;
    try (ServerSocket closed = new ServerSocket(0)) {
      nobody = URI.create("http://127.0.0.1:" + closed.getLocalPort());
    }
    try (JsonCalls calls = JsonCalls.open(ClientOptions.at(nobody).withRetryFor(Duration.ZERO))) {
      assertThatThrownBy(() -> calls.post("/x", CONTENT))
          .isInstanceOf(UnreachableException.class)
          .hasMessageContaining(nobody.toString());
      assertThatThrownBy(() -> calls.stream("/x", Duration.ofSeconds(1)))
          .isInstanceOf(UnreachableException.class);
    }
  }

  @Test
  void an_answer_that_is_no_json_is_an_unknown_outcome() throws Exception {
    try (ScriptedServer server =
            new ScriptedServer((_, out) -> ScriptedServer.json(out, 200, "", "<html>"));
        JsonCalls calls = open(server.address())) {
      assertThatThrownBy(() -> calls.get("/x")).isInstanceOf(OutcomeUnknownException.class);
    }
  }

  @Test
  void a_stream_is_read_while_it_comes() throws Exception {
    CompletableFuture<Void> halfRead = new CompletableFuture<>();
    try (ScriptedServer server =
            new ScriptedServer((_, out) -> {
              out.write(
                  "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"
                      .getBytes(StandardCharsets.US_ASCII));
              out.flush();
              halfRead.orTimeout(30, TimeUnit.SECONDS).join();
              out.write("two".getBytes(StandardCharsets.US_ASCII));
              out.flush();
            });
        JsonCalls calls = open(server.address());
        InputStream in = calls.stream("/x", Duration.ofSeconds(30))) {
      assertThat(in.readNBytes(3)).asString().isEqualTo("one");
      halfRead.complete(null);
      assertThat(in.readAllBytes()).asString().isEqualTo("two");
    }
  }

  @Test
  void a_stream_or_upload_that_came_to_its_end_leaves_its_connection_to_the_next_call()
      throws Exception {
    try (ScriptedServer server =
            new ScriptedServer((_, out) -> ScriptedServer.json(out, 200, "", "{\"n\":1}"));
        JsonCalls calls = open(server.address())) {
      for (int i = 0; i < 3; i++) {
        try (InputStream in = calls.stream("/x", Duration.ofSeconds(30))) {
          assertThat(in.readAllBytes()).asString().isEqualTo("{\"n\":1}");
        }
        assertThat(calls.upload("/x", upload("bytes", 5)).path("n").asInt()).isOne();
        assertThat(calls.get("/x").path("n").asInt()).isOne();
      }
      assertThat(server.connections()).isEqualTo(1);
      try (InputStream in = calls.stream("/x", Duration.ofSeconds(30))) {
        assertThat(in.read()).isEqualTo('{');
      }
      assertThat(calls.get("/x").path("n").asInt()).isOne();
      assertThat(server.connections()).isEqualTo(2);
    }
  }

  @Test
  void a_stream_that_is_refused_says_why() throws Exception {
    try (ScriptedServer server =
            new ScriptedServer(
                (_, out) -> ScriptedServer.json(out, 400, "", "{\"error\":\"task not found\"}"));
        JsonCalls calls = open(server.address())) {
      assertThatThrownBy(() -> calls.stream("/x", Duration.ofSeconds(30)))
          .isInstanceOf(RejectedException.class)
          .hasMessage("task not found");
    }
  }

  @Test
  void events_are_read_as_they_come_until_the_stream_ends_or_is_closed() throws Exception {
    try (ScriptedServer server =
            new ScriptedServer((request, out) -> {
              if (request.number() > 1) {
                ScriptedServer.json(out, 410, "", "{\"error\":\"gone\"}");
                return;
              }
              assertThat(request.headers()).contains("Accept: text/event-stream");
              ScriptedServer.json(out, 200, "", ": alive\n\ndata: one\n\ndata: two\n\n");
            });
        JsonCalls calls = open(server.address())) {
      try (EventStream events = calls.events("/x", Duration.ofSeconds(30))) {
        assertThat(events.next()).asString().isEqualTo("one");
        assertThat(events.next()).asString().isEqualTo("two");
        assertThatThrownBy(events::next).isInstanceOf(IOException.class);
      }
      assertThatThrownBy(() -> calls.events("/x", Duration.ofSeconds(30)))
          .isInstanceOf(RejectedException.class)
          .hasMessage("gone");
    }
  }

  private static JsonCalls.Upload upload(String text, long length) {
    return new JsonCalls.Upload(
        "text/plain", length, new ByteArrayInputStream(text.getBytes(StandardCharsets.US_ASCII)));
  }

  @Test
  void an_upload_is_sent_with_the_headers_of_all_calls() throws Exception {
    StringBuilder seen = new StringBuilder();
    try (ScriptedServer server =
            new ScriptedServer((request, out) -> {
              seen.append(request.line()).append(request.headers()).append(request.body());
              ScriptedServer.json(out, 202, "", "{\"n\":1}");
            });
        JsonCalls calls =
            JsonCalls.open(ClientOptions.at(server.address()), Map.of("X-API-KEY", "k"))) {
      assertThat(calls.upload("/x", upload("bytes", 5)).path("n").asInt()).isOne();
    }
    assertThat(seen)
        .contains("POST /x HTTP/1.1", "X-API-KEY: k", "Content-Type: text/plain")
        .endsWith("bytes");
    assertThatThrownBy(() ->
            JsonCalls.open(
                ClientOptions.at(URI.create("http://localhost")), Map.of("X-API-KEY", "a\nb")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("X-API-KEY");
  }

  @Test
  void an_upload_that_ends_early_is_told_from_a_server_that_goes() throws Exception {
    try (ScriptedServer server = new ScriptedServer((request, out) -> ScriptedServer.hangUp(out));
        JsonCalls calls = open(server.address())) {
      assertThatThrownBy(() -> calls.upload("/x", upload("bytes", 6)))
          .isInstanceOf(IOException.class)
          .hasMessage("it ended after 5 of 6 bytes");
      assertThatThrownBy(() -> calls.upload("/x", upload("bytes", 5)))
          .isInstanceOf(OutcomeUnknownException.class)
          .hasMessageContaining("before the response arrived");
    }
    URI nobody;
    try (ServerSocket closed = new ServerSocket(0)) {
      nobody = URI.create("http://127.0.0.1:" + closed.getLocalPort());
    }
    try (JsonCalls calls = open(nobody)) {
      assertThatThrownBy(() -> calls.upload("/x", upload("bytes", 5)))
          .isInstanceOf(UnreachableException.class);
    }
  }

  /** Reads a request without a body. */
  private static String head(InputStream in) throws IOException {
    StringBuilder read = new StringBuilder();
    while (read.indexOf("\r\n\r\n") < 0) {
      read.append((char) in.read());
    }
    return read.toString();
  }

  /** Zeros without end, of which each read gives so many bytes at most. */
  private static InputStream endless(int most) {
    return new InputStream() {
      @Override
      public int read() {
        return 0;
      }

      @Override
      public int read(byte[] target, int offset, int length) {
        return Math.min(most, length);
      }
    };
  }

  @Test
  void an_upload_that_is_refused_early_is_not_sent_to_its_end() throws Exception {
    long huge = 1L << 40;
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        JsonCalls calls = open(URI.create("http://127.0.0.1:" + listener.getLocalPort()))) {
      CompletableFuture<Void> served =
          CompletableFuture.runAsync(() -> {
            try (Socket socket = listener.accept()) {
              // The client looks first, without the body, for the server that takes it.
              assertThat(head(socket.getInputStream())).startsWith("HEAD /x ");
              socket
                  .getOutputStream()
                  .write(
                      "HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n"
                          .getBytes(StandardCharsets.US_ASCII));
              assertThat(head(socket.getInputStream())).startsWith("POST /x ");
              ScriptedServer.json(socket.getOutputStream(), 413, "", "{\"error\":\"no\"}");
              // It takes what is on its way, as servers do, until the client has seen the answer.
              socket.getInputStream().transferTo(OutputStream.nullOutputStream());
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
      assertThatThrownBy(() ->
              calls.upload(
                  "/x", new JsonCalls.Upload("text/plain", huge, endless(Integer.MAX_VALUE))))
          .isInstanceOf(RejectedException.class)
          .hasMessageContaining("too large");
      assertThat(served.handle((_, _) -> true).get(60, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void a_server_that_reads_nothing_does_not_hold_up_a_long_request() throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 2, InetAddress.getLoopbackAddress())) {
      ClientOptions options =
          ClientOptions.at(URI.create("http://127.0.0.1:" + listener.getLocalPort()))
              .withResponseTimeout(Duration.ofMillis(50));
      try (JsonCalls calls = JsonCalls.open(options);
          HttpTransport chunked = new HttpTransport(options, Map.of())) {
        // More than the kernel keeps for a connection that nobody reads.
        byte[] large = new byte[64 << 20];
        assertThatThrownBy(() -> calls.post("/x", large))
            .isInstanceOf(OutcomeUnknownException.class)
            .hasMessageContaining("the server has read nothing of the request for 50 ms");
        UploadBody small = new UploadBody(null, endless(1), -1);
        assertThatThrownBy(() -> chunked.open(Request.of("PUT", "/x", small, 50)))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("the server has read nothing of the request for 50 ms");
      }
    }
  }
}
