package io.millrace.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.FakeStore;
import io.millrace.server.TestServer;
import io.millrace.store.Bytes;
import io.millrace.store.Outcome;
import io.millrace.store.Task;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Short requests, which an event loop answers, among others on the same connection. */
@ParameterizedClass
@EnumSource(TestServer.Wire.class)
final class PlainRequestsTest {
  private static final String UPDATE = "{\"clientid\":1,\"deletes\":[5]}";
  private static final String GET = "GET /store/groups HTTP/1.1\r\nHost: localhost\r\n\r\n";

  @Parameter private TestServer.Wire wire = TestServer.Wire.PLAIN;
  @TempDir private Path folder;
  private final FakeStore store = new FakeStore();
  private TestServer server;

  @BeforeEach
  void start() {
    server = TestServer.with(wire, _ -> store, folder);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static String post(String path, String body) {
    return "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
        .formatted(path, body.length(), body);
  }

  private static String chunked(String body) {
    return "POST /store/update HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "%x\r\n%s\r\n0\r\n\r\n".formatted(body.length(), body);
  }

  private static void send(Socket client, String text) throws IOException {
    client.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  /** The next answer on the connection: its status and its body. */
  private static String answer(Socket client) throws IOException {
    DataInputStream in = new DataInputStream(client.getInputStream());
    List<String> head = new ArrayList<>();
    for (String line = line(in); !line.isEmpty(); line = line(in)) {
      head.add(line);
    }
    int length =
        head.stream()
            .map(line -> line.toLowerCase(Locale.ROOT))
            .filter(line -> line.startsWith("content-length:"))
            .mapToInt(line -> Integer.parseInt(line.substring(15).strip()))
            .sum();
    String body = new String(in.readNBytes(length), StandardCharsets.UTF_8);
    return head.getFirst().split(" ", -1)[1] + " " + body;
  }

  private static String line(DataInputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int one = in.readUnsignedByte(); one != '\n'; one = in.readUnsignedByte()) {
      line.append((char) one);
    }
    return line.toString().strip();
  }

  @Test
  void a_request_that_comes_byte_by_byte_is_answered() throws Exception {
    try (Socket client = server.connect()) {
      client.setTcpNoDelay(true);
      OutputStream out = client.getOutputStream();
      for (byte one : post("/store/update", UPDATE).getBytes(StandardCharsets.US_ASCII)) {
        out.write(one);
        out.flush();
      }
      assertThat(answer(client)).startsWith("200 {\"tasks\":[]");
    }
    assertThat(store.commands).hasSize(1);
  }

  @Test
  void requests_of_every_kind_follow_one_another_on_a_connection() throws Exception {
    try (Socket client = server.connect()) {
      for (int round = 0; round < 20; round++) {
        send(client, post("/store/update", UPDATE));
        assertThat(answer(client)).startsWith("200 {\"tasks\":[]");
        send(client, GET);
        assertThat(answer(client)).isEqualTo("200 []");
        send(client, chunked(UPDATE));
        assertThat(answer(client)).startsWith("200 {\"tasks\":[]");
        send(client, post("/store/update", "{\"clientid\":"));
        assertThat(answer(client)).startsWith("400 {\"errors\":[\"malformed JSON");
      }
    }
    assertThat(store.commands).hasSize(40);
  }

  @Test
  void requests_sent_ahead_are_answered_in_their_order() throws Exception {
    try (Socket client = server.connect()) {
      String three = post("/store/update", UPDATE) + GET + chunked(UPDATE);
      send(client, three + three);
      for (int round = 0; round < 2; round++) {
        assertThat(answer(client)).startsWith("200 {\"tasks\":[]");
        assertThat(answer(client)).isEqualTo("200 []");
        assertThat(answer(client)).startsWith("200 {\"tasks\":[]");
      }
    }
  }

  @Test
  void a_request_sent_before_the_last_answer_waits_for_it() throws Exception {
    CompletableFuture<Outcome> first = new CompletableFuture<>();
    Outcome done = store.answer.join();
    store.answer = first;
    try (Socket client = server.connect()) {
      send(client, post("/store/update", UPDATE));
      assertThat(store.asked.await(20, TimeUnit.SECONDS)).isTrue();
      store.answer = CompletableFuture.completedFuture(done);
      send(client, GET + post("/store/update", UPDATE));
      // Another connection's answer says that the loop has gone on meanwhile.
      assertThat(server.post("/store/update", UPDATE).statusCode()).isEqualTo(200);
      first.complete(done);
      assertThat(answer(client)).startsWith("200 {\"tasks\":[]");
      assertThat(answer(client)).isEqualTo("200 []");
      assertThat(answer(client)).startsWith("200 {\"tasks\":[]");
    }
  }

  @Test
  void a_long_answer_reaches_a_client_that_reads_late_and_hinders_no_other() throws Exception {
    Bytes data = Bytes.of("x".repeat(1 << 20));
    Task task = new Task(7, 7, "a", 0, null, 0, 0, data);
    Outcome small = store.answer.join();
    List<Task> tasks = List.of(task, task, task, task, task, task, task, task);
    store.answer =
        CompletableFuture.completedFuture(
            new Outcome.Done(FakeStore.POSITION, FakeStore.TIME, tasks, List.of(), false));
    try (Socket late = server.connect()) {
      send(late, post("/store/update", UPDATE));
      assertThat(store.asked.await(20, TimeUnit.SECONDS)).isTrue();
      store.answer = CompletableFuture.completedFuture(small);
      assertThat(server.post("/store/update", UPDATE).statusCode()).isEqualTo(200);
      assertThat(answer(late)).startsWith("200 ").hasSizeGreaterThan(8 << 20);
      send(late, post("/store/update", UPDATE));
      assertThat(answer(late)).startsWith("200 {\"tasks\":[]");
    }
  }

  @Test
  void a_stop_waits_for_what_is_undecided_and_answers_it() throws Exception {
    CompletableFuture<Outcome> undecided = new CompletableFuture<>();
    Outcome done = store.answer.join();
    store.answer = undecided;
    CompletableFuture<HttpResponse<String>> answered = new CompletableFuture<>();
    Thread asking =
        Thread.ofVirtual()
            .start(() -> {
              try {
                answered.complete(server.post("/store/update", UPDATE));
              } catch (IOException | InterruptedException e) {
                answered.completeExceptionally(e);
              }
            });
    assertThat(store.asked.await(20, TimeUnit.SECONDS)).isTrue();
    Thread stopping = Thread.ofVirtual().start(server::stopServing);
    undecided.complete(done);
    stopping.join();
    asking.join();
    assertThat(answered.join().statusCode()).isEqualTo(200);
    assertThat(store.closed).isTrue();
  }

  @Test
  void a_client_that_leaves_before_its_answer_holds_nothing_up() throws Exception {
    CompletableFuture<Outcome> undecided = new CompletableFuture<>();
    Outcome done = store.answer.join();
    store.answer = undecided;
    try (Socket client = server.connect()) {
      send(client, post("/store/update", UPDATE));
      assertThat(store.asked.await(20, TimeUnit.SECONDS)).isTrue();
    }
    undecided.complete(done);
    store.answer = CompletableFuture.completedFuture(done);
    assertThat(server.post("/store/update", UPDATE).statusCode()).isEqualTo(200);
    server.stopServing();
    assertThat(store.closed).isTrue();
  }

  @Test
  void a_host_of_another_site_is_turned_away() throws Exception {
    try (Socket client = server.connect()) {
      send(client, post("/store/update", UPDATE).replace("localhost", "evil.example"));
      assertThat(answer(client)).startsWith("403 {\"error\"");
      send(client, post("/store/update", UPDATE).replace("Host", "Origin: http://evil\r\nHost"));
      assertThat(answer(client)).startsWith("403 {\"error\"");
    }
    assertThat(store.commands).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Origin: http://localhost\r\nOrigin: http://evil",
        "Origin: http://evil\r\nOrigin: http://localhost",
        "Authorization: Bearer a\r\nAuthorization: Bearer b"
      })
  void what_access_rests_on_comes_once_on_both_paths(String headers) throws Exception {
    String chunked = "5\r\n{\"cli\r\n0\r\n\r\n";
    for (String request :
        List.of(
            post("/store/update", UPDATE),
            "POST /store/update HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                + chunked)) {
      try (Socket client = server.connect()) {
        send(client, request.replace("Host", headers + "\r\nHost"));
        assertThat(answer(client)).startsWith("400 ").contains("is given several times");
      }
    }
    assertThat(store.commands).isEmpty();
  }
}
