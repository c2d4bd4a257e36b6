package io.millrace.server.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.TestServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs that come back with the end of their workers' connections. */
final class JobReturnsTest {
  private static final String[] MOST = {"jobs.max-returns", "3"};

  private final Path folder;
  private final HttpClient client = HttpClient.newHttpClient();

  JobReturnsTest(@TempDir Path folder) {
    this.folder = folder;
  }

  @AfterEach
  void stop() {
    client.shutdownNow();
  }

  /** A worker on one connection, which notes what comes. */
  private final class Line implements WebSocket.Listener {
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private final WebSocket socket;

    Line(TestServer server) {
      URI address = URI.create("ws://127.0.0.1:" + server.port() + "/api/worker");
      socket = client.newWebSocketBuilder().buildAsync(address, this).join();
      say("{\"code\":0,\"name\":\"n\",\"id\":\"w\",\"token\":\"\"}");
      say("{\"code\":1,\"status\":1}");
    }

    private void say(String text) {
      socket.sendText(text, true).join();
    }

    void awaitJob() throws InterruptedException {
      await("job");
    }

    String await(String beginning) throws InterruptedException {
      String event = String.valueOf(events.poll(30, TimeUnit.SECONDS));
      while (!event.startsWith(beginning)) {
        assertThat(event).as("before " + beginning).isEqualTo("question");
        event = String.valueOf(events.poll(30, TimeUnit.SECONDS));
      }
      return event;
    }

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket on, CharSequence text, boolean last) {
      events.add("question");
      on.request(1);
      return null;
    }

    @Override
    public @Nullable CompletionStage<?> onBinary(WebSocket on, ByteBuffer data, boolean last) {
      events.add("job");
      on.request(1);
      return null;
    }

    @Override
    public @Nullable CompletionStage<?> onClose(WebSocket on, int code, String reason) {
      events.add("closed " + code);
      return null;
    }
  }

  private static void submit(TestServer server) throws Exception {
    assertThat(
            server
                .submit("/api/jobs/submit", "Priority", "batch", "Key", "k", "Payload", "p")
                .statusCode())
        .isEqualTo(202);
  }

  private static String ended(TestServer server) throws Exception {
    return server.get("/api/jobs/k/wait?timeout=30").body();
  }

  /** Waits until the job is offered again. */
  private static String offered(TestServer server) throws Exception {
    String job = server.get("/api/jobs/k").body();
    for (int i = 0; i < 10_000 && job.contains("\"status\":\"running\""); i++) {
      LockSupport.parkNanos(5_000_000);
      job = server.get("/api/jobs/k").body();
    }
    return job;
  }

  @Test
  void a_job_whose_workers_break_off_is_failed_and_says_why() throws Exception {
    try (TestServer server = TestServer.in(folder, MOST)) {
      submit(server);
      for (int i = 0; i < 3; i++) {
        Line worker = new Line(server);
        worker.awaitJob();
        worker.socket.abort();
      }
      assertThat(ended(server))
          .contains("\"status\":\"failed\"", "\"failures\":0", "\"returns\":3");
      assertThat(server.get("/api/jobs/k/returns").body())
          .matches(
              "\\[(\\{\"workerId\":\"w\",\"at\":\"[^\"]+\",\"reason\":\"its connection broke\"},?)"
                  + "{3}]");
      assertThat(server.get("/api/jobs/k/failures").body())
          .contains("it was returned 3 times, the last time: its connection broke");
      assertThat(server.post("/api/jobs/k/retry", "").body())
          .contains("\"status\":\"pending\"", "\"returns\":0");
    }
  }

  @Test
  void an_attempt_that_takes_too_long_is_ended_while_its_worker_is_silent() throws Exception {
    try (TestServer server = TestServer.in(folder, "jobs.settings", "timeout=100ms attempts=1")) {
      submit(server);
      Line worker = new Line(server);
      worker.awaitJob();
      assertThat(ended(server))
          .contains("\"status\":\"failed\"", "\"failures\":1", "\"returns\":0");
      assertThat(server.get("/api/jobs/k/failures").body())
          .contains("it took longer than its timeout of 100ms", "\"failureCode\":\"timeout\"");
      worker.socket.abort();
    }
  }

  @Test
  void a_result_that_is_refused_as_too_long_counts_and_says_so() throws Exception {
    try (TestServer server =
        TestServer.in(folder, "jobs.max-returns", "2", "jobs.worker.max-frame-bytes", "1024")) {
      submit(server);
      for (int i = 0; i < 2; i++) {
        Line worker = new Line(server);
        worker.awaitJob();
        worker.socket.sendBinary(ByteBuffer.allocate(1025), true).join();
        assertThat(worker.await("closed")).isEqualTo("closed 1009");
      }
      assertThat(ended(server)).contains("\"status\":\"failed\"", "\"returns\":2");
      assertThat(server.get("/api/jobs/k/returns").body())
          .contains("its connection was closed with 1009: a frame has at most 1024 bytes");
    }
  }

  @Test
  void a_worker_that_goes_away_and_a_server_that_stops_count_for_nothing() throws Exception {
    try (TestServer server = TestServer.in(folder, MOST)) {
      submit(server);
      Line worker = new Line(server);
      worker.awaitJob();
      worker.socket.sendClose(1001, "maintenance").join();
      assertThat(offered(server)).contains("\"status\":\"pending\"", "\"returns\":0");
      new Line(server).awaitJob();
    }
    try (TestServer server = TestServer.in(folder, MOST)) {
      assertThat(server.get("/api/jobs/k").body())
          .contains("\"status\":\"pending\"", "\"returns\":0");
      assertThat(server.get("/api/workers/w").body())
          .contains("\"state\":\"disconnected\"", "\"lastSeen\":\"20");
      Line worker = new Line(server);
      worker.awaitJob();
      worker.socket.sendClose(1000, "done").join();
      assertThat(offered(server)).contains("\"status\":\"pending\"", "\"returns\":1");
      assertThat(server.get("/api/jobs/k/returns").body())
          .contains("its connection was closed with 1000");
    }
  }
}
