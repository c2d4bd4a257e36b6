package io.millrace.server.shards;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.millrace.http.AccessCheck;
import io.millrace.http.Caller;
import io.millrace.http.Routes;
import io.millrace.http.message.Response;
import io.millrace.server.MillraceServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Leaders of shards that move, fail, or answer nonsense. */
final class ShardLeadersTest extends SeparateServers {
  private static final String[] PAGE = {
    "Sec-Fetch-Mode", "cors", "Content-Type", "application/json"
  };

  /** A server that passes requests of pages on to the leader of a shard. */
  private void relay(ShardedStore.Shard shard) {
    PageRelay relay =
        new PageRelay(requests(List.of(shard)), 0, AccessCheck.OPEN, _ -> Response.nothing());
    serve(AccessCheck.OPEN, new Routes(new SimpleMeterRegistry(), relay));
  }

  private static String answer(String status, String body) {
    return "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s".formatted(status, body.length(), body);
  }

  private HttpResponse<String> with(String other, String target) throws Exception {
    server();
    front(new Led(addresses.getFirst()), new Led(other));
    return send(front, "GET", target, "");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"garbage", "{\"id\":1}", "[{\"key\":1}]", "[{\"id\":{}}]", "", "[{]", "[1"})
  void an_answer_that_is_none_is_502(String body) throws Exception {
    HttpResponse<String> answer = with(broken(answer("200 OK", body)), "/api/jobs");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(502);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "nonsense\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n[]",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n[",
        "HTTP/1.1 307 It\r\nContent-Length: 0\r\nMillrace-Role: standby\r\nLocation: no\r\n\r\n",
        "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nMillrace-Role: standby\r\n\r\n",
        "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
      })
  void a_leader_that_does_not_answer_is_503_and_named(String text) throws Exception {
    HttpResponse<String> answer = with(broken(text), "/api/jobs");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
    assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
    assertThat(answer.headers().firstValue("Millrace-Shard")).hasValue("1/2");
    assertThat(answer.body()).contains("shard 1");
  }

  @Test
  void errors_of_a_leader_are_502_and_named() throws Exception {
    HttpResponse<String> answer =
        with(broken(answer("500 Oops", "{\"error\":\"a bug\"}")), "/api/jobs");
    assertThat(answer.statusCode()).isEqualTo(502);
    assertThat(answer.body()).contains("shard 1 answers with status 500").contains("a bug");
  }

  @Test
  void a_lead_that_has_moved_is_followed_once() throws Exception {
    MillraceServer other = server();
    String moved =
        "HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\nMillrace-Role: standby\r\nLocation: http://127.0.0.1:%d/x\r\n\r\n"
            .formatted(other.port());
    HttpResponse<String> answer = with(broken(moved), "/api/jobs");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
  }

  @Test
  void a_shard_without_a_leader_is_503() throws Exception {
    server();
    front(new Led(addresses.getFirst()), new Led(null));
    HttpResponse<String> answer = send(front, "GET", "/dci/queues", "");
    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
    assertThat(answer.body()).contains("no server leads shard 1 yet");
    assertThat(pauses).hasValue(LeaderRequests.LOOKS);
    HttpResponse<String> unknown = send(front, "GET", "/api/batches/1", "");
    assertThat(unknown.statusCode()).isEqualTo(503);
  }

  @Test
  void the_next_leader_of_a_shard_is_waited_for() throws Exception {
    server();
    String first = addresses.getFirst();
    String gone;
    try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      gone = "http://127.0.0.1:" + closed.getLocalPort();
    }
    String resigned =
        "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nMillrace-Role: standby\r\n\r\n";
    int queues = 0;
    for (String before : Arrays.asList(null, gone, broken(resigned))) {
      Led moving = new Led(before);
      onPause = pause -> moving.leader = pause == 7 ? first : moving.leader;
      pauses.set(0);
      front(new Led(first), moving);
      HttpResponse<String> merged = send(front, "GET", "/dci/queues", "");
      assertThat(merged.statusCode()).as(merged.body()).isEqualTo(200);
      assertThat(pauses).hasValue(7);

      moving.leader = before;
      pauses.set(0);
      relay(moving);
      HttpResponse<String> read = send(front, "GET", "/dci/queues", "", PAGE);
      assertThat(read.statusCode()).as(read.body()).isEqualTo(200);
      assertThat(pauses).hasValue(7);

      // Nothing of it can have been done before.
      moving.leader = before;
      pauses.set(0);
      String queue = "{'name': 'made-%d', 'plugin': 'exec'}".formatted(queues++);
      HttpResponse<String> made = send(front, "POST", "/dci/queues", queue, PAGE);
      assertThat(made.statusCode()).as(made.body()).isEqualTo(200);
      assertThat(pauses).hasValue(7);
    }
  }

  @Test
  void what_may_have_been_done_is_not_repeated() throws Exception {
    server();
    Led moving = new Led(broken(""));
    onPause = _ -> moving.leader = addresses.getFirst();
    relay(moving);
    HttpResponse<String> made =
        send(front, "POST", "/dci/queues", "{'name': 'mail', 'plugin': 'exec'}", PAGE);
    assertThat(made.statusCode()).as(made.body()).isEqualTo(504);
    assertThat(made.body()).contains("it is not known whether it was done");
    assertThat(made.headers().firstValue("Retry-After")).isEmpty();
    assertThat(connections).hasValue(1);
    assertThat(pauses).hasValue(0);
    assertThat(ok(addresses.getFirst(), "GET", "/dci/queues", "")).isEmpty();
    // What is the same if it is done twice is repeated, also by the leader after that.
    HttpResponse<String> again =
        send(
            front,
            "PUT",
            "/schedules/nightly",
            "{'times': [{'every': '1h'}], 'target': {'nodes': [{'metadata': {'type': 'group'},"
                + " 'data': {}}]}}",
            PAGE);
    assertThat(again.statusCode()).as(again.body()).isNotEqualTo(504);
    assertThat(connections).hasValue(3);
    assertThat(pauses).hasValue(1);
  }

  @Test
  void only_a_standby_sends_a_request_elsewhere() throws Exception {
    String link =
        "HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\nLocation: http://bucket/x\r\n\r\n";
    relay(new Led(broken(link)));
    HttpResponse<String> answer = send(front, "GET", "/api/jobs/1/result?link=true", "", PAGE);
    assertThat(answer.statusCode()).isEqualTo(307);
    assertThat(answer.headers().firstValue("Location")).hasValue("http://bucket/x");
    assertThat(connections).hasValue(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n[1,"})
  void a_leader_that_is_too_slow_is_503(String begin) throws Exception {
    server();
    try (ServerSocket slow = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual()
          .start(() -> {
            try {
              Socket socket = slow.accept();
              open.add(socket);
              socket.getOutputStream().write(begin.getBytes(StandardCharsets.UTF_8));
            } catch (IOException _) {
              // Closed at the end of the test.
            }
          });
      front(
          Duration.ofMillis(500),
          AccessCheck.OPEN,
          List.of(
              new Led(addresses.getFirst()), new Led("http://127.0.0.1:" + slow.getLocalPort())));
      HttpResponse<String> answer = send(front, "GET", "/dci/queues", "");
      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.body()).contains("shard 1 has not answered in time");
    }
  }

  @Test
  void answers_that_are_too_long_are_refused() throws Exception {
    String body = "[" + " ".repeat(ShardRequests.MAX_BYTES) + "]";
    HttpResponse<String> answer = with(broken(answer("200 OK", body)), "/api/jobs");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
    assertThat(answer.body()).contains("32 MiB").contains("name one shard");
  }

  @Test
  void credentials_of_the_caller_are_passed_on() throws Exception {
    Path token = root.resolve("token");
    Files.writeString(token, "a-long-secret-of-servers-0123456789");
    server("server.token-file", token.toString());
    front();
    assertThat(send(front, "GET", "/dci/queues", "").statusCode()).isEqualTo(401);
    HttpResponse<String> known =
        send(
            front,
            "GET",
            "/dci/queues",
            "",
            "Authorization",
            "Bearer a-long-secret-of-servers-0123456789");
    assertThat(known.statusCode()).as(known.body()).isEqualTo(200);
    front(PATIENCE, _ -> Caller.OWNER, addresses.stream().map(Led::new).toList());
    assertThat(send(front, "GET", "/dci/queues", "").statusCode()).isEqualTo(403);
  }
}
