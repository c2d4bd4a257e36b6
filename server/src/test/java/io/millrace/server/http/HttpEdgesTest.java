package io.millrace.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.millrace.server.FakeStore;
import io.millrace.server.TestServer;
import io.millrace.store.Bytes;
import io.millrace.store.Outcome;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.StoreStatus.DiskState;
import io.millrace.store.Task;
import io.millrace.store.Transaction;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** What the HTTP layer does with odd requests, closed connections, a stop and a stopped store. */
@ParameterizedClass
@EnumSource(TestServer.Wire.class)
final class HttpEdgesTest {
  private static final String WAITING_CLAIM =
      "{\"clientid\":1,\"group\":\"a\",\"duration\":1000,\"wait\":600000}";

  @Parameter private TestServer.Wire wire = TestServer.Wire.PLAIN;
  @TempDir private Path folder;
  private final FakeStore store = new FakeStore();
  private TestServer server;

  @BeforeEach
  void start() {
    server = TestServer.with(wire, _ -> store, folder, "server.max-body-bytes", "100KiB");
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static String claimRequest() {
    return """
    POST /store/claim HTTP/1.1
    Host: localhost
    Content-Length: %d

    %s\
    """
        .formatted(WAITING_CLAIM.length(), WAITING_CLAIM)
        .replace("\n", "\r\n");
  }

  @Test
  void health_says_what_a_starter_waits_for() throws Exception {
    HttpResponse<String> response = server.get("/health");
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body())
        .contains("\"status\":\"ok\"", "\"journaling\":\"strict\"", "\"position\":\"5f3a-7\"");
  }

  @Test
  void health_warns_before_the_disk_is_full_and_when_growth_is_refused() throws Exception {
    assertThat(server.get("/health").body()).contains("\"warnings\":[]");
    store.disk = new DiskState(1_000, 2_000, null, false, null);
    HttpResponse<String> low = server.get("/health");
    assertThat(low.statusCode()).isEqualTo(200);
    assertThat(low.body()).contains("has 1000 bytes free", "store.disk-reserve-bytes (2000)");
    store.disk = new DiskState(1_000, 2_000, "no room for a segment", false, "no such thread");
    HttpResponse<String> refused = server.get("/health");
    assertThat(refused.statusCode()).isEqualTo(200);
    assertThat(refused.body())
        .contains(
            "\"warnings\":[\"growth is refused as full: no room for a segment\","
                + "\"the last snapshot could not be written: no such thread\"]");
    assertThat(server.get("/metrics").body())
        .contains(
            "millrace_store_disk_free_bytes 1000.0",
            "millrace_store_disk_reserve_bytes 2000.0",
            "millrace_store_disk_shortage 1.0",
            "millrace_store_snapshot_failing 1.0");
  }

  @Test
  void health_and_metrics_answer_while_reads_wait_for_room_on_the_disk() throws Exception {
    store.failure = new StoreException("a read would wait");
    store.disk = new DiskState(0, 2_000, "no room for a segment", true, null);
    HttpResponse<String> health = server.get("/health");
    assertThat(health.statusCode()).isEqualTo(503);
    assertThat(health.body()).contains("\"status\":\"full\"", "no room for a segment");
    assertThat(server.get("/metrics").statusCode()).isEqualTo(200);
  }

  @Test
  void a_stopped_store_is_503_everywhere_with_retry_after() throws Exception {
    store.failure = new StoreClosedException("the disk is full");
    store.answer = CompletableFuture.failedFuture(new StoreClosedException("the disk is full"));
    HttpResponse<String> health = server.get("/health");
    assertThat(health.statusCode()).isEqualTo(503);
    assertThat(health.body()).contains("\"status\":\"stopped\"", "the disk is full");
    HttpResponse<String> read = server.get("/store/groups");
    assertThat(read.statusCode()).isEqualTo(503);
    assertThat(read.headers().firstValue("Retry-After")).isPresent();
    HttpResponse<String> update = server.post("/store/update", "{\"clientid\":1,\"deletes\":[1]}");
    assertThat(update.statusCode()).isEqualTo(503);
    assertThat(update.body()).isEqualTo("{\"errors\":[\"the disk is full\"]}");
  }

  @Test
  void an_outcome_that_nobody_knows_is_504_and_never_a_refusal() throws Exception {
    store.answer = CompletableFuture.failedFuture(new OutcomeUnknownException("the sync failed"));
    HttpResponse<String> update = server.post("/store/update", "{\"clientid\":1,\"deletes\":[1]}");
    assertThat(update.statusCode()).isEqualTo(504);
    assertThat(update.body()).contains("errors", "the sync failed").doesNotContain("refusal");
  }

  @Test
  void a_waiting_claim_is_withdrawn_when_its_client_closes_the_connection() throws Exception {
    CompletableFuture<Outcome> answer = new CompletableFuture<>();
    CountDownLatch over = new CountDownLatch(1);
    var _ = answer.whenComplete((_, _) -> over.countDown());
    store.answer = answer;
    try (Socket client = server.connect()) {
      client.getOutputStream().write(claimRequest().getBytes(StandardCharsets.UTF_8));
      assertThat(store.waiting.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(answer).isNotDone();
    }
    assertThat(over.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(answer).isCancelled();
  }

  @Test
  void a_waiting_claim_is_withdrawn_when_the_connection_of_its_client_is_reset() throws Exception {
    CompletableFuture<Outcome> answer = new CompletableFuture<>();
    store.answer = answer;
    Socket client = server.connect();
    client.getOutputStream().write(claimRequest().getBytes(StandardCharsets.UTF_8));
    assertThat(store.waiting.await(20, TimeUnit.SECONDS)).isTrue();
    client.setSoLinger(true, 0);
    client.close();
    assertThatThrownBy(() -> answer.get(20, TimeUnit.SECONDS))
        .isInstanceOf(CancellationException.class);
  }

  @Test
  void what_a_claim_took_that_could_not_be_withdrawn_any_more_is_given_back() throws Exception {
    CountDownLatch noticed = new CountDownLatch(1);
    CompletableFuture<Outcome> decided =
        new CompletableFuture<>() {
          @Override
          public boolean cancel(boolean mayInterruptIfRunning) {
            noticed.countDown();
            return false;
          }
        };
    store.answer = decided;
    try (Socket client = server.connect()) {
      client.getOutputStream().write(claimRequest().getBytes(StandardCharsets.UTF_8));
      assertThat(store.waiting.await(20, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(noticed.await(20, TimeUnit.SECONDS)).isTrue();
    Task task = new Task(7, 6, "a", FakeStore.TIME + 1, Owner.client(1), 7, 1, Bytes.EMPTY);
    decided.complete(
        new Outcome.Done(FakeStore.POSITION, FakeStore.TIME, List.of(task), List.of(), false));
    assertThat(store.updated.get(20, TimeUnit.SECONDS))
        .isEqualTo(
            Transaction.by(Owner.client(1))
                .update(task.ref(), null, Transaction.When.now())
                .build());
  }

  @Test
  void a_connection_that_waited_goes_on_with_its_next_request() throws Exception {
    CompletableFuture<Outcome> answer = new CompletableFuture<>();
    store.answer = answer;
    try (Socket client = server.connect()) {
      client.getOutputStream().write(claimRequest().getBytes(StandardCharsets.UTF_8));
      assertThat(store.waiting.await(20, TimeUnit.SECONDS)).isTrue();
      BufferedReader in =
          new BufferedReader(
              new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8));
      // A second request comes while the first waits, so that the watch reads it.
      client
          .getOutputStream()
          .write(
              "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                  .getBytes(StandardCharsets.UTF_8));
      answer.complete(
          new Outcome.Done(FakeStore.POSITION, FakeStore.TIME, List.of(), List.of(), false));
      String all = String.join("\n", in.lines().toList());
      assertThat(all).contains("\"tasks\":[]").contains("\"status\":\"ok\"");
    }
  }

  @Test
  void a_stop_ends_waiting_claims_with_an_unknown_outcome_and_closes_the_store_last()
      throws Exception {
    store.answer = new CompletableFuture<>();
    CompletableFuture<HttpResponse<String>> claim = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(() -> {
          try {
            claim.complete(server.post("/store/claim", WAITING_CLAIM));
          } catch (Exception e) {
            claim.completeExceptionally(e);
          }
        });
    assertThat(store.waiting.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(store.closed).isFalse();
    server.stopServing();
    assertThat(answer(claim).statusCode()).isEqualTo(504);
    assertThat(store.closed).isTrue();
  }

  private static HttpResponse<String> answer(CompletableFuture<HttpResponse<String>> future)
      throws InterruptedException, ExecutionException {
    return future.get();
  }

  @Test
  void an_unknown_path_is_404_in_json() throws Exception {
    HttpResponse<String> response = server.get("/nothing/here");
    assertThat(response.statusCode()).isEqualTo(404);
    assertThat(response.body()).contains("\"error\"");
    assertThat(server.get("/nothing").statusCode()).isEqualTo(404);
    assertThat(server.get("/health/").statusCode()).isEqualTo(404);
  }

  @Test
  void head_and_options_answer_without_a_body() throws Exception {
    HttpResponse<String> head = server.send("HEAD", "/store/groups", "");
    assertThat(head.statusCode()).isEqualTo(200);
    assertThat(head.headers().firstValue("Content-Length")).contains("2");
    assertThat(head.body()).isEmpty();
    HttpResponse<String> options = server.send("OPTIONS", "/store/update", "");
    assertThat(options.statusCode()).isEqualTo(204);
    assertThat(options.headers().firstValue("Allow")).contains("OPTIONS, POST");
  }

  @Test
  void a_body_beyond_the_limit_is_413_whether_its_length_is_announced_or_not() throws Exception {
    assertThat(server.post("/store/update", "x".repeat(100 * 1024 + 1)).statusCode())
        .isEqualTo(413);
    String chunk = "%x\n%s\n".formatted(60_000, "x".repeat(60_000));
    String answer =
        server.raw(
            "POST /store/update HTTP/1.1\nHost: localhost\nConnection: close\n"
                + "Transfer-Encoding: chunked\n\n"
                + chunk
                + chunk
                + "0\n\n");
    assertThat(answer).startsWith("HTTP/1.1 413 ").contains("102400");
  }

  @Test
  void chunked_bodies_are_read() throws Exception {
    String answer =
        server.raw(
            """
            POST /store/update HTTP/1.1
            Host: localhost
            Connection: close
            Transfer-Encoding: chunked

            e
            {"clientid": 1
            f
            ,"deletes":[5]}
            0

            """);
    assertThat(answer).startsWith("HTTP/1.1 200 ");
    assertThat(store.commands).hasSize(1);
  }

  @Test
  void long_headers_are_431_and_long_request_lines_414() throws Exception {
    assertThat(
            server.raw("GET /health HTTP/1.1\nHost: localhost\nX: " + "x".repeat(20_000) + "\n\n"))
        .startsWith("HTTP/1.1 431 ")
        .contains("16384");
    assertThat(server.raw("GET /" + "x".repeat(20_000) + " HTTP/1.1\nHost: localhost\n\n"))
        .startsWith("HTTP/1.1 414 ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nonsense\n\n",
        "GET /health HTTP/1.1\n\n",
        "GET /health HTTP/1.1\nHost: a\nHost: b\n\n",
        "GET /health HTTP/1.1\nHost: localhost\nbroken header\n\n",
        "GET /he%zzlth HTTP/1.1\nHost: localhost\nConnection: close\n\n",
        "GET /store/group/%e4 HTTP/1.1\nHost: localhost\nConnection: close\n\n",
        "POST /store/update HTTP/1.1\nHost: localhost\nContent-Length: x\n\n",
        "POST /store/update HTTP/1.1\nHost: localhost\nContent-Length: -5\n\n",
        "POST /store/update HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\nzz\n",
        """
        POST /store/update HTTP/1.1
        Host: localhost
        Connection: close
        Content-Length: 3
        Transfer-Encoding: chunked

        0

        """,
        "GET \u00ff HTTP/1.1\nHost: localhost\nConnection: close\n\n",
        "GET /store/group/\u00ff HTTP/1.1\nHost: localhost\nConnection: close\n\n",
      })
  void what_is_no_http_is_400_and_never_500(String text) throws Exception {
    assertThat(server.raw(text))
        .startsWith("HTTP/1.1 400 ")
        .contains("\"error")
        .doesNotContainIgnoringCase("log");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nonsense|the request line is not METHOD PATH HTTP/1.1",
        "GET /health|the request line is not METHOD PATH HTTP/1.1",
        "GET /health HTTP/2.0|the request line does not end in HTTP/1.1",
        "GET /a%zzb HTTP/1.1|has % without two hexadecimal digits: %zz",
        "GET /a?b=%4 HTTP/1.1|has % without two hexadecimal digits: %4",
        "GET /a% HTTP/1.1|has % without two hexadecimal digits: %",
        "GET /a\u0000b HTTP/1.1|has a character that must be percent-encoded",
        "GET /a\u00e4 HTTP/1.1|has a character that must be percent-encoded",
      })
  void a_request_line_that_is_wrong_is_answered_with_what_is_wrong(String line, String words)
      throws Exception {
    assertThat(server.raw(line + "\nHost: localhost\nConnection: close\n\n"))
        .startsWith("HTTP/1.1 400 ")
        .contains(words);
  }

  @Test
  void a_header_that_is_wrong_is_told_of_in_one_line() throws Exception {
    String answer = server.raw("GET /health HTTP/1.1\nHost: localhost\na\u0000b: c\n\n");
    assertThat(answer).startsWith("HTTP/1.1 400 ").doesNotContain("\\n").doesNotContain("|");
  }

  @Test
  void old_protocols_and_strange_codings_are_named() throws Exception {
    assertThat(server.raw("GET /health HTTP/1.0\nHost: localhost\n\n")).startsWith("HTTP/1.1 505 ");
    assertThat(
            server.raw(
                """
                POST /store/update HTTP/1.1
                Host: localhost
                Connection: close
                Transfer-Encoding: gzip, chunked

                """))
        .startsWith("HTTP/1.1 501 ");
  }

  /** What is logged about requests at this level or above while {@code action} runs. */
  private static List<ILoggingEvent> logged(Level level, Callable<?> action) throws Exception {
    Logger log = (Logger) LoggerFactory.getLogger("io.millrace.server.requests");
    Level before = log.getLevel();
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    log.setAdditive(false);
    log.addAppender(lines);
    log.setLevel(level);
    try {
      action.call();
    } finally {
      log.setLevel(before);
      log.detachAppender(lines);
      log.setAdditive(true);
    }
    return List.copyOf(lines.list);
  }

  static List<Throwable> failuresOfTheServer() {
    return List.of(
        new IllegalStateException("a defect"),
        new StackOverflowError("a defect"),
        new NoClassDefFoundError("a defect"),
        new UncheckedIOException(new IOException("Too many open files")));
  }

  @ParameterizedTest
  @MethodSource("failuresOfTheServer")
  void a_failure_after_a_commit_was_submitted_is_logged_and_504(Throwable failure)
      throws Exception {
    store.answer = CompletableFuture.failedFuture(failure);
    String update = "{\"clientid\":1,\"deletes\":[1]}";
    String chunked =
        "POST /store/update HTTP/1.1\nHost: localhost\nConnection: close\n"
            + "Transfer-Encoding: chunked\n\n%x\n%s\n0\n\n".formatted(update.length(), update);
    List<ILoggingEvent> lines =
        logged(
            Level.ERROR,
            () -> {
              HttpResponse<String> answer = server.post("/store/update", update);
              assertThat(answer.statusCode()).isEqualTo(504);
              assertThat(answer.body()).contains("\"error\"").doesNotContain("a defect");
              return assertThat(server.raw(chunked)).startsWith("HTTP/1.1 504 ");
            });
    assertThat(lines).hasSize(2);
    assertThat(lines.getFirst().getFormattedMessage()).contains("POST /store/update");
  }

  @ParameterizedTest
  @MethodSource("failuresOfTheServer")
  void a_failure_of_a_read_is_logged_and_500(Throwable failure) throws Exception {
    store.fault = failure;
    List<ILoggingEvent> lines =
        logged(
            Level.ERROR,
            () -> {
              HttpResponse<String> answer = server.get("/store/group/a");
              assertThat(answer.body()).contains("\"error\"").doesNotContain("a defect");
              return assertThat(answer.statusCode()).isEqualTo(500);
            });
    assertThat(lines).hasSize(1);
    assertThat(lines.getFirst().getFormattedMessage()).contains("GET /store/group/a");
    assertThat(lines.getFirst().getThrowableProxy()).isNotNull();
    store.fault = null;
    assertThat(server.get("/store/group/a").statusCode()).isEqualTo(200);
  }

  @Test
  void an_error_on_an_event_loop_ends_neither_the_loop_nor_the_connection() throws Exception {
    store.thrown = new StackOverflowError("a defect");
    String update = "{\"clientid\":1,\"deletes\":[1]}";
    List<ILoggingEvent> lines =
        logged(
            Level.ERROR,
            () -> assertThat(server.post("/store/update", update).statusCode()).isEqualTo(504));
    assertThat(lines).hasSize(1);
    store.thrown = null;
    assertThat(server.post("/store/update", update).statusCode()).isEqualTo(200);
  }

  @Test
  void a_wake_up_that_fails_ends_no_event_loop() throws Exception {
    store.wakeFault = new StackOverflowError("a defect");
    String update = "{\"clientid\":1,\"deletes\":[1]}";
    assertThat(server.post("/store/update", update).statusCode()).isEqualTo(200);
    assertThat(server.post("/store/update", update).statusCode()).isEqualTo(200);
  }

  @Test
  void a_claim_that_its_client_abandons_is_no_warning() throws Exception {
    CompletableFuture<Outcome> answer = new CompletableFuture<>();
    store.answer = answer;
    List<ILoggingEvent> lines =
        logged(
            Level.DEBUG,
            () -> {
              try (Socket client = server.connect()) {
                client.getOutputStream().write(claimRequest().getBytes(StandardCharsets.UTF_8));
                assertThat(store.waiting.await(20, TimeUnit.SECONDS)).isTrue();
              }
              // The stop waits until the request is over and recorded.
              assertThat(answer).failsWithin(Duration.ofSeconds(20));
              server.stopServing();
              return null;
            });
    assertThat(lines).anyMatch(line -> line.getFormattedMessage().contains("POST /store/claim"));
    assertThat(lines).noneMatch(line -> line.getLevel().isGreaterOrEqual(Level.INFO));
  }

  @Test
  void metrics_count_requests_by_route_and_status() throws Exception {
    server.get("/store/group/a");
    server.get("/store/group/b");
    server.get("/nowhere");
    HttpResponse<String> metrics = server.get("/metrics");
    assertThat(metrics.headers().firstValue("Content-Type").orElse("")).startsWith("text/plain");
    assertThat(metrics.body())
        .contains(
            "millrace_http_requests_seconds_count{method=\"GET\",route=\"/store/group/{group}\","
                + "status=\"200\"} 2")
        .contains("route=\"(none)\",status=\"404\"} 1")
        .contains("jvm_memory_used_bytes")
        .contains("jvm_gc_memory_allocated_bytes_total");
  }
}
