package io.millrace.server.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.WorkerView;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Workers that ask over HTTP, and those that there are. */
final class WorkerApiTest {
  private static final String WORKER = "{\"name\": \"w\", \"id\": \"w-1\", \"token\": \"\"}";

  @TempDir private Path folder;
  private ApiServer server;

  @BeforeEach
  void start() {
    server = new ApiServer(folder);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private HttpResponse<String> next() throws IOException, InterruptedException {
    return server.post("/api/worker/next", WORKER);
  }

  private static String header(HttpResponse<String> answer, String name) {
    return answer.headers().firstValue(name).orElse("");
  }

  @Test
  void a_worker_that_asks_gets_a_job_and_gives_its_result() throws Exception {
    server.submitted("ü", "batch");
    HttpResponse<String> job = next();
    assertThat(job.statusCode()).isEqualTo(200);
    assertThat(job.body()).isEqualTo("p of ü");
    assertThat(header(job, "Millrace-Job-Key")).isEqualTo("%C3%BC");
    String path = "/api/jobs/" + header(job, "Millrace-Job-Id");
    String token = "?token=" + header(job, "Millrace-Job-Token");
    assertThat(next().statusCode()).isEqualTo(204);
    assertThat(server.post(path + "/progress" + token, "{\"percent\": 50}").statusCode())
        .isEqualTo(200);
    assertThat(server.post(path + "/progress" + token, "{}").statusCode()).isEqualTo(400);
    assertThat(server.post(path + "/progress" + token, "{\"percent\": 101}").statusCode())
        .isEqualTo(400);
    assertThat(server.post(path + "/result?token=1", "late").statusCode()).isEqualTo(409);
    assertThat(server.post(path + "/result", "no token").statusCode()).isEqualTo(400);
    HttpResponse<String> done = server.post(path + "/result" + token, "r".repeat(10_000));
    assertThat(done.body()).contains("\"status\":\"done\"").contains("\"resultSize\":10000");
    assertThat(server.get(path + "/result").body()).hasSize(10_000);
    assertThat(server.get(path + "/result", "Range", "bytes=0-4").body()).isEqualTo("rrrrr");
  }

  @Test
  void a_job_that_came_when_its_worker_went_is_offered_again() throws Exception {
    String id = server.submitted("a", "batch");
    try (Socket worker = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      worker
          .getOutputStream()
          .write(
              ("POST /api/worker/next?wait=30 HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                      + WORKER.length()
                      + "\r\n\r\n"
                      + WORKER)
                  .getBytes(StandardCharsets.US_ASCII));
    }
    Assignment undelivered = server.polled.undelivered.poll(25, TimeUnit.SECONDS);
    assertThat(undelivered).isNotNull();
    assertThat(undelivered.job().id()).hasToString(id);
  }

  @Test
  void a_job_whose_payload_is_lost_is_told_apart_from_one_that_did_not_arrive() throws Exception {
    server.submit(
        "/api/jobs/submit", "Key", "k", "Priority", "batch", "Payload", "x".repeat(100_000));
    Job job = server.jobs.registry().find("k").orElseThrow();
    server.blobs.delete(JobRegistry.payloadName(job.id()));
    assertThat(next().statusCode()).isEqualTo(204);
    assertThat(server.polled.missing).extracting(each -> each.job().key()).containsExactly("k");
    assertThat(server.polled.undelivered).isEmpty();
  }

  @Test
  void a_worker_that_asks_wrongly_is_told_so() throws Exception {
    for (String body : List.of("", "[]", "{}", "{\"name\": 1}", "{\"name\": \"w\"}", "{\"name\"")) {
      assertThat(server.post("/api/worker/next", body).statusCode()).as(body).isEqualTo(400);
    }
    assertThat(server.post("/api/worker/next", "{\"name\"").body())
        .contains("the body is not JSON", "line 1, column")
        .doesNotContain("Source");
    assertThat(server.post("/api/worker/next?wait=601", WORKER).statusCode()).isEqualTo(400);
    assertThat(server.post("/api/worker/x/next", WORKER).statusCode()).isEqualTo(400);
    assertThat(
            server
                .post("/api/worker/next", "{\"name\": \"w\", \"id\": \"w\", \"token\": \"wrong\"}")
                .statusCode())
        .isEqualTo(403);
  }

  @Test
  void workers_are_listed() throws Exception {
    server.workers.listed.add(
        new WorkerView(
            new WorkerId("m/1"),
            "machine",
            "",
            WorkerView.State.READY,
            List.of(),
            new WorkerView.Tally(3, 1),
            new WorkerView.Seen(1_000, 2_000)));
    JsonNode worker = server.json("/api/workers/m%2F1");
    assertThat(worker).isEqualTo(server.json("/api/workers").get(0));
    assertThat(worker.get("state").asString()).isEqualTo("ready");
    assertThat(worker.get("succeeded").asInt()).isEqualTo(3);
    assertThat(worker.get("lastSeen").asString()).isEqualTo("1970-01-01T00:00:02Z");
    assertThat(server.get("/api/workers/x").statusCode()).isEqualTo(404);
  }
}
