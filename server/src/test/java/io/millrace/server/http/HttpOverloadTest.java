package io.millrace.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.FakeStore;
import io.millrace.server.TestServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What clients can take up who send half of a request, too slowly, too much, or nothing. */
@Timeout(120)
final class HttpOverloadTest {
  private static final String UPDATE = "{\"clientid\":1,\"deletes\":[5]}";

  /** What the request that asks for the use of memory itself uses, at most. */
  private static final int OWN_BYTES = 1000;

  private static final String[] FRAMINGS = {
    "Content-Length: 60000", "Transfer-Encoding: chunked\r\n\r\nea60"
  };

  @TempDir private Path folder;
  private final FakeStore store = new FakeStore();
  private final List<Socket> clients = new ArrayList<>();
  private @Nullable TestServer started;

  private TestServer start(String... keysAndValues) {
    TestServer server = TestServer.with(_ -> store, folder, keysAndValues);
    started = server;
    return server;
  }

  @AfterEach
  void stop() throws IOException {
    for (Socket client : clients) {
      client.close();
    }
    if (started != null) {
      started.close();
    }
  }

  private Socket connect(TestServer server) throws IOException {
    Socket client = server.connect();
    clients.add(client);
    return client;
  }

  private static void send(Socket client, String text) throws IOException {
    client.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  /** Everything until the server closes; a reset, which loses an answer, counts as none. */
  private static String answer(Socket client) throws IOException {
    try {
      return new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (SocketException _) {
      return "";
    }
  }

  /** An answer, whose connection stays open. */
  private static String status(Socket client) throws IOException {
    return new String(client.getInputStream().readNBytes(12), StandardCharsets.UTF_8);
  }

  private static String post(String headers) {
    return "POST /store/update HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n\r\n";
  }

  private String tokenFile() throws IOException {
    return Files.writeString(folder.resolve("token"), "secret").toString();
  }

  @Test
  void access_is_checked_before_the_body_has_come() throws Exception {
    TestServer server = start("server.token-file", tokenFile());
    for (String framing : FRAMINGS) {
      Socket client = connect(server);
      send(client, post(framing) + "the rest never comes");
      assertThat(status(client)).isEqualTo("HTTP/1.1 401");
      Socket wrong = connect(server);
      send(wrong, post("Authorization: Bearer wrong\r\n" + framing));
      assertThat(status(wrong)).isEqualTo("HTTP/1.1 403");
    }
  }

  @Test
  void a_head_that_does_not_come_in_time_is_408() throws Exception {
    TestServer server = start("server.head-timeout", "1s");
    for (String half :
        List.of("P", "POST /store/update HTTP/1.1\r\nHost: localhost\r\nX: y", "GET /")) {
      send(connect(server), half);
    }
    for (Socket client : clients) {
      assertThat(answer(client)).startsWith("HTTP/1.1 408 ").contains("head");
    }
  }

  @Test
  void a_head_that_comes_byte_by_byte_has_the_same_time() throws Exception {
    TestServer server = start("server.head-timeout", "1s");
    Socket client = connect(server);
    client.setTcpNoDelay(true);
    client.setSoTimeout(50);
    send(client, "GET /health HTTP/1.1\r\nHost: localhost\r\nX: ");
    // Each wait for an answer is the pause before the next byte.
    String begun = "";
    while (begun.isEmpty()) {
      try {
        send(client, "y");
        int first = client.getInputStream().read();
        begun = first < 0 ? "closed" : Character.toString(first);
      } catch (SocketTimeoutException _) {
        // Not yet.
      }
    }
    client.setSoTimeout(30_000);
    assertThat(begun + answer(client)).startsWith("HTTP/1.1 408 ");
  }

  @Test
  void a_body_that_stops_is_408_on_both_paths() throws Exception {
    TestServer server = start("server.head-timeout", "1s");
    for (String framing : FRAMINGS) {
      send(connect(server), post(framing) + "\r\n{");
    }
    Socket large = connect(server);
    send(large, post("Content-Length: 1000000") + "x".repeat(100_000));
    for (Socket client : clients.subList(0, FRAMINGS.length)) {
      assertThat(answer(client)).startsWith("HTTP/1.1 408 ").contains("server.min-body-rate");
    }
    assertThat(answer(large)).startsWith("HTTP/1.1 408 ");
  }

  @Test
  void a_body_of_any_rate_is_taken_if_so_configured() throws Exception {
    TestServer server = start("server.head-timeout", "1s", "server.min-body-rate", "0");
    Socket plain = connect(server);
    send(plain, post("Content-Length: 28") + "{");
    Socket streamed = connect(server);
    send(streamed, post("Transfer-Encoding: chunked") + "1c\r\n{");
    // Another connection that is closed for its silence says that more time has passed.
    assertThat(answer(connect(server))).isEmpty();
    send(plain, UPDATE.substring(1));
    send(streamed, UPDATE.substring(1) + "\r\n0\r\n\r\n");
    assertThat(status(plain)).isEqualTo("HTTP/1.1 200");
    assertThat(status(streamed)).isEqualTo("HTTP/1.1 200");
  }

  @Test
  void silent_strangers_are_closed_and_known_clients_are_kept() throws Exception {
    TestServer server = start("server.head-timeout", "1s", "server.token-file", tokenFile());
    String get = "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n\r\n";
    Socket known = connect(server);
    send(known, get.formatted("/store/groups"));
    Socket healthy = connect(server);
    send(healthy, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assertThat(answer(connect(server))).isEmpty();
    // To ask for the health of the server needs no token, and makes nobody known.
    assertThat(answer(healthy)).startsWith("HTTP/1.1 200 ");
    assertThat(status(known)).isEqualTo("HTTP/1.1 200");
    send(known, get.formatted("/store/groups").replace("Host", "Connection: close\r\nHost"));
    assertThat(answer(known)).contains("HTTP/1.1 200 ");
  }

  @Test
  void connections_beyond_the_limit_are_answered_503_and_closed() throws Exception {
    TestServer server = start("server.max-connections", "3");
    String get = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (int i = 0; i < 3; i++) {
      Socket client = connect(server);
      send(client, get);
      assertThat(status(client)).isEqualTo("HTTP/1.1 200");
    }
    for (int i = 0; i < 5; i++) {
      assertThat(answer(connect(server)))
          .startsWith("HTTP/1.1 503 ")
          .contains("Retry-After: 1", "server.max-connections");
    }
    for (int i = 0; i < 3; i++) {
      send(clients.get(i), get.replace("Host", "Connection: close\r\nHost"));
      assertThat(answer(clients.get(i))).contains("HTTP/1.1 200 ");
    }
    // What is closed makes room a moment later.
    HttpResponse<String> metrics = server.get("/metrics");
    while (metrics.statusCode() == 503) {
      metrics = server.get("/metrics");
    }
    assertThat(metrics.body())
        .containsPattern("millrace_http_connections_refused_total ([5-9]|[1-9][0-9]+)");
  }

  @Test
  void silent_strangers_make_room_for_others() throws Exception {
    TestServer server = start("server.max-connections", "20", "server.head-timeout", "1h");
    for (int i = 0; i < 20; i++) {
      Socket client = connect(server);
      if (i % 2 == 0) {
        send(client, "POST /store/upd");
      }
    }
    String answer = "";
    while (!answer.startsWith("HTTP/1.1 200 ")) {
      Socket client = connect(server);
      send(client, "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
      answer = answer(client);
    }
    // Those that had not been idle for a second go when somebody needs their room later.
    List<Socket> open = new ArrayList<>(clients.subList(0, 20));
    while (!open.isEmpty()) {
      connect(server);
      for (Socket client : List.copyOf(open)) {
        if (isClosed(client)) {
          open.remove(client);
        }
      }
    }
  }

  /** Whether the server has closed a connection without an answer; waits a moment for that. */
  private static boolean isClosed(Socket client) throws IOException {
    client.setSoTimeout(20);
    try {
      assertThat(client.getInputStream().read()).isNegative();
      return true;
    } catch (SocketTimeoutException _) {
      return false;
    } catch (SocketException _) {
      return true;
    }
  }

  @Test
  void what_requests_keep_is_bounded_and_small_ones_are_still_answered() throws Exception {
    TestServer server =
        start(
            "server.request-memory-bytes",
            "1MiB",
            "server.head-timeout",
            "1h",
            "server.min-body-rate",
            "0");
    for (int i = 0; i < 60; i++) {
      Socket client = connect(server);
      send(client, post(FRAMINGS[i % 2]) + "\r\n{\"" + "x".repeat(50_000));
    }
    while (!server.get("/metrics").body().contains("status=\"503\"")) {
      assertThat(server.get("/health").statusCode()).isEqualTo(200);
    }
    assertThat(server.post("/store/update", UPDATE).statusCode()).isEqualTo(200);
    assertThat(server.get("/health").statusCode()).isEqualTo(200);
    assertThat(usedBytes(server)).isLessThan(1 << 20);
    // Requests that have stopped halfway give way to others, without any deadline.
    String answer = "";
    while (!answer.startsWith("HTTP/1.1 400 ")) {
      Socket client = connect(server);
      send(client, post("Content-Length: 60000\r\nConnection: close") + "x".repeat(60_000));
      answer = answer(client);
      assertThat(answer)
          .satisfiesAnyOf(
              each -> assertThat(each).startsWith("HTTP/1.1 400 "),
              each ->
                  assertThat(each)
                      .startsWith("HTTP/1.1 503 ")
                      .contains("Retry-After: 1", "server.request-memory-bytes"));
    }
    for (Socket client : clients) {
      client.close();
    }
    while (usedBytes(server) > OWN_BYTES) {
      assertThat(server.post("/store/update", UPDATE).statusCode()).isEqualTo(200);
    }
  }

  private static double usedBytes(TestServer server) throws IOException, InterruptedException {
    return server
        .get("/metrics")
        .body()
        .lines()
        .filter(line -> line.startsWith("millrace_http_request_memory_bytes "))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.indexOf(' '))))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void a_body_larger_than_the_whole_budget_is_413() throws Exception {
    TestServer server = start("server.request-memory-bytes", "1MiB");
    HttpResponse<String> answer = server.post("/store/update", "x".repeat(1_000_000));
    assertThat(answer.statusCode()).isEqualTo(413);
    assertThat(answer.body()).contains("917504");
  }

  @ParameterizedTest
  @CsvSource({"/dci/queues", "/v1/nodes"})
  void json_that_would_take_more_memory_than_its_text_is_413(String path) throws Exception {
    TestServer server = start("server.request-memory-bytes", "1MiB");
    double before = usedBytes(server);
    String values = "{},".repeat(20_000);
    HttpResponse<String> answer = server.post(path, "{\"name\":[" + values + "{}]}");
    assertThat(answer.statusCode()).isEqualTo(413);
    assertThat(answer.body()).contains("too many values", "917504");
    assertThat(server.post(path, "{\"name\":\"" + values + "\"}").statusCode()).isEqualTo(400);
    assertThat(usedBytes(server)).isLessThanOrEqualTo(Math.max(before, OWN_BYTES));
  }

  @Test
  void a_huge_chunk_is_not_awaited_as_a_whole() throws Exception {
    TestServer server = start("server.max-body-bytes", "100KiB");
    Socket client = connect(server);
    send(client, post("Transfer-Encoding: chunked") + "7fffffff\r\n" + "x".repeat(200_000));
    assertThat(status(client)).isEqualTo("HTTP/1.1 413");
  }

  @Test
  void a_transaction_is_read_no_further_than_the_limit_of_its_parts() throws Exception {
    TestServer server = start("store.max-operations", "100");
    String ids = "1,".repeat(100);
    HttpResponse<String> answer =
        server.post("/store/update", "{\"clientid\":1,\"deletes\":[" + ids + "1, this is no JSON");
    assertThat(answer.statusCode()).isEqualTo(413);
    assertThat(answer.body())
        .isEqualTo(
            "{\"errors\":[\"the transaction has more than 100 parts\"],"
                + "\"refusal\":[{\"kind\":\"limits\"}]}");
    String most = "{\"clientid\":1,\"deletes\":[" + ids.substring(2) + "1]}";
    assertThat(server.post("/store/update", most).statusCode()).isEqualTo(200);
  }

  @Test
  void a_client_that_closes_within_a_body_leaves_nothing_behind() throws Exception {
    TestServer server = start();
    for (int i = 0; i < 20; i++) {
      try (Socket client = server.connect()) {
        OutputStream out = client.getOutputStream();
        out.write((post(FRAMINGS[i % 2]) + "\r\n{").getBytes(StandardCharsets.ISO_8859_1));
      }
    }
    while (usedBytes(server) > OWN_BYTES) {
      assertThat(server.get("/health").statusCode()).isEqualTo(200);
    }
    assertThat(store.commands).isEmpty();
  }
}
