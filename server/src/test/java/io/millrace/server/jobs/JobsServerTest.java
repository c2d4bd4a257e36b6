package io.millrace.server.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.server.ServerException;
import io.millrace.server.TestServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The job server within the whole server. */
final class JobsServerTest {
  private static final String FORM =
      """
      --b\r
      Content-Disposition: form-data; name="Priority"\r
      \r
      batch\r
      --b\r
      Content-Disposition: form-data; name="Payload"\r
      \r
      bytes\r
      --b--\r
      """;

  @TempDir private Path folder;

  private static String submit(TestServer server, String path)
      throws IOException, InterruptedException {
    return server
        .send("POST", path, FORM, "Content-Type", "multipart/form-data; boundary=b")
        .body();
  }

  @Test
  void jobs_outlive_a_restart() throws Exception {
    try (TestServer server = TestServer.in(folder)) {
      assertThat(submit(server, "/api/jobs/submit")).contains("\"created\"");
    }
    try (TestServer server = TestServer.in(folder)) {
      assertThat(server.get("/api/jobs").body()).contains("\"status\":\"pending\"");
    }
  }

  @Test
  void a_page_of_another_origin_opens_no_web_socket() throws Exception {
    try (TestServer server = TestServer.in(folder);
        HttpClient client = HttpClient.newHttpClient()) {
      URI worker = URI.create("ws://127.0.0.1:" + server.port() + "/api/worker");
      URI events = URI.create("ws://127.0.0.1:" + server.port() + "/v1/events");
      for (URI address : List.of(worker, events)) {
        for (String origin :
            List.of("http://example.com", "http://127.0.0.1:1", "https://127.0.0.1", "null")) {
          assertThatThrownBy(() -> open(client, address, origin))
              .as(address + " for a page of " + origin)
              .hasCauseInstanceOf(WebSocketHandshakeException.class)
              .cause()
              .satisfies(e ->
                  assertThat(((WebSocketHandshakeException) e).getResponse().statusCode())
                      .isEqualTo(403));
        }
        open(client, address, "http://127.0.0.1:" + server.port()).abort();
      }
    }
  }

  private static WebSocket open(HttpClient client, URI address, String origin) throws Exception {
    return client
        .newWebSocketBuilder()
        .header("Origin", origin)
        .buildAsync(address, new WebSocket.Listener() {})
        .get(30, TimeUnit.SECONDS);
  }

  @Test
  void types_are_remembered_and_a_contradiction_stops_the_start() {
    try (TestServer server =
        TestServer.in(
            folder,
            "jobs.types.decode.result-becomes",
            "resize",
            "jobs.types.resize.description",
            "d")) {
      assertThat(server.port()).isPositive();
    }
    assertThatThrownBy(() -> TestServer.in(folder, "jobs.types.resize.description", "d").close())
        .isInstanceOf(ServerException.class)
        .hasMessageContaining("decode");
    try (TestServer server =
        TestServer.in(folder, "jobs.types.resize.description", "d", "jobs.replace-types", "true")) {
      assertThat(server.port()).isPositive();
    }
  }

  @Test
  void a_circle_of_types_stops_the_start() {
    assertThatThrownBy(() ->
            TestServer.in(
                    folder, "jobs.types.a.result-becomes", "b", "jobs.types.b.result-becomes", "a")
                .close())
        .isInstanceOf(ServerException.class)
        .hasMessageContaining("circle");
  }
}
