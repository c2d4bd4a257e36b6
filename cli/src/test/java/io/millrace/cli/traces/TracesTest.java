package io.millrace.cli.traces;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.Program;
import io.millrace.cli.traces.TraceCollector.Received;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Traces of work from its submission to its result, as a collector gets them. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TracesTest {
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String PARENT = "00f067aa0ba902b7";

  private final Path root;
  private final TraceCollector collector = new TraceCollector();
  private final List<Program> programs = new ArrayList<>();
  private String address = "";

  TracesTest(@TempDir Path root) {
    this.root = root;
  }

  @AfterEach
  void close() throws IOException {
    programs.forEach(Program::kill);
    Program.killAll(root);
    collector.close();
  }

  private Program up(String... settings) throws IOException {
    List<String> arguments =
        new ArrayList<>(List.of("up", "--port", "0", "--data", root.resolve("data").toString()));
    for (String setting : settings) {
      arguments.addAll(List.of("--set", setting));
    }
    Program.Ready ready = Program.startReady(root.resolve("up.log"), arguments);
    programs.add(ready.program());
    int from = ready.line().indexOf("http://");
    address = ready.line().substring(from, ready.line().indexOf(' ', from));
    return ready.program();
  }

  private String run(String... command) {
    List<String> all = new ArrayList<>(List.of(command));
    all.addAll(List.of("--server", address));
    Shell.CommandResult ran = Shell.run(all.toArray(String[]::new));
    assertThat(ran.code()).as(ran.err()).isZero();
    return ran.out().strip();
  }

  private String post(String path, String json, String... headers) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(address + path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json));
    if (headers.length > 0) {
      request.headers(headers);
    }
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<String> response =
          client.send(request.build(), HttpResponse.BodyHandlers.ofString());
      assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
      return response.body();
    }
  }

  private String output(String task) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(address + "/dci/tasks/id/" + task + "/stdout")).build();
      return client.send(request, HttpResponse.BodyHandlers.ofString()).body().strip();
    }
  }

  private static String id(String insertion) {
    Matcher id = Pattern.compile("[0-9a-f]{24}").matcher(insertion);
    assertThat(id.find()).as(insertion).isTrue();
    return id.group();
  }

  @Test
  void a_task_that_is_retried_is_one_trace_from_the_request_to_the_result() throws Exception {
    Path headers = Files.writeString(root.resolve("headers"), "X-Key: secret-of-the-collector\n");
    up("traces.endpoint=" + collector.address(), "traces.headers-file=" + headers);
    run(
        "queues",
        "create",
        "mail",
        "--plugin",
        "shell",
        "--threads",
        "1",
        "--retries",
        "1",
        "--retry-delay",
        "10ms");
    Path gate = root.resolve("gate");
    String command =
        "echo $TRACEPARENT; if test -e %s; then exit 0; fi; touch %s; exit 3".formatted(gate, gate);
    String task =
        id(
            post(
                "/dci/tasks/mail",
                "[{\"command\":\"%s # hidden-param\"}]".formatted(command),
                "traceparent",
                "00-" + TRACE + "-" + PARENT + "-01"));
    run("tasks", "wait", task, "--timeout", "1m");

    List<Received> spans = collector.await(span -> span.traceId().equals(TRACE), 6);
    assertThat(spans)
        .extracting(Received::name)
        .containsExactlyInAnyOrder(
            "POST /dci/tasks/{queue}",
            "task mail",
            "wait mail",
            "attempt mail",
            "wait mail",
            "attempt mail");
    Received request = only(spans, "POST /dci/tasks/{queue}");
    assertThat(request.parentId()).isEqualTo(PARENT);
    assertThat(request.attributes()).containsEntry("http.response.status_code", "200");
    Received whole = only(spans, "task mail");
    assertThat(whole.parentId()).isEqualTo(request.spanId());
    assertThat(whole.attributes())
        .containsEntry("messaging.message.id", task)
        .containsEntry("messaging.destination.name", "mail");
    assertThat(whole.failed()).isFalse();
    List<Received> attempts =
        spans.stream().filter(span -> span.name().equals("attempt mail")).toList();
    assertThat(attempts).extracting(Received::failed).containsExactly(true, false);
    assertThat(attempts).extracting(Received::parentId).containsOnly(whole.spanId());
    assertThat(attempts.getFirst().endNanos()).isLessThanOrEqualTo(attempts.getLast().startNanos());
    // The command of an attempt gets the span of that attempt, so that it can go on with the trace.
    assertThat(output(task)).isEqualTo("00-" + TRACE + "-" + attempts.getLast().spanId() + "-01");
    assertThat(spans.toString()).doesNotContain("hidden-param").doesNotContain("echo");
    assertThat(collector.keys()).containsOnly("secret-of-the-collector");
  }

  private static Received only(List<Received> spans, String name) {
    List<Received> found = spans.stream().filter(span -> span.name().equals(name)).toList();
    assertThat(found).as(name).hasSize(1);
    return found.getFirst();
  }

  @Test
  void a_job_is_one_trace_through_its_worker() throws Exception {
    up("traces.endpoint=" + collector.address());
    programs.add(
        Program.start(
            root.resolve("worker.log"),
            List.of(
                "worker",
                "--server",
                address,
                "--name",
                "press",
                "--concurrency",
                "2",
                "--",
                "sh",
                "-c",
                "echo $TRACEPARENT")));
    String form =
        """
        --frontier
        Content-Disposition: form-data; name="Priority"

        batch
        --frontier
        Content-Disposition: form-data; name="Key"

        letter
        --frontier
        Content-Disposition: form-data; name="Payload"

        x
        --frontier--
        """
            .replace("\n", "\r\n");
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(address + "/api/jobs/submit"))
              .header("Content-Type", "multipart/form-data; boundary=frontier")
              .header("traceparent", "00-" + TRACE + "-" + PARENT + "-01")
              .POST(HttpRequest.BodyPublishers.ofString(form))
              .build();
      assertThat(client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode())
          .isEqualTo(202);
    }
    run("jobs", "wait", "letter", "--timeout", "1m");
    List<Received> spans = collector.await(span -> span.traceId().equals(TRACE), 4);
    assertThat(spans)
        .extracting(Received::name)
        .containsExactlyInAnyOrder(
            "POST /api/jobs/submit", "job jobs", "wait jobs", "attempt jobs");
    Received whole = only(spans, "job jobs");
    assertThat(whole.parentId()).isEqualTo(only(spans, "POST /api/jobs/submit").spanId());
    Received attempt = only(spans, "attempt jobs");
    assertThat(attempt.parentId()).isEqualTo(whole.spanId());
    assertThat(attempt.attributes().get("millrace.host")).startsWith("press");
    assertThat(run("jobs", "result", "letter"))
        .isEqualTo("00-" + TRACE + "-" + attempt.spanId() + "-01");
  }

  @Test
  void what_runs_when_the_server_is_killed_belongs_to_its_trace_afterwards() throws Exception {
    Program first = up("traces.endpoint=" + collector.address());
    run("queues", "create", "mail", "--plugin", "shell", "--threads", "1");
    Path begun = root.resolve("begun");
    Path gate = root.resolve("gate");
    String task =
        id(
            post(
                "/dci/tasks/mail",
                "[{\"command\":\"touch %s; until test -e %s; do sleep 0.05; done\"}]"
                    .formatted(begun, gate),
                "traceparent",
                "00-" + TRACE + "-" + PARENT + "-01"));
    while (!Files.exists(begun)) {
      LockSupport.parkNanos(5_000_000);
    }
    first.kill();
    up("traces.endpoint=" + collector.address());
    Files.createFile(gate);
    run("tasks", "wait", task, "--timeout", "1m");
    List<Received> spans =
        collector.await(span -> span.traceId().equals(TRACE) && !span.name().startsWith("POST"), 2);
    assertThat(spans).extracting(Received::name).contains("task mail", "attempt mail");
    assertThat(only(spans, "task mail").failed()).isFalse();
  }

  @Test
  void a_collector_that_is_down_slows_nothing_and_what_it_misses_is_counted() throws Exception {
    collector.close();
    up("traces.endpoint=" + collector.address());
    run("queues", "create", "mail", "--plugin", "shell", "--threads", "1");
    String task = run("tasks", "submit", "mail", "command=true");
    run("tasks", "wait", task, "--timeout", "1m");
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest metrics = HttpRequest.newBuilder(URI.create(address + "/metrics")).build();
      String text;
      do {
        LockSupport.parkNanos(5_000_000);
        text = client.send(metrics, HttpResponse.BodyHandlers.ofString()).body();
      } while (!Pattern.compile("millrace_traces_spans_total\\{outcome=\"failed\"} [1-9]")
          .matcher(text)
          .find());
    }
  }

  @Test
  void without_a_collector_nothing_is_stored_and_nothing_is_loaded() throws Exception {
    Path classes = root.resolve("classes");
    List<String> arguments =
        List.of("up", "--port", "0", "--data", root.resolve("data").toString());
    Program.Ready ready =
        Program.startReady(
            root.resolve("up.log"), List.of("-Xlog:class+load:file=" + classes), arguments);
    programs.add(ready.program());
    int from = ready.line().indexOf("http://");
    address = ready.line().substring(from, ready.line().indexOf(' ', from));
    run("queues", "create", "mail", "--plugin", "shell", "--threads", "1");
    String task =
        id(
            post(
                "/dci/tasks/mail",
                "[{\"command\":\"echo =$TRACEPARENT=\"}]",
                "traceparent",
                "00-" + TRACE + "-" + PARENT + "-01"));
    run("tasks", "wait", task, "--timeout", "1m");
    assertThat(output(task)).isEqualTo("==");
    assertThat(run("store", "groups", "--json")).doesNotContain(TRACE);
    assertThat(Files.readString(classes)).contains("io.millrace").doesNotContain("opentelemetry");
  }
}
