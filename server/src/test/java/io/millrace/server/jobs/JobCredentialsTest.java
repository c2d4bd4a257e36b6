package io.millrace.server.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.jobs.worker.WorkerLink;
import io.millrace.server.Heard;
import io.millrace.server.TestServer;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What opens the job API on a server that has a token. */
final class JobCredentialsTest {
  private static final String WORKER = "{\"name\": \"w\", \"id\": \"w-1\", \"token\": \"wt\"}";
  private static final String FORM =
      """
      --b\r
      Content-Disposition: form-data; name="Priority"\r
      \r
      batch\r
      --b\r
      Content-Disposition: form-data; name="Key"\r
      \r
      k\r
      --b\r
      Content-Disposition: form-data; name="Payload"\r
      \r
      abc\r
      --b--\r
      """;
  private static final String[] KEY = {"X-API-KEY", "ak"};

  private final Path folder;
  private final HttpClient client = HttpClient.newHttpClient();
  private @Nullable TestServer server;

  JobCredentialsTest(@TempDir Path folder) {
    this.folder = folder;
  }

  @AfterEach
  void stop() {
    client.shutdownNow();
    if (server != null) {
      server.close();
    }
  }

  private TestServer start(String... settings) throws IOException {
    Path token = Files.writeString(folder.resolve("token"), "server-token");
    String[] all = new String[settings.length + 2];
    System.arraycopy(settings, 0, all, 2, settings.length);
    all[0] = "server.token-file";
    all[1] = token.toString();
    TestServer started = TestServer.in(folder, all);
    server = started;
    return started;
  }

  private TestServer whole() throws IOException {
    return start("jobs.api-key", "ak", "jobs.worker.token", "wt", "jobs.path-prefix", "/grid");
  }

  private static HttpResponse<String> submit(TestServer server, String path, String... headers)
      throws Exception {
    String[] all = new String[headers.length + 2];
    System.arraycopy(headers, 0, all, 2, headers.length);
    all[0] = "Content-Type";
    all[1] = "multipart/form-data; boundary=b";
    return server.send("POST", path, FORM, all);
  }

  private static final class Heard implements WebSocket.Listener {
    final BlockingQueue<String> events = new LinkedBlockingQueue<>();

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket on, CharSequence text, boolean last) {
      events.add(text.toString());
      on.request(1);
      return null;
    }

    @Override
    public @Nullable CompletionStage<?> onClose(WebSocket on, int code, String reason) {
      events.add(code + " " + reason);
      return null;
    }
  }

  private WebSocket connect(TestServer at, String path, Heard heard) {
    URI address = URI.create("ws://127.0.0.1:" + at.port() + path);
    return client.newWebSocketBuilder().buildAsync(address, heard).join();
  }

  private int refused(TestServer at, String path) {
    try {
      connect(at, path, new Heard()).abort();
      return 101;
    } catch (CompletionException e) {
      return e.getCause() instanceof WebSocketHandshakeException refusal
          ? refusal.getResponse().statusCode()
          : 0;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "/grid"})
  void a_worker_needs_the_registration_token_alone(String prefix) throws Exception {
    TestServer at = whole();
    Heard heard = new Heard();
    WebSocket worker = connect(at, prefix + "/api/worker", heard);
    worker
        .sendText("{\"code\":0,\"name\":\"n\",\"id\":\"i\",\"token\":\"wt\"}", true)
        .get(30, TimeUnit.SECONDS);
    assertThat(heard.events.poll(30, TimeUnit.SECONDS)).isEqualTo("{\"code\":2}");
    worker.abort();

    assertThat(submit(at, prefix + "/api/jobs/submit", KEY).statusCode()).isEqualTo(202);
    HttpResponse<String> next = at.post(prefix + "/api/worker/next?wait=30", WORKER);
    assertThat(next.statusCode()).isEqualTo(200);
    String token = next.headers().firstValue("Millrace-Job-Token").orElseThrow();
    String result = prefix + "/api/jobs/k/result?token=" + token;
    assertThat(at.post(result, "cba").statusCode()).isEqualTo(401);
    assertThat(at.send("POST", result, "cba", "X-WORKER-TOKEN", "no").statusCode()).isEqualTo(403);
    assertThat(at.send("POST", result, "cba", "X-WORKER-TOKEN", "wt").statusCode()).isEqualTo(200);
    assertThat(at.get(prefix + "/api/jobs/k/result", KEY).body()).isEqualTo("cba");
  }

  @Test
  void api_key_and_worker_token_can_be_limited_to_types() throws Exception {
    TestServer at =
        start(
            "jobs.api-key",
            "ak",
            "jobs.api-key-types",
            "mail, report",
            "jobs.worker.token",
            "wt",
            "jobs.worker.types",
            "mail",
            "jobs.types.mail.description",
            "",
            "jobs.types.report.description",
            "",
            "jobs.types.image.description",
            "");
    assertThat(at.get("/api/types", KEY).body()).contains("mail", "report").doesNotContain("image");
    assertThat(submit(at, "/api/jobs/submit/image", KEY).statusCode()).isEqualTo(403);
    assertThat(submit(at, "/api/jobs/submit/report", KEY).statusCode()).isEqualTo(202);
    assertThat(at.post("/api/worker/report/next", WORKER).statusCode()).isEqualTo(403);
    assertThat(at.post("/api/worker/mail/next", WORKER).statusCode()).isEqualTo(204);
    assertThat(refused(at, "/api/worker/report")).isEqualTo(403);
    assertThat(refused(at, "/api/worker/mail")).isEqualTo(101);
    String shown = at.get("/access/principals", "Authorization", "Bearer server-token").body();
    assertThat(shown).contains("\"types\":[\"mail\",\"report\"]", "\"types\":[\"mail\"]");
  }

  @Test
  void wrong_registration_tokens_slow_their_address_down() throws Exception {
    TestServer at = start("jobs.worker.token", "wt");
    boolean closed = false;
    int handshake = 101;
    // The first failures have no consequence, and a slow machine may wait out the shortest pauses.
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    for (int i = 0; System.nanoTime() < deadline && !(closed && handshake == 429); i++) {
      Heard heard = new Heard();
      WebSocket socket;
      try {
        socket = connect(at, "/api/worker", heard);
      } catch (CompletionException e) {
        assertThat(e).hasCauseInstanceOf(WebSocketHandshakeException.class);
        if (e.getCause() instanceof WebSocketHandshakeException refused) {
          handshake = refused.getResponse().statusCode();
          assertThat(refused.getResponse().headers().firstValue("Retry-After")).isPresent();
        }
        continue;
      }
      String guess = "{\"name\":\"n\",\"id\":\"i\",\"token\":\"no%d\"}".formatted(i);
      assertThat(at.post("/api/worker/next", guess).statusCode()).isIn(403, 429);
      socket.sendText("{\"code\":0," + guess.substring(1), true).join();
      if (i > 10) {
        String next = heard.events.poll(2, TimeUnit.SECONDS);
        closed |= next != null && next.startsWith(WorkerLink.TRY_LATER + " ");
      }
      socket.abort();
    }
    assertThat(handshake).isEqualTo(429);
    assertThat(closed).isTrue();
  }

  @Test
  void a_wrong_registration_token_lets_nobody_in() throws Exception {
    TestServer at = start("jobs.worker.token", "wt", "jobs.worker.kick-after-ms", "1000");
    Heard heard = new Heard();
    WebSocket worker = connect(at, "/api/worker", heard);
    worker
        .sendText("{\"code\":0,\"name\":\"n\",\"id\":\"i\",\"token\":\"no\"}", true)
        .get(30, TimeUnit.SECONDS);
    assertThat(heard.events.poll(30, TimeUnit.SECONDS)).startsWith("1008 ");
    assertThat(at.post("/api/worker/next", WORKER.replace("wt", "no")).statusCode()).isEqualTo(403);
    String entries = "";
    while (!entries.contains("GET /api/worker") || !entries.contains("POST /api/worker/next")) {
      // They are written within a second.
      LockSupport.parkNanos(5_000_000);
      HttpResponse<String> found =
          at.get("/audit?result=refused", "Authorization", "Bearer server-token");
      assertThat(found.statusCode()).isEqualTo(200);
      entries = found.body();
    }
    assertThat(entries).contains("\"sign-in\"", "\"job.claim\"");
  }

  @Test
  void a_stranger_may_not_send_more_than_a_registration() throws Exception {
    TestServer at = whole();
    Heard heard = new Heard();
    WebSocket worker = connect(at, "/api/worker", heard);
    var _ = worker.sendText("{\"code\":0,\"name\":\"" + "x".repeat(64 << 10), false);
    assertThat(heard.events.poll(30, TimeUnit.SECONDS)).startsWith("1009 ").contains("65536");
    String long64k = "{\"name\":\"" + "x".repeat(64 << 10) + "\"}";
    assertThat(at.post("/api/worker/next", long64k).statusCode()).isEqualTo(413);
  }

  @Test
  void a_client_needs_the_api_key_alone() throws Exception {
    TestServer at = whole();
    assertThat(submit(at, "/api/jobs/submit", KEY).statusCode()).isEqualTo(202);
    for (String path :
        new String[] {"/api/jobs", "/api/jobs/k", "/api/batches", "/api/types", "/api/workers"}) {
      assertThat(at.get(path, KEY).statusCode()).as(path).isEqualTo(200);
      assertThat(at.get(path).statusCode()).as(path).isEqualTo(401);
      assertThat(at.get(path, "X-WORKER-TOKEN", "wt").statusCode()).as(path).isEqualTo(401);
      HttpResponse<String> wrong = at.get(path, "X-API-KEY", "no");
      assertThat(wrong.statusCode()).as(path).isEqualTo(403);
      assertThat(wrong.body()).contains("X-API-KEY");
    }
    assertThat(submit(at, "/api/jobs/submit").statusCode()).isEqualTo(401);
    assertThat(at.get("/api/events").statusCode()).isEqualTo(401);
    try (Socket stream = at.connect()) {
      stream
          .getOutputStream()
          .write(
              "GET /api/events HTTP/1.1\r\nHost: localhost\r\nX-API-KEY: ak\r\n\r\n"
                  .getBytes(StandardCharsets.US_ASCII));
      assertThat(new String(stream.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
          .isEqualTo("HTTP/1.1 200");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/store/groups",
        "/dci/info",
        "/v1/nodes",
        "/metrics",
        "/blobs/x",
        "/cluster/members",
        "/api/jobs/../../store/groups",
        "/api/worker/../../store/groups",
        "/api/workerish",
        "/api/jobsish",
        "/grid/store/groups",
        "/dashboard"
      })
  void neither_opens_anything_else(String path) throws Exception {
    TestServer at = whole();
    String answer =
        at.raw(
            "GET "
                + path
                + " HTTP/1.1\nHost: localhost\nConnection: close\nX-API-KEY: ak\n"
                + "X-WORKER-TOKEN: wt\n\n");
    assertThat(answer).matches("(?s)HTTP/1.1 (401|404) .*");
    assertThat(answer).doesNotContain("\"groups\"");
  }

  @Test
  void a_secret_that_is_not_configured_opens_nothing() throws Exception {
    TestServer at = start();
    assertThat(refused(at, "/api/worker")).isEqualTo(401);
    assertThat(at.post("/api/worker/next", WORKER).statusCode()).isEqualTo(401);
    assertThat(at.get("/api/jobs", KEY).statusCode()).isEqualTo(401);
    assertThat(at.get("/api/jobs", "Authorization", "Bearer server-token").statusCode())
        .isEqualTo(200);
  }
}
