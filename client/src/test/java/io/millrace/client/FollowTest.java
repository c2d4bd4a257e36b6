package io.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A client of servers that share a store finds the one that leads it. */
@Timeout(60)
final class FollowTest {
  private static final ObjectNode CONTENT =
      JsonNodeFactory.instance.objectNode().put("name", "wörk");

  private static JsonCalls open(URI... servers) {
    return JsonCalls.open(
        ClientOptions.at(List.of(servers))
            .withToken("secret")
            .withRetryFor(Duration.ofSeconds(20)));
  }

  /** Answers each request with its own line, its credentials and its body. */
  private static ScriptedServer leader() {
    return new ScriptedServer((request, out) ->
        ScriptedServer.json(
            out,
            200,
            "",
            JsonNodeFactory.instance
                .objectNode()
                .put("line", request.line())
                .put("token", request.headers().contains("Authorization: Bearer secret"))
                .put("body", request.body())
                .toString()));
  }

  /** Directs each request to the leader that is named, or says that there is none. */
  private static ScriptedServer standby(AtomicReference<URI> named) {
    return new ScriptedServer((request, out) -> {
      URI there = named.get();
      ScriptedServer.json(
          out,
          there == null ? 503 : 307,
          "Millrace-Role: standby\r\n"
              + (there == null
                  ? ""
                  : "Location: " + there + request.line().split(" ", 3)[1] + "\r\n"),
          "{\"error\":\"a standby\"}");
    });
  }

  private static URI nobody() {
    return URI.create("http://127.0.0.1:1");
  }

  @Test
  void a_redirection_keeps_method_body_and_credentials_and_is_remembered() throws Exception {
    try (ScriptedServer leader = leader();
        ScriptedServer standby = standby(new AtomicReference<>(leader.address()));
        JsonCalls calls = open(standby.address())) {
      for (int i = 0; i < 3; i++) {
        assertThat(calls.post("/x?y=%20z", CONTENT))
            .hasToString(
                "{\"line\":\"POST /x?y=%20z HTTP/1.1\",\"token\":true,"
                    + "\"body\":\"{\\\"name\\\":\\\"wörk\\\"}\"}");
      }
      assertThat(standby.requests()).isOne();
    }
  }

  @Test
  void a_standby_without_a_leader_is_asked_again_even_for_what_must_not_be_repeated()
      throws Exception {
    AtomicReference<URI> named = new AtomicReference<>();
    try (ScriptedServer leader = leader();
        ScriptedServer standby =
            new ScriptedServer((request, out) -> {
              if (request.number() == 3) {
                named.set(leader.address());
              }
              ScriptedServer.json(
                  out,
                  named.get() == null ? 503 : 307,
                  "Millrace-Role: standby\r\nLocation: " + leader.address() + "/x\r\n",
                  "{}");
            });
        JsonCalls calls = open(standby.address())) {
      assertThat(calls.post("/x", CONTENT).path("token").asBoolean()).isTrue();
      assertThat(standby.requests()).isEqualTo(3);
    }
  }

  @Test
  void of_several_addresses_those_without_an_answer_are_passed_over() throws Exception {
    try (ScriptedServer leader = leader();
        ScriptedServer standby = standby(new AtomicReference<>(nobody()));
        JsonCalls calls = open(nobody(), standby.address(), leader.address())) {
      assertThat(calls.post("/x", CONTENT).path("token").asBoolean()).isTrue();
      byte[] bytes = "once".getBytes(StandardCharsets.UTF_8);
      assertThat(
              calls
                  .upload(
                      "/up",
                      new JsonCalls.Upload(
                          "text/plain", bytes.length, new ByteArrayInputStream(bytes)))
                  .path("body")
                  .asString())
          .isEqualTo("once");
    }
  }

  @Test
  void a_body_that_can_be_read_once_is_sent_to_the_leader_alone() throws Exception {
    try (ScriptedServer leader = leader();
        ScriptedServer standby = standby(new AtomicReference<>(leader.address()));
        JsonCalls calls = open(standby.address(), nobody())) {
      byte[] bytes = "once".getBytes(StandardCharsets.UTF_8);
      assertThat(
              calls
                  .upload(
                      "/up",
                      new JsonCalls.Upload(
                          "text/plain", bytes.length, new ByteArrayInputStream(bytes)))
                  .path("body")
                  .asString())
          .isEqualTo("once");
      assertThat(standby.requests()).isOne();
    }
  }

  @Test
  void a_server_that_was_only_named_cannot_send_credentials_further() throws Exception {
    try (ScriptedServer stranger = leader();
        ScriptedServer named = standby(new AtomicReference<>(stranger.address()));
        ScriptedServer standby = standby(new AtomicReference<>(named.address()));
        JsonCalls calls =
            JsonCalls.open(
                ClientOptions.at(standby.address())
                    .withToken("secret")
                    .withRetryFor(Duration.ofMillis(200)))) {
      assertThatThrownBy(() -> calls.get("/x"))
          .isInstanceOf(UnreachableException.class)
          .hasMessageContaining("was named by another server");
      assertThat(stranger.requests()).isZero();
    }
  }

  /** Answers reads with its position, changes without one, and keeps what it was asked. */
  private static ScriptedServer withPosition(String position, List<String> asked) {
    return new ScriptedServer((request, out) -> {
      boolean changes = request.line().startsWith("DELETE");
      String after =
          request
              .headers()
              .lines()
              .filter(line -> line.startsWith("Millrace-Position: "))
              .collect(Collectors.joining());
      asked.add((request.line().replace(" HTTP/1.1", "") + " " + after).strip());
      ScriptedServer.json(out, 200, changes ? "" : "Millrace-Position: " + position + "\r\n", "{}");
    });
  }

  private static JsonCalls stale(Duration age, ScriptedServer... servers) {
    return JsonCalls.open(
        ClientOptions.at(Stream.of(servers).map(ScriptedServer::address).toList())
            .withRetryFor(Duration.ofSeconds(20))
            .withStale(age));
  }

  @Test
  void reads_that_may_be_stale_go_to_all_servers_and_name_the_latest_position() throws Exception {
    List<String> leads = new CopyOnWriteArrayList<>();
    List<String> follows = new CopyOnWriteArrayList<>();
    try (ScriptedServer leader = withPosition("a-9", leads);
        ScriptedServer standby = withPosition("a-7", follows);
        JsonCalls calls = stale(Duration.ofMillis(1_500), leader, standby)) {
      for (int i = 0; i < 2; i++) {
        assertThat(calls.read("/x?y=z")).isEmpty();
        assertThat(calls.read("/x", CONTENT)).isEmpty();
      }
      assertThat(leads)
          .containsExactly(
              "GET /x?y=z&stale=1500ms", "GET /x?y=z&stale=1500ms Millrace-Position: a-9");
      assertThat(follows).containsOnly("POST /x?stale=1500ms Millrace-Position: a-9").hasSize(2);
    }
  }

  @Test
  void the_leader_answers_the_read_after_a_change_whose_position_is_not_known() throws Exception {
    List<String> leads = new CopyOnWriteArrayList<>();
    List<String> follows = new CopyOnWriteArrayList<>();
    try (ScriptedServer leader = withPosition("a-9", leads);
        ScriptedServer standby = withPosition("a-7", follows);
        JsonCalls calls = stale(Duration.ofMinutes(1), leader, standby)) {
      assertThat(calls.delete("/x")).isEmpty();
      assertThat(calls.read("/x")).isEmpty();
      assertThat(follows).isEmpty();
      for (int i = 0; i < 2; i++) {
        assertThat(calls.read("/y")).isEmpty();
      }
      assertThat(leads)
          .containsExactly(
              "DELETE /x", "GET /x?stale=0ms", "GET /y?stale=60000ms Millrace-Position: a-9");
      assertThat(follows).containsExactly("GET /y?stale=60000ms Millrace-Position: a-9");
    }
  }

  @Test
  void a_value_that_is_not_read_as_stale_comes_from_the_leader() throws Exception {
    List<String> leads = new CopyOnWriteArrayList<>();
    List<String> follows = new CopyOnWriteArrayList<>();
    try (ScriptedServer leader = withPosition("a-9", leads);
        ScriptedServer standby = withPosition("a-7", follows);
        JsonCalls calls = stale(Duration.ZERO, leader, standby);
        JsonCalls strict = open(leader.address(), standby.address())) {
      for (int i = 0; i < 2; i++) {
        assertThat(calls.get("/x")).isEmpty();
        assertThat(strict.read("/x")).isEmpty();
      }
      assertThat(leads).containsOnly("GET /x").hasSize(4);
      assertThat(follows).isEmpty();
    }
  }

  @Test
  void a_list_of_addresses_is_read_and_checked() {
    assertThat(ClientOptions.at("http://a:1, https://b/x").servers())
        .containsExactly(URI.create("http://a:1"), URI.create("https://b/x"));
    assertThatThrownBy(() -> ClientOptions.at("http://a:1,"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("must be like http://host:8048");
  }
}
