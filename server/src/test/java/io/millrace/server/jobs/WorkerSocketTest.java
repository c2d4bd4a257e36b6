package io.millrace.server.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.jobs.Job;
import io.millrace.jobs.worker.WorkerLink;
import java.net.URI;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers over WebSocket, with the client of the JDK. */
final class WorkerSocketTest {
  @TempDir private Path folder;
  private ApiServer server;

  @BeforeEach
  void start() {
    server = new ApiServer(folder, "jobs.worker.max-frame-bytes", "1MiB");
  }

  @AfterEach
  void stop() {
    server.close();
  }

  /** Notes what comes. */
  private static final class Heard implements WebSocket.Listener {
    final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private long bytes;

    String next() throws InterruptedException {
      return String.valueOf(events.poll(30, TimeUnit.SECONDS));
    }

    @Override
    public CompletionStage<?> onText(WebSocket socket, CharSequence text, boolean last) {
      events.add(text.toString());
      return WebSocket.Listener.super.onText(socket, text, last);
    }

    @Override
    public CompletionStage<?> onBinary(WebSocket socket, ByteBuffer data, boolean last) {
      bytes += data.remaining();
      if (last) {
        events.add(bytes + " bytes");
      }
      return WebSocket.Listener.super.onBinary(socket, data, last);
    }

    @Override
    public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
      events.add(code + " " + reason);
      return WebSocket.Listener.super.onClose(socket, code, reason);
    }
  }

  private WebSocket connect(String path, Heard heard) throws Exception {
    return server
        .client()
        .newWebSocketBuilder()
        .buildAsync(URI.create("ws" + server.at(path)), heard)
        .get(30, TimeUnit.SECONDS);
  }

  @Test
  void messages_go_both_ways() throws Exception {
    Heard heard = new Heard();
    WebSocket socket = connect("/api/worker", heard);
    assertThat(server.workers.nextHeard()).isEqualTo("connected ");
    WorkerLink link = server.workers.nextLink();
    socket.sendText("{\"code\": 0}", true).join();
    assertThat(server.workers.nextHeard()).isEqualTo("{\"code\": 0}");
    link.say("{\"code\": 2}");
    assertThat(heard.next()).isEqualTo("{\"code\": 2}");
    link.ping();
    assertThat(server.workers.nextHeard()).isEqualTo("alive");
    socket.sendBinary(ByteBuffer.allocate(500_000), false).join();
    socket.sendBinary(ByteBuffer.allocate(800_000), true).join();
    assertThat(server.workers.nextHeard()).isEqualTo("result of 1300000");
    link.close(4001, "enough");
    assertThat(heard.next()).isEqualTo("4001 enough");
    assertThat(server.workers.nextHeard())
        .isEqualTo("disconnected: its connection was closed with 4001: enough");
  }

  @Test
  void a_payload_comes_whole_behind_its_announcement() throws Exception {
    server.submit(
        "/api/jobs/submit", "Key", "k", "Priority", "batch", "Payload", "x".repeat(1_000_000));
    Job job = server.jobs.registry().find("k").orElseThrow();
    Heard heard = new Heard();
    WebSocket socket = connect("/api/worker", heard);
    WorkerLink link = server.workers.nextLink();
    link.send(job, "next");
    assertThat(heard.next()).isEqualTo("next");
    assertThat(heard.next()).isEqualTo("1000000 bytes");
    server.jobs.registry().delete("k");
    link.send(job, "left out");
    link.say("goes on");
    assertThat(heard.next()).isEqualTo("goes on");
    assertThat(server.workers.nextHeard()).isEqualTo("connected ");
    assertThat(server.workers.nextHeard()).isEqualTo("missing k");
    socket.abort();
  }

  @Test
  void a_frame_over_the_limit_closes_with_1009() throws Exception {
    Heard heard = new Heard();
    WebSocket socket = connect("/api/worker", heard);
    var sent = socket.sendBinary(ByteBuffer.allocate((1 << 20) + 1), true);
    assertThat(heard.next()).startsWith("1009 ").contains("1048576");
    assertThat(sent.join()).isSameAs(socket);
  }

  @Test
  void a_worker_that_vanishes_is_noticed() throws Exception {
    WebSocket socket = connect("/api/worker", new Heard());
    assertThat(server.workers.nextHeard()).isEqualTo("connected ");
    socket.abort();
    assertThat(server.workers.nextHeard()).isEqualTo("disconnected: its connection broke");
  }

  @Test
  void paths_that_are_none_and_plain_requests_are_refused() throws Exception {
    assertThatThrownBy(() -> connect("/api/worker/none", new Heard()))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(WebSocketHandshakeException.class);
    assertThat(server.get("/api/worker").statusCode()).isEqualTo(426);
    assertThat(server.post("/api/worker", "").statusCode()).isEqualTo(405);
  }
}
