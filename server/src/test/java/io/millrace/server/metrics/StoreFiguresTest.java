package io.millrace.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.TestServer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The figures of a real store. */
final class StoreFiguresTest {
  @TempDir private Path folder;

  @Test
  void metrics_show_what_the_store_did_and_holds() throws Exception {
    try (TestServer server = TestServer.in(folder)) {
      server.post(
          "/store/update", "{\"clientid\":1,\"adds\":[{\"group\":\"a\"},{\"group\":\"a\"}]}");
      server.post("/store/claim", "{\"clientid\":1,\"group\":\"a\",\"duration\":60000}");
      server.post("/store/claim", "{\"clientid\":1,\"group\":\"none\",\"duration\":60000}");
      server.post("/store/update", "{\"clientid\":1,\"deletes\":[99]}");
      assertThat(server.get("/metrics").body().lines())
          .contains(
              "millrace_store_commits_total 1.0",
              "millrace_store_claims_total 1.0",
              "millrace_store_claims_empty_total 1.0",
              "millrace_store_refusals_total 1.0",
              "millrace_store_tasks{state=\"waiting\"} 1.0",
              "millrace_store_tasks{state=\"claimed\"} 1.0",
              "millrace_store_durable_lag_commits 0.0",
              "millrace_store_unsynced_bytes 0.0",
              "millrace_store_loss_window_seconds 0.0");
    }
  }
}
