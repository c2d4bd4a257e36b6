package io.millrace.cli.payload;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Payloads and results that are larger than the heap of the server. {@code
 * -Dmillrace.payload.bytes=2147483648} makes them larger.
 */
@Timeout(1_800)
class LargePayloadTest {
  private static final long BYTES = Long.getLong("millrace.payload.bytes", 100_000_000);
  private static final int FRAGMENT_BYTES = 100_000;
  private static final int MAX_FRAME_BYTES = 64 << 20;

  @TempDir private Path root;
  private SmallServer server;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  @BeforeEach
  void start() throws IOException {
    server = SmallServer.start(root);
  }

  @AfterEach
  void stop() throws InterruptedException {
    client.close();
    server.stop();
  }

  private LargeWorker worker() {
    return new LargeWorker(client, server.socketAt("/api/worker"));
  }

  private void submit(String key, long seed, long length) throws Exception {
    String before =
        "--b\r\nContent-Disposition: form-data; name=\"Priority\"\r\n\r\nbatch\r\n"
            + "--b\r\nContent-Disposition: form-data; name=\"Key\"\r\n\r\n"
            + key
            + "\r\n--b\r\nContent-Disposition: form-data; name=\"Payload\"\r\n\r\n";
    HttpRequest request =
        HttpRequest.newBuilder(server.at("/api/jobs/submit"))
            .header("Content-Type", "multipart/form-data; boundary=b")
            .POST(
                BodyPublishers.ofInputStream(() ->
                    new SequenceInputStream(
                        Collections.enumeration(
                            List.of(
                                text(before),
                                new PatternBytes(seed, length),
                                text("\r\n--b--\r\n"))))))
            .build();
    HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
  }

  private static InputStream text(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.US_ASCII));
  }

  private String waitFor(String key) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(server.at("/api/jobs/" + key + "/wait?timeout=300")).build();
    return client.send(request, BodyHandlers.ofString()).body();
  }

  private long checksum(String path) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(server.at(path)).build();
    CRC32C sum = new CRC32C();
    try (InputStream body = client.send(request, BodyHandlers.ofInputStream()).body()) {
      byte[] part = new byte[1 << 16];
      for (int read = body.read(part); read >= 0; read = body.read(part)) {
        sum.update(part, 0, read);
      }
    }
    return sum.getValue();
  }

  @Test
  void a_payload_and_a_result_larger_than_the_heap_pass_in_and_out() throws Exception {
    submit("large", 1, BYTES);
    LargeWorker worker = worker();
    assertThat(worker.payloadChecksum()).isEqualTo(PatternBytes.checksum(1, BYTES));
    worker.send(new PatternBytes(2, BYTES), FRAGMENT_BYTES);
    assertThat(waitFor("large"))
        .contains("\"status\":\"done\"", "\"failures\":0", "\"resultSize\":" + BYTES);
    assertThat(checksum("/api/jobs/large/result")).isEqualTo(PatternBytes.checksum(2, BYTES));
    assertThat(checksum("/api/jobs/large/payload")).isEqualTo(PatternBytes.checksum(1, BYTES));
    worker.leave();
  }

  @Test
  void one_frame_of_64_mebibytes_is_taken_and_a_longer_one_refused_with_the_reason()
      throws Exception {
    submit("frame", 1, 10);
    LargeWorker greedy = worker();
    assertThat(greedy.payloadChecksum()).isEqualTo(PatternBytes.checksum(1, 10));
    try {
      greedy.send(new PatternBytes(2, MAX_FRAME_BYTES + 1), MAX_FRAME_BYTES + 1);
    } catch (CompletionException _) {
      // The server did not wait for its end.
    }
    assertThat(greedy.closed())
        .isEqualTo("1009 a frame has at most " + MAX_FRAME_BYTES + " bytes; send fragments");
    LargeWorker worker = worker();
    assertThat(worker.payloadChecksum()).isEqualTo(PatternBytes.checksum(1, 10));
    worker.send(new PatternBytes(3, MAX_FRAME_BYTES), MAX_FRAME_BYTES);
    assertThat(waitFor("frame")).contains("\"status\":\"done\"", "\"failures\":0");
    assertThat(checksum("/api/jobs/frame/result"))
        .isEqualTo(PatternBytes.checksum(3, MAX_FRAME_BYTES));
    worker.leave();
  }
}
