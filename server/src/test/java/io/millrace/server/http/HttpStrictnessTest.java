package io.millrace.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.FakeStore;
import io.millrace.server.TestServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Requests that another program could understand differently. Each is refused, alone, and nothing
 * that follows it on the connection is carried out.
 */
@ParameterizedClass
@EnumSource(TestServer.Wire.class)
final class HttpStrictnessTest {
  private static final String UPDATE = "{\"clientid\":1,\"deletes\":[5]}";

  /** What an attacker wants to have carried out behind the back of a proxy. */
  private static final String SMUGGLED =
      "POST /store/update HTTP/1.1\nHost: localhost\nContent-Length: 28\n\n" + UPDATE;

  @Parameter private TestServer.Wire wire = TestServer.Wire.PLAIN;
  @TempDir private Path folder;
  private final FakeStore store = new FakeStore();
  private TestServer server;

  @BeforeEach
  void start() {
    server = TestServer.with(wire, _ -> store, folder, "server.max-body-bytes", "100KiB");
  }

  @AfterEach
  void stop() {
    server.close();
  }

  /** Sends the bytes as they are, and reads until the server closes. */
  private String exact(String text) throws IOException {
    try (Socket socket = server.connect()) {
      socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private void assertRefused(String answer, int status) {
    assertThat(answer).startsWith("HTTP/1.1 " + status + " ").contains("\"error\":");
    assertThat(answer).containsOnlyOnce("HTTP/1.1 ").containsIgnoringCase("connection: close");
    assertThat(store.commands).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Content-Length: +28|digits",
        "Content-Length: -28|digits",
        "Content-Length: 0x1c|digits",
        "Content-Length: 28, 29|digits",
        "Content-Length: 28 29|digits",
        "Content-Length:|digits",
        "Content-Length: 99999999999999999999|digits",
        "Content-Length: \u0662\u0669|digits",
        "Content-Length: 28~Content-Length: 28|several times",
        "Content-Length: 28~Content-Length: 0|several times",
        "Content-Length: 28~Transfer-Encoding: chunked|must not have both",
        "Transfer-Encoding: chunked~Content-Length: 28|must not have both",
        "Transfer-Encoding: chunked~Transfer-Encoding: chunked|several times",
        "Content-Length : 28|header",
        "Transfer-Encoding : chunked|header",
        "Content-Length: 28~: nameless|empty name",
        "Content-Length: 28~ Folded: yes|folded",
        "X: a~\tb~Content-Length: 28|folded",
        "Content-Length: 28~no colon|name and a colon",
        "Content-Length: 28~X(y): z|name and a colon",
        "Content-Length: 28~X\u0000: z|name and a colon",
        "Content-Length: 28~X: a\u0000b|control character",
        "Content-Length: 28~X: a\u007fb|control character",
      })
  void a_head_that_can_be_understood_in_two_ways_is_400(String headers, String words)
      throws Exception {
    String head = "POST /store/update HTTP/1.1~Host: localhost~" + headers + "~~";
    String answer = exact((head + UPDATE + SMUGGLED).replace("~", "\n").replace("\n", "\r\n"));
    assertRefused(answer, 400);
    assertThat(answer).contains(words);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "POST /store/update HTTP/1.1\nHost: localhost\nContent-Length: 28\n\n" + UPDATE,
        "POST /store/update HTTP/1.1\r\nHost: localhost\nContent-Length: 28\r\n\r\n" + UPDATE,
        "POST /store/update HTTP/1.1\r\nHost: localhost\r\nContent-Length: 28\n\r\n" + UPDATE,
        "POST /store/update HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\nContent-Length: 28\r\n\r\n",
        "POST /store/update HTTP/1.1\r\nHost: localhost\rX: b\r\nContent-Length: 28\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: localhost\r\n\rX: b\r\n\r\n",
        "\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
      })
  void lines_end_in_cr_and_lf_alone(String text) throws Exception {
    assertRefused(exact(text), 400);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "GET  /health HTTP/1.1|Host: localhost",
        "GET /health  HTTP/1.1|Host: localhost",
        "'GET /health HTTP/1.1 '|Host: localhost",
        "GET\t/health HTTP/1.1|Host: localhost",
        "GET /hea lth HTTP/1.1|Host: localhost",
        "GET health HTTP/1.1|Host: localhost",
        "GET * HTTP/1.1|Host: localhost",
        "GET localhost:80 HTTP/1.1|Host: localhost",
        "GET /health#part HTTP/1.1|Host: localhost",
        "GET /health http/1.1|Host: localhost",
        "GET /health HTTP/1.10|Host: localhost",
        "G(T /health HTTP/1.1|Host: localhost",
        "GET /health HTTP/1.1|Host: localhost~Host: localhost",
        "GET /health HTTP/1.1|X: y",
        "GET /health HTTP/1.1|Host:",
        "GET /health HTTP/1.1|Host: localhost:",
        "GET /health HTTP/1.1|Host: localhost:+80",
        "GET /health HTTP/1.1|Host: localhost:8x",
        "GET http://example.com/health HTTP/1.1|Host: localhost",
        "GET http://localhost:1/health HTTP/1.1|Host: localhost",
        "GET http://localhost HTTP/1.1|Host: localhost",
        "GET https://localhost/health HTTP/1.1|Host: localhost",
      })
  void a_request_line_and_a_host_have_one_form(String line, String headers) throws Exception {
    assertRefused(exact((line + "~" + headers + "~~").replace("~", "\r\n")), 400);
  }

  @Test
  void a_request_line_as_a_proxy_gets_it_is_served_if_it_names_this_host() throws Exception {
    String answer =
        server.raw("GET http://LocalHost/health HTTP/1.1\nHost: localhost\nConnection: close\n\n");
    assertThat(answer).startsWith("HTTP/1.1 200 ").contains("\"status\":\"ok\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "+1c\n{update}\n0\n\n",
        "-1c\n{update}\n0\n\n",
        "0x1c\n{update}\n0\n\n",
        " 1c\n{update}\n0\n\n",
        "1c \n{update}\n0\n\n",
        "1c;name=value\n{update}\n0\n\n",
        "1c\n{update}stray\n0\n\n",
        "1c\n{update}0\n\n",
        "1b\n{update}\n0\n\n",
        "\n{update}\n0\n\n",
        "1c\n{update}\n0\nTrailer: x\n\n",
        "1c\n{update}\n+0\n\n",
        "1c\n{update}\n0\nx",
        "fffffffffffffffff\n{update}\n0\n\n",
      })
  void chunks_have_one_form(String chunks) throws Exception {
    String text =
        "POST /store/update HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\n"
            + chunks.replace("{update}", UPDATE)
            + SMUGGLED;
    String answer = exact(text.replace("\n", "\r\n"));
    assertRefused(answer, 400);
    assertThat(answer).contains("the body is malformed");
  }

  @Test
  void a_chunk_line_that_ends_in_lf_alone_is_400() throws Exception {
    String head =
        "POST /store/update HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    assertRefused(exact(head + "1c\n" + UPDATE + "\r\n0\r\n\r\n"), 400);
    assertRefused(exact(head + "1c\r\n" + UPDATE + "\n0\r\n\r\n"), 400);
    assertRefused(exact(head + "1c\r\n" + UPDATE + "\r\n0\n\n"), 400);
  }

  @Test
  void what_is_not_known_is_named() throws Exception {
    String post = "POST /store/update HTTP/1.1\nHost: localhost\nContent-Length: 28\n";
    assertRefused(server.raw(post + "Expect: a-miracle\n\n" + UPDATE), 417);
    assertRefused(server.raw(post + "Content-Encoding: gzip\n\n" + UPDATE), 415);
    assertRefused(server.raw("GET /health HTTP/1.0\nHost: localhost\n\n"), 505);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "close",
        "Close",
        "x, close",
        "close, x",
        "keep-alive,close",
        "x\nConnection: close"
      })
  void a_connection_is_closed_when_close_is_among_its_options(String options) throws Exception {
    for (String request :
        new String[] {
          "GET /health HTTP/1.1\nHost: localhost\nConnection: " + options + "\n\n",
          SMUGGLED.replace("Content-Length", "Connection: " + options + "\nContent-Length")
        }) {
      // The answer ends with the connection: a second request is not answered.
      assertThat(server.raw(request + SMUGGLED))
          .startsWith("HTTP/1.1 200 ")
          .containsOnlyOnce("HTTP/1.1 ")
          .containsIgnoringCase("connection: close");
    }
    assertThat(store.commands).hasSize(1);
  }

  @Test
  void a_body_that_is_announced_in_good_form_is_read_on_both_paths() throws Exception {
    String lastOfThem =
        SMUGGLED.replace("Content-Length: 28", "content-LENGTH:\t 028 \nConnection: close");
    assertThat(server.raw(SMUGGLED + lastOfThem)).contains("HTTP/1.1 200 ");
    assertThat(store.commands).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(ints = {110_000, 4_500_000, 30_000_000})
  void a_body_that_is_too_large_is_413_and_no_reset_for_a_client_that_sends_it_first(int size)
      throws Exception {
    byte[] body = new byte[size];
    for (String framing : new String[] {"Content-Length: " + size, "Transfer-Encoding: chunked"}) {
      try (Socket client = server.connect()) {
        OutputStream out = client.getOutputStream();
        String head = "POST /store/update HTTP/1.1\r\nHost: localhost\r\n" + framing + "\r\n\r\n";
        out.write(head.getBytes(StandardCharsets.US_ASCII));
        if (framing.startsWith("T")) {
          out.write("%x\r\n".formatted(size).getBytes(StandardCharsets.US_ASCII));
        }
        out.write(body);
        String answer = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(answer).startsWith("HTTP/1.1 413 ").contains("102400");
      }
    }
  }

  @Test
  void a_large_body_that_is_turned_away_for_its_host_is_no_reset_either() throws Exception {
    try (Socket client = server.connect()) {
      OutputStream out = client.getOutputStream();
      String head =
          "POST /store/update HTTP/1.1\r\nHost: example.com\r\nContent-Length: 9000000\r\n\r\n";
      out.write(head.getBytes(StandardCharsets.US_ASCII));
      out.write(new byte[9_000_000]);
      assertThat(new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
          .startsWith("HTTP/1.1 403 ");
    }
  }

  @Test
  void a_short_body_that_nobody_wants_is_skipped_and_the_connection_goes_on() throws Exception {
    String unknown = SMUGGLED.replace("/store/update", "/nowhere");
    String last = SMUGGLED.replace("Host", "Connection: close\nHost");
    assertThat(server.raw(unknown + last)).startsWith("HTTP/1.1 404 ").contains("HTTP/1.1 200 ");
    assertThat(store.commands).hasSize(1);
  }

  @Test
  void a_client_that_waits_for_100_gets_it_only_if_its_body_is_wanted() throws Exception {
    String post =
        "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n";
    try (Socket client = server.connect()) {
      OutputStream out = client.getOutputStream();
      out.write(
          post.formatted("/store/update", UPDATE.length()).getBytes(StandardCharsets.US_ASCII));
      byte[] interim = client.getInputStream().readNBytes(25);
      assertThat(new String(interim, StandardCharsets.US_ASCII))
          .isEqualTo("HTTP/1.1 100 Continue\r\n\r\n");
      out.write(UPDATE.getBytes(StandardCharsets.US_ASCII));
      assertThat(new String(client.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
          .isEqualTo("HTTP/1.1 200");
    }
    assertThat(exact(post.formatted("/nowhere", 5))).startsWith("HTTP/1.1 404 ");
    assertThat(exact(post.formatted("/store/update", 1 << 20))).startsWith("HTTP/1.1 413 ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "bytes=5-",
        "bytes=99999999999999999-",
        "bytes=9223372036854775807-",
        "bytes=9223372036854775808-",
        "bytes=99999999999999999999999-",
        "bytes=99999999999999999999999-99999999999999999999999",
        "bytes=-0"
      })
  void a_range_behind_the_end_is_416(String range) throws Exception {
    assertThat(server.send("PUT", "/blobs/five", "12345").statusCode()).isBetween(200, 204);
    HttpResponse<String> answer = server.get("/blobs/five", "Range", range);
    assertThat(answer.statusCode()).isEqualTo(416);
    assertThat(answer.headers().firstValue("Content-Range")).contains("bytes */5");
  }

  @ParameterizedTest
  @CsvSource({
    "bytes=0-99999999999999999999999, 12345",
    "bytes=000000000000000000000000003-, 45",
    "bytes=-99999999999999999999999, 12345"
  })
  void a_range_that_ends_behind_the_end_is_cut(String range, String content) throws Exception {
    assertThat(server.send("PUT", "/blobs/five", "12345").statusCode()).isBetween(200, 204);
    HttpResponse<String> answer = server.get("/blobs/five", "Range", range);
    assertThat(answer.statusCode()).isEqualTo(206);
    assertThat(answer.body()).isEqualTo(content);
  }
}
