package io.millrace.server.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.TestServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The job server with real workers on WebSockets. */
final class WorkersAtWorkTest {
  private static final int JOBS = Integer.getInteger("millrace.workers.jobs", 400);
  private static final int WORKERS = Integer.getInteger("millrace.workers.count", 30);

  @TempDir private Path folder;

  private static String form(String payload) {
    return "--b\r\nContent-Disposition: form-data; name=\"Priority\"\r\n\r\nimmediate\r\n"
        + "--b\r\nContent-Disposition: form-data; name=\"Key\"\r\n\r\n"
        + payload
        + "\r\n--b\r\nContent-Disposition: form-data; name=\"Payload\"\r\n\r\n"
        + payload
        + "\r\n--b--\r\n";
  }

  private static void submit(TestServer server, String name) throws Exception {
    String answer =
        server
            .send(
                "POST",
                "/api/jobs/submit",
                form(name),
                "Content-Type",
                "multipart/form-data; boundary=b")
            .body();
    assertThat(answer).contains("\"created\":\"" + name + "\"");
  }

  private static List<RealWorker> workers(
      TestServer server,
      HttpClient client,
      int count,
      int mischief,
      ConcurrentHashMap<String, Integer> results) {
    URI address = URI.create("ws://127.0.0.1:" + server.port() + "/api/worker");
    List<RealWorker> workers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      workers.add(new RealWorker(client, address, "worker-" + i, mischief, results));
    }
    return workers;
  }

  private static String end(TestServer server, String key) throws Exception {
    while (true) {
      String answer = server.get("/api/jobs/" + key + "/wait?timeout=5").body();
      if (answer.contains("\"status\":\"done\"") || answer.contains("\"status\":\"failed\"")) {
        return answer;
      }
    }
  }

  @Test
  void a_job_is_done_by_the_worker_that_is_there() throws Exception {
    ConcurrentHashMap<String, Integer> results = new ConcurrentHashMap<>();
    try (HttpClient client = HttpClient.newHttpClient();
        TestServer server = TestServer.in(folder)) {
      List<RealWorker> workers = workers(server, client, 1, 0, results);
      submit(server, "abc");
      assertThat(end(server, "abc")).contains("\"status\":\"done\"", "\"workerId\":\"worker-0\"");
      assertThat(server.get("/api/jobs/abc/result").body()).isEqualTo("cba");
      // The worker is counted once the job's end is known, a moment after others can see it.
      String listed = server.get("/api/workers/worker-0").body();
      for (int i = 0; i < 1_000 && !listed.contains("\"succeeded\":1"); i++) {
        LockSupport.parkNanos(5_000_000);
        listed = server.get("/api/workers/worker-0").body();
      }
      assertThat(listed).contains("\"succeeded\":1");
      workers.forEach(RealWorker::close);
    }
  }

  @Test
  void what_a_worker_takes_and_gives_back_is_in_the_audit_log() throws Exception {
    try (HttpClient client = HttpClient.newHttpClient();
        TestServer server = TestServer.in(folder)) {
      List<RealWorker> workers = workers(server, client, 1, 0, new ConcurrentHashMap<>());
      submit(server, "abc");
      assertThat(end(server, "abc")).contains("\"status\":\"done\"");
      for (String action : List.of("job.submit", "job.claim", "job.result")) {
        String entries = "";
        while (!entries.contains(action)) {
          // It is written within a second.
          LockSupport.parkNanos(5_000_000);
          entries = server.get("/audit?kind=job").body();
        }
        assertThat(entries).contains("\"principal\":\"local\"");
      }
      assertThat(server.get("/audit?action=job.result").body())
          .contains("\"count\":1", "GET /api/worker", "\"area\":\"types\"");
      workers.forEach(RealWorker::close);
    }
  }

  @Test
  void every_job_ends_once_though_workers_fail_leave_and_send_garbage() throws Exception {
    ConcurrentHashMap<String, Integer> results = new ConcurrentHashMap<>();
    try (HttpClient client = HttpClient.newHttpClient();
        TestServer server = TestServer.in(folder, "jobs.max-returns", "1000");
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<RealWorker> workers = workers(server, client, WORKERS, 20, results);
      List<Future<String>> ends = new ArrayList<>();
      for (int i = 0; i < JOBS; i++) {
        String name = "job-" + i;
        ends.add(
            callers.submit(() -> {
              submit(server, name);
              return end(server, name);
            }));
      }
      int done = 0;
      for (int i = 0; i < JOBS; i++) {
        String name = "job-" + i;
        if (ends.get(i).get().contains("\"status\":\"done\"")) {
          done++;
          String reversed = new StringBuilder(name).reverse().toString();
          assertThat(server.get("/api/jobs/" + name + "/result").body()).isEqualTo(reversed);
          // Only a connection that broke after the result was sent lets another worker repeat it.
          assertThat(results.get(name)).isPositive();
        } else {
          assertThat(server.get("/api/jobs/" + name + "/failures").body()).contains("no luck");
        }
      }
      assertThat(done).isGreaterThan(JOBS * 8 / 10);
      workers.forEach(RealWorker::close);
    }
  }
}
