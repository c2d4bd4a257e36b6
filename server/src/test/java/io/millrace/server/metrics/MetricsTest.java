package io.millrace.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Status;
import io.millrace.server.TestServer;
import io.millrace.server.queues.Dci;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.hawkular.agent.prometheus.text.TextPrometheusMetricDataParser;
import org.hawkular.agent.prometheus.types.Gauge;
import org.hawkular.agent.prometheus.types.Metric;
import org.hawkular.agent.prometheus.types.MetricFamily;
import org.hawkular.agent.prometheus.types.MetricType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** The metrics of a whole server, read by a parser that is not ours. */
final class MetricsTest {
  private static final Duration LEASE = Duration.ofMinutes(5);
  private static final String OPEN_METRICS = "application/openmetrics-text";
  private static final Pattern DOCUMENTED =
      Pattern.compile("^\\| `(millrace_[a-z_]+)(?:\\{([a-z, ]+)})?` \\|", Pattern.MULTILINE);

  @TempDir private Path folder;

  private static Map<String, MetricFamily> scrape(TestServer server) throws Exception {
    HttpResponse<String> answer = server.get("/metrics");
    assertThat(answer.headers().firstValue("Content-Type"))
        .contains("text/plain; version=0.0.4; charset=utf-8");
    Map<String, MetricFamily> families = new TreeMap<>();
    try (var in = new ByteArrayInputStream(answer.body().getBytes(StandardCharsets.UTF_8))) {
      var parser = new TextPrometheusMetricDataParser(in);
      for (MetricFamily family = parser.parse(); family != null; family = parser.parse()) {
        assertThat(families.put(family.getName(), family)).as(family.getName()).isNull();
      }
    }
    return families;
  }

  /** Waits until the metrics have this line. */
  private static void await(TestServer server, String line)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    String text = server.get("/metrics").body();
    while (text.lines().noneMatch(line::equals)) {
      assertThat(System.nanoTime()).as(() -> "no " + line).isLessThan(end);
      LockSupport.parkNanos(2_000_000);
      text = server.get("/metrics").body();
    }
  }

  private static Queue queue(Dci dci, String name) {
    return dci.queues.queues().create(name, "shell", Queue.Settings.DEFAULTS.withThreads(10));
  }

  private static NodeRecord node(Dci dci, String name) {
    NodeIdentity identity = new NodeIdentity("i", "host", "7 mark", List.of("shell"));
    return dci.queues.nodes().take(name, null, identity).orElseThrow();
  }

  private static void submit(Dci dci, Queue queue, int count) {
    var params = JsonMapper.shared().createObjectNode();
    for (int i = 0; i < count; i++) {
      dci.queues.submission().submit(queue, List.of(params), Status.QUEUED);
    }
  }

  private static void run(Dci dci, NodeRecord node, Queue queue, int status) {
    Run run = dci.queues.runs().claim(node, queue, 1, LEASE).getFirst();
    dci.queues
        .runs()
        .finish(
            dci.queues.runs().start(run, "8 mark", LEASE),
            new Report(status, TaskOutput.NONE, List.of(), null));
  }

  /** Waits until attempts are counted, which begins soon after the start of a server. */
  private static void awaitAttempts(Dci dci) throws Exception {
    Queue probe = queue(dci, "probe");
    NodeRecord node = node(dci, "n0");
    do {
      submit(dci, probe, 1);
      run(dci, node, probe, Status.SUCCEEDED);
    } while (!dci.server()
        .get("/metrics")
        .body()
        .contains("millrace_queue_attempts_total{outcome=\"succeeded\",queue=\"probe\"}"));
  }

  /** Has each part of a server do something. */
  private static void work(Dci dci) throws Exception {
    awaitAttempts(dci);
    Queue queue = queue(dci, "demo");
    NodeRecord node = node(dci, "n1");
    submit(dci, queue, 4);
    run(dci, node, queue, Status.SUCCEEDED);
    run(dci, node, queue, Status.FAILED);
    assertThat(dci.queues.runs().claim(node, queue, 1, LEASE)).hasSize(1);
    TestServer server = dci.server();
    assertThat(server.send("PUT", "/limits/db", "{\"running\": 3}").statusCode()).isEqualTo(200);
    assertThat(server.submit("/api/jobs/submit", "Priority", "batch", "Payload", "x").statusCode())
        .isEqualTo(202);
    HttpResponse<String> job =
        server.post("/api/worker/next", "{\"name\": \"w\", \"id\": \"w-1\", \"token\": \"\"}");
    String done =
        "/api/jobs/%s/result?token=%s"
            .formatted(
                job.headers().firstValue("Millrace-Job-Id").orElseThrow(),
                job.headers().firstValue("Millrace-Job-Token").orElseThrow());
    assertThat(server.post(done, "r").statusCode()).isEqualTo(200);
    String nodes = "[{\"metadata\": {\"type\": \"command\"}, \"data\": {\"command\": \"true\"}}]";
    assertThat(server.post("/v1/nodes", nodes).statusCode()).isLessThan(300);
    assertThat(server.get("/health", "Origin", "http://elsewhere").statusCode()).isEqualTo(403);
    await(server, "millrace_graph_ends_total{graph=\"\",outcome=\"finished\"} 1.0");
    await(server, "millrace_queue_attempts_total{outcome=\"failed\",queue=\"demo\"} 1.0");
    await(server, "millrace_node_tasks{node=\"n1\"} 1.0");
  }

  private static Map<String, Set<String>> documented() throws IOException {
    Map<String, Set<String>> found = new TreeMap<>();
    Matcher rows = DOCUMENTED.matcher(Files.readString(Path.of("../docs/metrics.md")));
    while (rows.find()) {
      String labels = rows.group(2);
      found.put(rows.group(1), labels == null ? Set.of() : Set.of(labels.split(", ")));
    }
    return found;
  }

  private static Set<String> labels(MetricFamily family) {
    Set<String> names = new HashSet<>();
    family.getMetrics().forEach(metric -> names.addAll(metric.getLabels().keySet()));
    return names;
  }

  /** Whether it is the gauge with the largest value that each histogram has. */
  private static boolean isMaximum(MetricFamily family, Map<String, MetricFamily> all) {
    String name = family.getName();
    return name.endsWith("_max")
        && all.containsKey(name.substring(0, name.length() - "_max".length()));
  }

  @Test
  void limits_that_are_reached_are_counted_by_what_they_are_about() throws Exception {
    try (Dci dci = new Dci(folder)) {
      TestServer server = dci.server();
      assertThat(server.send("PUT", "/limits/db", "{\"running\": 1}").statusCode()).isEqualTo(200);
      Queue own = queue(dci, "own");
      assertThat(
              server.post("/dci/queues/own", "{\"threads\": 3, \"starts\": \"1/1h\"}").statusCode())
          .isEqualTo(200);
      Queue shares = queue(dci, "shares");
      assertThat(server.post("/dci/queues/shares", "{\"limits\": \"db\"}").statusCode())
          .isEqualTo(200);
      NodeRecord node = node(dci, "n1");
      for (Queue queue : List.of(own, shares)) {
        submit(dci, queue, 3);
        Queue now = dci.queues.queues().find(queue.id()).orElseThrow();
        assertThat(dci.queues.runs().claim(node, now, 3, LEASE)).hasSize(1);
        assertThat(dci.queues.runs().claim(node, now, 3, LEASE)).isEmpty();
      }
      String metrics = server.get("/metrics").body();
      assertThat(metrics).contains("millrace_queue_limited_total{queue=\"shares\"} 0.0");
      assertThat(metrics).containsPattern("millrace_queue_limited_total\\{queue=\"own\"} [1-9]");
      assertThat(metrics).containsPattern("millrace_limit_reached_total\\{limit=\"db\"} [1-9]");
    }
  }

  @Test
  void attempts_at_nodes_are_counted_by_the_name_of_their_graph() throws Exception {
    try (Dci dci = new Dci(folder)) {
      String nodes =
          """
          [{"metadata": {"type": "command", "name": "nightly", "local": "a"},
            "data": {"command": "true"}},
           {"metadata": {"type": "command", "name": "b", "parent": "local:a"},
            "data": {"command": "true"}},
           {"metadata": {"type": "shell command", "parent": "local:a"},
            "data": {"command": "true", "delay": 3600}}]
          """;
      assertThat(dci.server().post("/v1/nodes", nodes).statusCode()).isEqualTo(201);
      await(dci.server(), "millrace_graph_ends_total{graph=\"nightly\",outcome=\"finished\"} 2.0");
      await(dci.server(), "millrace_graph_nodes{graph=\"nightly\",state=\"finished\"} 2.0");
      assertThat(dci.server().get("/metrics").body().lines())
          .contains(
              "millrace_graph_starts_total{graph=\"nightly\"} 2.0",
              "millrace_graph_wait_seconds_count{graph=\"nightly\",type=\"command\"} 2",
              "millrace_graph_run_seconds_count{graph=\"nightly\",type=\"command\"} 2",
              "millrace_graph_oldest_seconds{graph=\"nightly\",type=\"shell command\"} 0.0",
              "millrace_graph_nodes{graph=\"nightly\",state=\"ready\"} 1.0",
              "millrace_graph_nodes{graph=\"\",state=\"ready\"} 0.0");
    }
  }

  @Test
  void every_metric_is_documented_and_every_documented_one_is_shown() throws Exception {
    try (Dci dci = new Dci(folder)) {
      work(dci);
      Map<String, MetricFamily> families = scrape(dci.server());
      Map<String, Set<String>> shown = new TreeMap<>();
      families.forEach((name, family) -> {
        if (name.startsWith("millrace_") && !isMaximum(family, families)) {
          shown.put(name, labels(family));
        }
      });
      assertThat(shown).isEqualTo(documented());
    }
  }

  @Test
  void names_follow_the_conventions_of_prometheus() throws Exception {
    try (Dci dci = new Dci(folder)) {
      work(dci);
      scrape(dci.server())
          .forEach((name, family) -> {
            assertThat(name).matches("[a-z][a-z0-9_]*");
            assertThat(family.getHelp()).as(name).isNotBlank();
            assertThat(family.getMetrics()).as(name).isNotEmpty();
            assertThat(name.endsWith("_total"))
                .as(name)
                .isEqualTo(family.getType() == MetricType.COUNTER);
            assertThat(name).doesNotContainPattern("_(millis|milliseconds|minutes|kb|mb)(_|$)");
            if (family.getType() == MetricType.HISTOGRAM) {
              assertThat(name).endsWith("_seconds");
            }
          });
    }
  }

  @Test
  void queues_and_nodes_are_shown_by_name() throws Exception {
    try (Dci dci = new Dci(folder)) {
      work(dci);
      assertThat(dci.server().get("/metrics").body().lines())
          .contains(
              "millrace_queue_tasks{queue=\"demo\",state=\"waiting\"} 1.0",
              "millrace_queue_tasks{queue=\"demo\",state=\"delayed\"} 0.0",
              "millrace_queue_tasks{queue=\"demo\",state=\"active\"} 1.0",
              "millrace_queue_tasks{queue=\"demo\",state=\"held\"} 0.0",
              "millrace_queue_tasks{queue=\"demo\",state=\"finished\"} 2.0",
              "millrace_queue_limit{queue=\"demo\"} 10.0",
              "millrace_queue_attempts_total{outcome=\"succeeded\",queue=\"demo\"} 1.0",
              "millrace_queue_wait_seconds_count{queue=\"demo\"} 2",
              "millrace_queue_run_seconds_count{queue=\"demo\"} 2",
              "millrace_nodes{state=\"alive\"} 2.0",
              "millrace_node_attempts_total{node=\"n1\",outcome=\"failed\"} 1.0",
              "millrace_node_run_seconds_count{node=\"n1\"} 2",
              "millrace_limit_running{limit=\"db\"} 3.0",
              "millrace_access_refusals_total{status=\"403\"} 1.0",
              "millrace_jobs_run_seconds_count{type=\"\"} 1",
              "millrace_graph_run_seconds_count{graph=\"\",type=\"command\"} 1");
    }
  }

  @Test
  void the_oldest_waiting_task_has_an_age() throws Exception {
    try (Dci dci = new Dci(folder)) {
      submit(dci, queue(dci, "demo"), 1);
      double first = oldestSeconds(dci);
      double later = oldestSeconds(dci);
      while (later == first) {
        later = oldestSeconds(dci);
      }
      assertThat(first).isNotNegative();
      assertThat(later).isBetween(first, 60.0);
    }
  }

  private static double oldestSeconds(Dci dci) throws Exception {
    Metric oldest =
        Objects.requireNonNull(scrape(dci.server()).get("millrace_queue_oldest_seconds"))
            .getMetrics()
            .getFirst();
    assertThat(oldest.getLabels()).isEqualTo(Map.of("queue", "demo"));
    return ((Gauge) oldest).getValue();
  }

  @Test
  void queues_beyond_a_hundred_share_one_series() throws Exception {
    try (Dci dci = new Dci(folder)) {
      for (int i = 0; i < 103; i++) {
        submit(dci, queue(dci, "q" + i), 1);
      }
      List<String> waiting =
          dci.server()
              .get("/metrics")
              .body()
              .lines()
              .filter(line -> line.startsWith("millrace_queue_tasks{"))
              .filter(line -> line.contains("state=\"waiting\""))
              .toList();
      assertThat(waiting)
          .hasSize(101)
          .contains("millrace_queue_tasks{queue=\"(other)\",state=\"waiting\"} 3.0");
    }
  }

  @Test
  void a_queue_that_is_gone_has_no_numbers_of_tasks() throws Exception {
    try (Dci dci = new Dci(folder)) {
      Queue queue = queue(dci, "demo");
      assertThat(dci.server().get("/metrics").body())
          .contains("millrace_queue_limit{queue=\"demo\"}");
      assertThat(dci.queues.queues().delete(queue.id())).isTrue();
      assertThat(dci.server().get("/metrics").body().lines())
          .filteredOn(line -> line.contains("queue=\"demo\""))
          .as("counters stay")
          .allMatch(line -> line.startsWith("millrace_queue_limited_total{"));
    }
  }

  @Test
  void openmetrics_is_answered_to_those_that_prefer_it() throws Exception {
    try (TestServer server = TestServer.in(folder)) {
      HttpResponse<String> answer =
          server.get(
              "/metrics",
              "Accept",
              OPEN_METRICS + ";version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.4,*/*;q=0.1");
      assertThat(answer.headers().firstValue("Content-Type").orElseThrow())
          .startsWith(OPEN_METRICS);
      assertThat(answer.body())
          .endsWith("# EOF\n")
          .contains("# TYPE millrace_store_commits counter\n");
      for (String accept :
          List.of(
              "text/plain",
              "*/*",
              OPEN_METRICS + ";q=0",
              OPEN_METRICS + ";q=0.2,text/plain;q=0.5",
              OPEN_METRICS + ";q=much",
              ";,;q=")) {
        assertThat(server.get("/metrics", "Accept", accept).headers().firstValue("Content-Type"))
            .as(accept)
            .contains("text/plain; version=0.0.4; charset=utf-8");
      }
    }
  }
}
