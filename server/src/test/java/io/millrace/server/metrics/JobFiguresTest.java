package io.millrace.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.TestServer;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The figures of jobs in a whole server. */
final class JobFiguresTest {
  private static final String WORKER = "{\"name\": \"w\", \"id\": \"w-1\", \"token\": \"\"}";

  @TempDir private Path folder;

  private static void submit(TestServer server, String path) throws Exception {
    assertThat(server.submit(path, "Priority", "batch", "Payload", "x").statusCode())
        .isEqualTo(202);
  }

  /** Asks for a job; gives the path of its outcome, with the token. */
  private static String take(TestServer server, String path, String outcome) throws Exception {
    HttpResponse<String> job = server.post(path, WORKER);
    assertThat(job.statusCode()).isEqualTo(200);
    return "/api/jobs/"
        + job.headers().firstValue("Millrace-Job-Id").orElseThrow()
        + outcome
        + "?token="
        + job.headers().firstValue("Millrace-Job-Token").orElseThrow();
  }

  private static List<String> figures(TestServer server) throws Exception {
    return server.get("/metrics").body().lines().toList();
  }

  @Test
  void metrics_show_how_many_jobs_are_where_and_what_came_of_attempts() throws Exception {
    try (TestServer server = TestServer.in(folder, "jobs.max-failures", "1")) {
      for (int i = 0; i < 4; i++) {
        submit(server, "/api/jobs/submit");
      }
      String done = take(server, "/api/worker/next", "/result");
      assertThat(server.post(done, "r").statusCode()).isEqualTo(200);
      assertThat(server.post(done + "1", "late").statusCode()).isEqualTo(409);
      String failed = take(server, "/api/worker/next", "/failure");
      assertThat(server.post(failed, "{}").statusCode()).isEqualTo(200);
      take(server, "/api/worker/next", "/result");
      assertThat(figures(server))
          .contains(
              "millrace_jobs{status=\"pending\",type=\"\"} 1.0",
              "millrace_jobs{status=\"running\",type=\"\"} 1.0",
              "millrace_jobs{status=\"done\",type=\"\"} 1.0",
              "millrace_jobs{status=\"failed\",type=\"\"} 1.0",
              "millrace_workers{state=\"busy\"} 1.0",
              "millrace_workers{state=\"ready\"} 0.0",
              "millrace_jobs_dispatched_total{type=\"\"} 3.0",
              "millrace_jobs_attempts_total{outcome=\"done\",type=\"\"} 1.0",
              "millrace_jobs_attempts_total{outcome=\"failed\",type=\"\"} 1.0",
              "millrace_jobs_attempts_total{outcome=\"returned\",type=\"\"} 0.0",
              "millrace_jobs_attempts_total{outcome=\"refused\",type=\"\"} 1.0",
              "millrace_jobs_wait_seconds_count{type=\"\"} 3");
    }
  }

  @Test
  void types_have_figures_of_their_own() throws Exception {
    try (TestServer server = TestServer.in(folder, "jobs.types.resize.description", "d")) {
      submit(server, "/api/jobs/submit/resize");
      take(server, "/api/worker/resize/next", "/result");
      assertThat(figures(server))
          .contains(
              "millrace_jobs{status=\"running\",type=\"resize\"} 1.0",
              "millrace_jobs{status=\"pending\",type=\"(other)\"} 0.0",
              "millrace_jobs_dispatched_total{type=\"resize\"} 1.0");
    }
  }
}
