package io.millrace.server.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.TestServer;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of jobs where workers vanish, and where the store has no room. */
final class JobsInTroubleTest {
  private static final String WORKER = "{\"name\": \"w\", \"id\": \"w-1\", \"token\": \"\"}";

  @TempDir private Path folder;

  @Test
  void a_job_whose_worker_went_while_it_was_sent_is_offered_again_at_once() throws Exception {
    try (TestServer server = TestServer.in(folder)) {
      server.submit(
          "/api/jobs/submit", "Priority", "batch", "Key", "long", "Payload", "x".repeat(40 << 20));
      try (Socket worker = server.connect()) {
        worker.setSoLinger(true, 0);
        worker
            .getOutputStream()
            .write(
                ("POST /api/worker/next HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                        + WORKER.length()
                        + "\r\n\r\n"
                        + WORKER)
                    .getBytes(StandardCharsets.US_ASCII));
        byte[] begin = worker.getInputStream().readNBytes(1_000);
        assertThat(new String(begin, StandardCharsets.US_ASCII)).startsWith("HTTP/1.1 200");
      }
      HttpResponse<String> again = server.post("/api/worker/next?wait=30", WORKER);
      assertThat(again.statusCode()).isEqualTo(200);
      assertThat(again.body()).hasSize(40 << 20);
      assertThat(server.get("/api/jobs/long").body()).contains("\"failures\":0");
    }
  }

  @Test
  void a_full_store_is_503_gives_out_no_jobs_and_goes_on_when_there_is_room() throws Exception {
    try (TestServer server = TestServer.in(folder, "store.memory-budget-bytes", "1048576")) {
      List<String> keys = fill(server, "x".repeat(4_000), "a");
      keys.addAll(fill(server, "", "b"));
      // There may be room for the records of some few.
      while (server.post("/api/worker/next", WORKER).statusCode() == 200) {}
      assertThat(server.get("/api/jobs?status=pending").body()).contains(keys.getLast());
      assertThat(server.post("/api/worker/next", WORKER).statusCode()).isEqualTo(204);
      HttpResponse<String> deleted = server.post("/api/jobs/" + keys.getLast() + "/delete", "");
      assertThat(deleted.statusCode()).isEqualTo(202);
      assertThat(server.post("/api/worker/next?wait=30", WORKER).statusCode()).isEqualTo(200);
    }
  }

  /** Submits jobs until the store is full; gives their keys. */
  private static List<String> fill(TestServer server, String payload, String prefix)
      throws Exception {
    List<String> keys = new ArrayList<>();
    while (true) {
      String key = prefix + keys.size();
      HttpResponse<String> answer =
          server.submit("/api/jobs/submit", "Priority", "batch", "Key", key, "Payload", payload);
      if (answer.statusCode() != 202) {
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.body()).startsWith("{\"problem\":\"the store is full: ");
        assertThat(answer.headers().firstValue("Retry-After")).contains("1");
        return keys;
      }
      keys.add(key);
    }
  }
}
