package io.millrace.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.store.Claim;
import io.millrace.store.DocumentKey;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.Position;
import io.millrace.store.StoreClosedException;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.Transaction;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
final class HttpTaskStoreTest {
  private static final Owner ME = Owner.client(7);
  private static final Transaction ADD = Transaction.by(ME).add("g", "d").build();
  private static final Transaction REPEATABLE =
      Transaction.by(ME).add("g", "d").requestId("r").build();
  private static final Claim CLAIM = Claim.of(ME, "g", Duration.ofMinutes(1));

  private static HttpTaskStore open(ScriptedServer server) {
    return HttpTaskStore.open(server.address());
  }

  private static void error(OutputStream out, int status) throws IOException {
    ScriptedServer.json(out, status, "", "{\"errors\":[\"the reason\"]}");
  }

  @Test
  void one_connection_serves_one_request_after_the_other() throws Exception {
    try (ScriptedServer server = new ScriptedServer((_, out) -> ScriptedServer.done(out, ""));
        HttpTaskStore store = open(server)) {
      for (int i = 0; i < 20; i++) {
        assertThat(store.commit(ADD).done().position()).isEqualTo(new Position(10, 1));
      }
      assertThat(server.requests()).isEqualTo(20);
      assertThat(server.connections()).isEqualTo(1);
    }
  }

  @Test
  void the_token_and_the_path_of_the_server_go_along() throws Exception {
    CompletableFuture<ScriptedServer.Received> seen = new CompletableFuture<>();
    try (ScriptedServer server =
            new ScriptedServer((request, out) -> {
              seen.complete(request);
              ScriptedServer.done(out, "");
            });
        HttpTaskStore store =
            HttpTaskStore.open(
                ClientOptions.at(server.address().resolve("/below/")).withToken("secret"))) {
      store.claim(CLAIM);
      assertThat(seen.get().line()).isEqualTo("POST /below/store/claim HTTP/1.1");
      assertThat(seen.get().headers())
          .contains("\r\nAuthorization: Bearer secret\r\n")
          .contains("\r\nHost: 127.0.0.1:" + server.address().getPort() + "\r\n");
      assertThat(seen.get().body())
          .isEqualTo("{\"clientid\":7,\"group\":\"g\",\"duration\":60000}");
    }
  }

  @Test
  void a_refusal_is_an_outcome_at_any_status() throws Exception {
    for (int status : List.of(400, 409, 413, 503)) {
      try (ScriptedServer server =
              new ScriptedServer((_, out) ->
                  ScriptedServer.json(
                      out,
                      status,
                      "",
                      "{\"errors\":[\"no\"],\"refusal\":[{\"kind\":\"deletes\",\"id\":3}],"
                          + "\"position\":\"a-1\",\"time\":5}"));
          HttpTaskStore store = open(server)) {
        assertThat(store.commit(ADD))
            .isEqualTo(
                new Outcome.Refused(
                    new Position(10, 1),
                    5,
                    List.of(Reason.of(Reason.Kind.MISSING_DELETE, TaskRef.id(3), "no"))));
      }
    }
  }

  @Test
  void a_request_that_the_server_does_not_take_is_rejected_with_its_reason() throws Exception {
    for (int status : List.of(400, 401, 403, 404, 405, 413, 500)) {
      try (ScriptedServer server = new ScriptedServer((_, out) -> error(out, status));
          HttpTaskStore store = open(server)) {
        assertThatThrownBy(() -> store.commit(ADD))
            .isInstanceOfSatisfying(
                RejectedException.class, e -> assertThat(e.status()).isEqualTo(status))
            .hasMessageContaining("the reason");
        assertThatThrownBy(store::groups).isInstanceOf(RejectedException.class);
        assertThat(server.requests()).isEqualTo(2);
      }
    }
  }

  @Test
  void a_closed_store_behind_the_server_is_a_closed_store() throws Exception {
    try (ScriptedServer server = new ScriptedServer((_, out) -> error(out, 503));
        HttpTaskStore store = open(server)) {
      assertThatThrownBy(() -> store.commit(ADD))
          .isInstanceOf(StoreClosedException.class)
          .hasMessageContaining("the reason");
    }
  }

  @Test
  void a_broken_connection_leaves_the_outcome_of_a_command_unknown() throws Exception {
    try (ScriptedServer server = new ScriptedServer((_, out) -> ScriptedServer.hangUp(out));
        HttpTaskStore store = open(server)) {
      assertThatThrownBy(() -> store.commit(ADD)).isInstanceOf(OutcomeUnknownException.class);
      assertThatThrownBy(() -> store.claim(CLAIM)).isInstanceOf(OutcomeUnknownException.class);
      assertThat(server.requests()).isEqualTo(2);
    }
  }

  @Test
  void a_command_with_a_request_id_is_sent_until_it_is_answered() throws Exception {
    try (ScriptedServer server =
            new ScriptedServer((request, out) -> {
              switch (request.number()) {
                case 1 -> ScriptedServer.hangUp(out);
                case 2 -> error(out, 504);
                default -> ScriptedServer.done(out, ",\"repeated\":true");
              }
            });
        HttpTaskStore store = open(server)) {
      assertThat(store.commit(REPEATABLE).done().repeated()).isTrue();
      assertThat(server.requests()).isEqualTo(3);
    }
  }

  @Test
  void an_outcome_that_the_server_does_not_know_is_unknown_here_too() throws Exception {
    try (ScriptedServer server = new ScriptedServer((_, out) -> error(out, 504));
        HttpTaskStore store =
            HttpTaskStore.open(ClientOptions.at(server.address()).withRetryFor(Duration.ZERO))) {
      assertThatThrownBy(() -> store.commit(ADD))
          .isInstanceOf(OutcomeUnknownException.class)
          .hasMessageContaining("the reason");
      assertThatThrownBy(() -> store.commit(REPEATABLE))
          .isInstanceOf(OutcomeUnknownException.class);
    }
  }

  @Test
  void a_read_is_sent_until_it_is_answered() throws Exception {
    try (ScriptedServer server =
            new ScriptedServer((request, out) -> {
              if (request.number() < 3) {
                ScriptedServer.hangUp(out);
              }
              ScriptedServer.json(out, 200, "Millrace-Position: a-7\r\nMillrace-Time: 9\r\n", "[]");
            });
        HttpTaskStore store = open(server)) {
      assertThat(store.group(GroupQuery.all("a/b c")).position()).isEqualTo(new Position(10, 7));
      assertThat(server.requests()).isEqualTo(3);
    }
  }

  @Test
  void a_missing_document_is_told_from_a_missing_store() throws Exception {
    try (ScriptedServer server =
            new ScriptedServer((request, out) ->
                ScriptedServer.json(
                    out,
                    404,
                    request.line().equals("GET /store/document/c%2Fd/k%2E HTTP/1.1")
                        ? "Millrace-Position: a-7\r\nMillrace-Time: 9\r\n"
                        : "",
                    "{\"error\":\"none\"}"));
        HttpTaskStore store = open(server)) {
      assertThat(store.document(new DocumentKey("c/d", "k.")).value()).isEmpty();
      assertThatThrownBy(() -> store.document(new DocumentKey("c", "other")))
          .isInstanceOf(RejectedException.class)
          .hasMessageContaining("no task store at " + server.address());
    }
  }

  @Test
  void a_server_that_is_not_there_is_unreachable_and_nothing_changed() throws Exception {
    int port;
    try (ServerSocket taken = new ServerSocket(0)) {
      port = taken.getLocalPort();
    }
    try (HttpTaskStore store =
        HttpTaskStore.open(
            ClientOptions.at(URI.create("http://127.0.0.1:" + port))
                .withRetryFor(Duration.ofMillis(50)))) {
      assertThatThrownBy(() -> store.commit(ADD))
          .isInstanceOf(UnreachableException.class)
          .hasMessageContaining("127.0.0.1:" + port);
      assertThatThrownBy(store::groups).isInstanceOf(UnreachableException.class);
    }
  }

  @Test
  void an_answer_that_does_not_come_in_time_leaves_the_outcome_unknown() throws Exception {
    try (ScriptedServer server = new ScriptedServer((_, _) -> {});
        HttpTaskStore store =
            HttpTaskStore.open(
                ClientOptions.at(server.address()).withResponseTimeout(Duration.ofMillis(50)))) {
      assertThatThrownBy(() -> store.commit(ADD)).isInstanceOf(OutcomeUnknownException.class);
    }
  }

  @Test
  void cancelling_a_waiting_claim_closes_its_connection() throws Exception {
    CountDownLatch waiting = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    try (ServerSocket listener = new ServerSocket(0);
        HttpTaskStore store =
            HttpTaskStore.open(URI.create("http://127.0.0.1:" + listener.getLocalPort()))) {
      Thread.ofVirtual()
          .start(() -> {
            try (var socket = listener.accept()) {
              byte[] some = new byte[4096];
              int n = socket.getInputStream().read(some);
              waiting.countDown();
              while (n >= 0) {
                n = socket.getInputStream().read(some);
              }
            } catch (IOException _) {
              // A reset is a close as well.
            }
            closed.countDown();
          });
      CompletableFuture<Outcome> answer = store.submit(CLAIM.withWait(Duration.ofMinutes(5)));
      assertThat(waiting.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(answer.cancel(true)).isTrue();
      assertThat(closed.await(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void closing_the_client_ends_what_waits_and_refuses_what_comes() throws Exception {
    CountDownLatch waiting = new CountDownLatch(1);
    try (ScriptedServer server = new ScriptedServer((_, _) -> waiting.countDown())) {
      HttpTaskStore store = open(server);
      CompletableFuture<Outcome> answer = store.submit(ADD);
      assertThat(waiting.await(10, TimeUnit.SECONDS)).isTrue();
      store.close();
      store.close();
      assertThatThrownBy(answer::get)
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(OutcomeUnknownException.class);
      assertThatThrownBy(() -> store.commit(ADD)).isInstanceOf(StoreClosedException.class);
      assertThatThrownBy(store::groups).isInstanceOf(StoreClosedException.class);
    }
  }

  @Test
  void the_client_id_of_a_process_is_one_and_fits_into_32_bits() {
    assertThat(ClientId.ofThisProcess()).isBetween(1L, (1L << 31) - 1);
    assertThat(ClientId.owner()).isEqualTo(Owner.client(ClientId.ofThisProcess()));
  }

  @Test
  void options_that_make_no_sense_are_refused() {
    for (String address : List.of("host:8048", "ftp://host", "http:///x", "http://h/?a=b")) {
      assertThatThrownBy(() -> ClientOptions.at(URI.create(address)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("address");
    }
    ClientOptions options = ClientOptions.at(URI.create("http://host"));
    assertThatThrownBy(() -> options.withToken("a\r\nb"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> options.withResponseTimeout(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(options.withToken("secret").toString()).doesNotContain("secret");
  }
}
