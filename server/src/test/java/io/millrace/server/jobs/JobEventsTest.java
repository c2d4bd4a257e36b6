package io.millrace.server.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.jobs.Job;
import io.millrace.jobs.worker.Progress;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Changes of jobs, as they are streamed. */
final class JobEventsTest {
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

  @Test
  void changes_are_streamed_and_resumed() throws Exception {
    List<String> ids = new ArrayList<>();
    try (Stream<String> events = events()) {
      Iterator<String> lines = events.iterator();
      assertThat(find(lines, "event: ")).isEqualTo("event: start");
      server.submitted("a", "batch");
      assertThat(find(lines, "event: ")).isEqualTo("event: job");
      ids.add(find(lines, "id: ").substring(4));
      assertThat(find(lines, "data: ")).contains("\"key\":\"a\"");
      server.post("/api/jobs/a/delete", "");
      assertThat(find(lines, "event: ")).isEqualTo("event: deleted");
    }
    try (Stream<String> events = events("Last-Event-ID", ids.getFirst())) {
      Iterator<String> lines = events.iterator();
      assertThat(find(lines, "event: ")).isEqualTo("event: start");
      assertThat(find(lines, "event: ")).isEqualTo("event: deleted");
    }
    assertThat(server.get("/api/events", "Last-Event-ID", "x").statusCode()).isEqualTo(400);
  }

  @Test
  void progress_is_streamed_as_it_stands_at_first_and_then_as_it_comes() throws Exception {
    server.submitted("a", "immediate");
    server.submitted("b", "batch");
    Job a = server.jobs.registry().find("a").orElseThrow();
    Job b = server.jobs.registry().find("b").orElseThrow();
    server.workers.said.add(new Progress.Update(a, new Progress(25.0, null, 1_000)));
    try (Stream<String> events = eventsAt("/api/events?priority=immediate")) {
      Iterator<String> lines = events.iterator();
      assertThat(find(lines, "event: ")).isEqualTo("event: start");
      assertThat(find(lines, "event: ")).isEqualTo("event: progress");
      assertThat(lines.next())
          .isEqualTo(
              "data: {\"id\":\""
                  + a.id()
                  + "\",\"key\":\"a\",\"progress\":{\"percent\":25.0,\"info\":null,"
                  + "\"at\":\"1970-01-01T00:00:01Z\"}}");
      server.workers.said.add(new Progress.Update(b, new Progress(1.0, "not wanted", 1_000)));
      server.workers.said.add(new Progress.Update(a, new Progress(null, "nearly", 2_000)));
      assertThat(find(lines, "data: ")).contains("\"info\":\"nearly\"");
    }
  }

  private Stream<String> events(String... headers) throws IOException, InterruptedException {
    return eventsAt("/api/events", headers);
  }

  private Stream<String> eventsAt(String path, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http" + server.at(path)));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return server.client().send(request.build(), BodyHandlers.ofLines()).body();
  }

  private static String find(Iterator<String> lines, String start) {
    String line = lines.next();
    while (!line.startsWith(start)) {
      line = lines.next();
    }
    return line;
  }
}
