package io.millrace.server.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.http.Caller.Role;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.server.TestServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Principals and their keys over HTTP, and what they open. */
@NullMarked
final class AccessApiTest {
  private static final String PRINCIPALS = "/access/principals";
  private static final String AUTHORIZATION = "Authorization";

  @TempDir private Path folder;
  private final HttpClient client = HttpClient.newHttpClient();
  private TestServer server;
  private String admin;

  @BeforeEach
  void start() throws IOException, InterruptedException {
    open();
    admin = server.server().principals().bootstrapKey().orElseThrow();
    admin = create("root", "admin");
  }

  private void open() {
    server = TestServer.in(folder, "server.require-credentials", "true");
  }

  @AfterEach
  void close() {
    server.close();
  }

  @AfterEach
  void closeClient() {
    client.close();
  }

  private HttpResponse<String> send(String key, String method, String path, String body)
      throws IOException, InterruptedException {
    return server.send(method, path, body, AUTHORIZATION, "Bearer " + key);
  }

  private HttpResponse<String> asAdmin(String method, String path, String body)
      throws IOException, InterruptedException {
    return send(admin, method, path, body);
  }

  private static JsonNode json(HttpResponse<String> response) {
    return Json.read(response.body().getBytes(StandardCharsets.UTF_8));
  }

  /** Creates a principal and returns its key. */
  private String create(String name, String role) throws IOException, InterruptedException {
    HttpResponse<String> created =
        asAdmin(
            "POST",
            PRINCIPALS,
            "{\"name\":\"%s\",\"roles\":[\"%s\"],\"key\":{}}".formatted(name, role));
    assertThat(created.statusCode()).as(created.body()).isEqualTo(201);
    return json(created).path("key").path("key").asString();
  }

  private static String basic(String user, String password) {
    return "Basic "
        + Base64.getEncoder()
            .encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void the_bootstrap_key_counts_until_there_is_an_administrator() throws Exception {
    assertThat(server.server().principals().bootstrapKey()).isEmpty();
    close();
    try (TestServer empty =
        TestServer.in(folder.resolve("other"), "server.require-credentials", "true")) {
      String key = empty.server().principals().bootstrapKey().orElseThrow();
      String bearer = "Bearer " + key;
      assertThat(empty.get("/store/groups", AUTHORIZATION, bearer).statusCode()).isEqualTo(200);
      String body = "{\"name\":\"%s\",\"roles\":[\"%s\"],\"key\":{}}";
      assertThat(
              empty
                  .send("POST", PRINCIPALS, body.formatted("ann", "viewer"), AUTHORIZATION, bearer)
                  .statusCode())
          .isEqualTo(201);
      assertThat(
              empty
                  .send("POST", PRINCIPALS, body.formatted("bob", "admin"), AUTHORIZATION, bearer)
                  .statusCode())
          .isEqualTo(201);
      assertThat(empty.get("/store/groups", AUTHORIZATION, bearer).statusCode()).isEqualTo(403);
    }
  }

  @Test
  void without_credentials_nothing_but_health_and_oneself_is_served() throws Exception {
    assertThat(server.get("/store/groups").statusCode()).isEqualTo(401);
    assertThat(server.get("/health").statusCode()).isEqualTo(200);
    assertThat(server.get("/access/me").body()).contains("\"unknown\"");
  }

  @Test
  void off_loopback_every_caller_needs_credentials_whatever_is_configured() throws Exception {
    close();
    server =
        TestServer.in(
            folder,
            "server.address",
            "0.0.0.0",
            "server.allow-unencrypted",
            "true",
            "server.require-credentials",
            "false");
    assertThat(server.get("/store/groups").statusCode()).isEqualTo(401);
    assertThat(server.get("/store/groups", AUTHORIZATION, "Bearer ").statusCode()).isEqualTo(401);
    assertThat(asAdmin("GET", "/store/groups", "").statusCode()).isEqualTo(200);
  }

  @Test
  void on_loopback_a_caller_without_credentials_is_the_one_user_unless_they_are_required()
      throws Exception {
    String viewer = create("ann", "viewer");
    close();
    server = TestServer.in(folder);
    assertThat(server.get("/access/me").body()).contains("\"local\"");
    assertThat(server.get(PRINCIPALS).statusCode()).isEqualTo(200);
    assertThat(send(viewer, "GET", PRINCIPALS, "").statusCode()).isEqualTo(403);
    assertThat(send(viewer, "GET", "/store/groups", "").statusCode()).isEqualTo(200);
  }

  @Test
  void a_key_is_shown_once_and_listed_by_its_prefix() throws Exception {
    String key = create("ann", "viewer");
    String prefix = key.substring(3, 11);
    JsonNode listed = json(asAdmin("GET", "/access/keys", ""));
    assertThat(listed).hasSize(2);
    assertThat(asAdmin("GET", "/access/keys", "").body()).contains(prefix).doesNotContain(key);
    JsonNode ann = json(asAdmin("GET", PRINCIPALS + "/ann", ""));
    assertThat(ann.path("roles").toString()).isEqualTo("[\"viewer\"]");
    assertThat(ann.path("reach").isNull()).isTrue();
    assertThat(ann.path("created_by").asString()).isEqualTo("root");
    assertThat(ann.path("keys").path(0).path("prefix").asString()).isEqualTo(prefix);
    assertThat(ann.path("keys").path(0).path("expires").isNull()).isTrue();
    assertThat(json(send(key, "GET", "/access/me", "")).toString())
        .isEqualTo(
            "{\"principal\":\"ann\",\"roles\":[\"viewer\"],\"reach\":null,\"csrf\":null,"
                + "\"sign_in\":{\"oidc\":null}}");
  }

  @Test
  void a_revoked_key_opens_nothing_any_more() throws Exception {
    String key = create("ann", "viewer");
    assertThat(send(key, "GET", "/store/groups", "").statusCode()).isEqualTo(200);
    assertThat(asAdmin("DELETE", "/access/keys/" + key.substring(3, 11), "").statusCode())
        .isEqualTo(200);
    assertThat(send(key, "GET", "/store/groups", "").statusCode()).isEqualTo(401);
    assertThat(asAdmin("DELETE", "/access/keys/" + key.substring(3, 11), "").statusCode())
        .isEqualTo(404);
  }

  @Test
  void a_key_and_its_roles_survive_a_restart_and_a_deletion_does_too() throws Exception {
    String ann = create("ann", "viewer");
    String bob = create("bob", "operator");
    asAdmin("DELETE", PRINCIPALS + "/ann", "");
    close();
    open();
    assertThat(send(ann, "GET", "/store/groups", "").statusCode()).isEqualTo(401);
    assertThat(send(bob, "GET", "/access/me", "").body()).contains("operator");
  }

  @Test
  void a_password_opens_what_a_key_does() throws Exception {
    asAdmin(
        "POST",
        PRINCIPALS,
        "{\"name\":\"ann\",\"roles\":[\"viewer\"],\"password\":\"tell nobody!\"}");
    for (int i = 0; i < 3; i++) {
      assertThat(
              server.get("/store/groups", AUTHORIZATION, basic("ann", "tell nobody!")).statusCode())
          .isEqualTo(200);
    }
    HttpResponse<String> wrong =
        server.get("/store/groups", AUTHORIZATION, basic("ann", "tell nobody"));
    assertThat(wrong.statusCode()).isEqualTo(401);
    assertThat(wrong.headers().firstValue("WWW-Authenticate").orElseThrow()).startsWith("Basic");
    assertThat(
            server
                .send(
                    "POST",
                    "/store/update",
                    "{\"clientid\":1}",
                    AUTHORIZATION,
                    basic("ann", "tell nobody!"))
                .statusCode())
        .isEqualTo(403);
  }

  @Test
  void a_key_counts_as_the_password_of_any_user_in_http_basic() throws Exception {
    String key = create("ann", "viewer");
    assertThat(server.get("/dci/queues", AUTHORIZATION, basic("whoever", key)).statusCode())
        .isEqualTo(200);
    assertThat(server.get("/dci/queues", AUTHORIZATION, basic("whoever", "no")).statusCode())
        .isEqualTo(401);
  }

  @Test
  void the_servers_token_opens_everything_beside_keys() throws Exception {
    String key = create("ann", "viewer");
    close();
    Path token = Files.writeString(folder.resolve("token"), "s3cret");
    server = TestServer.in(folder, "server.token-file", token.toString());
    assertThat(send("s3cret", "GET", PRINCIPALS, "").statusCode()).isEqualTo(200);
    assertThat(send("wrong", "GET", PRINCIPALS, "").statusCode()).isEqualTo(403);
    assertThat(send(key, "GET", "/store/groups", "").statusCode()).isEqualTo(200);
    assertThat(server.get("/dci/queues", AUTHORIZATION, basic("any", "s3cret")).statusCode())
        .isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{}",
        "{\"name\":\"x\"}",
        "{\"name\":\"x\",\"roles\":[]}",
        "{\"name\":\"x\",\"roles\":\"admin\"}",
        "{\"name\":\"x\",\"roles\":[\"king\"]}",
        "{\"name\":\"x\",\"roles\":[7]}",
        "{\"name\":\"a b\",\"roles\":[\"viewer\"]}",
        "{\"name\":\"local\",\"roles\":[\"viewer\"]}",
        "{\"name\":7,\"roles\":[\"viewer\"]}",
        "{\"name\":\"x\",\"roles\":[\"viewer\"],\"colour\":1}",
        "{\"name\":\"x\",\"roles\":[\"viewer\"],\"password\":\"short\"}",
        "{\"name\":\"x\",\"roles\":[\"viewer\"],\"reach\":[]}",
        "{\"name\":\"x\",\"roles\":[\"viewer\"],\"reach\":{\"queue\":[\"a\"]}}",
        "{\"name\":\"x\",\"roles\":[\"viewer\"],\"reach\":{\"queues\":\"a\"}}",
        "{\"name\":\"x\",\"roles\":[\"viewer\"],\"reach\":{\"graph\":[\"a\"]}}",
        "{\"name\":\"x\",\"roles\":[\"viewer\"],\"rate\":0}",
        "{\"name\":\"x\",\"roles\":[\"viewer\"],\"rate\":\"9\"}",
        "{\"name\":\"x\",\"roles\":[\"viewer\"],\"rate\":2000000}",
        "{\"name\":\"x\",\"roles\":[\"viewer\"],\"key\":7}",
        "{\"name\":\"x\",\"roles\":[\"viewer\"],\"key\":{\"expires\":\"soon\"}}",
        "{\"name\":\"x\",\"roles\":[\"viewer\"],\"key\":{\"expires\":\"2001-01-01T00:00:00Z\"}}"
      })
  void what_is_no_principal_is_refused_and_changes_nothing(String body) throws Exception {
    HttpResponse<String> refused = asAdmin("POST", PRINCIPALS, body);
    assertThat(refused.statusCode()).as(refused.body()).isEqualTo(400);
    assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/problem+json");
    assertThat(json(refused).path("status").asInt()).isEqualTo(400);
    assertThat(json(refused).path("title").asString()).isEqualTo("Bad Request");
    assertThat(json(refused).path("detail").asString()).isNotEmpty();
    assertThat(json(asAdmin("GET", PRINCIPALS, ""))).hasSize(1);
  }

  @Test
  void unknown_and_taken_names_are_refused() throws Exception {
    String body = "{\"name\":\"root\",\"roles\":[\"viewer\"]}";
    assertThat(asAdmin("POST", PRINCIPALS, body).statusCode()).isEqualTo(409);
    assertThat(asAdmin("GET", PRINCIPALS + "/nobody", "").statusCode()).isEqualTo(404);
    assertThat(asAdmin("PATCH", PRINCIPALS + "/nobody", "{\"note\":\"x\"}").statusCode())
        .isEqualTo(404);
    assertThat(asAdmin("PATCH", PRINCIPALS + "/root", "{}").statusCode()).isEqualTo(400);
    assertThat(asAdmin("POST", PRINCIPALS + "/nobody/keys", "{}").statusCode()).isEqualTo(404);
    assertThat(asAdmin("DELETE", PRINCIPALS + "/nobody", "").statusCode()).isEqualTo(404);
    assertThat(asAdmin("DELETE", "/access/keys/" + "x".repeat(3000), "").statusCode())
        .isEqualTo(404);
  }

  @Test
  void a_key_with_an_end_is_shown_with_it() throws Exception {
    String expires = Instant.now().plus(Duration.ofDays(30)).toString();
    HttpResponse<String> added =
        asAdmin("POST", PRINCIPALS + "/root/keys", "{\"expires\":\"" + expires + "\"}");
    assertThat(added.statusCode()).isEqualTo(201);
    assertThat(added.headers().firstValue("Cache-Control")).hasValue("no-store");
    assertThat(Instant.parse(json(added).path("expires").asString()))
        .isBetween(Instant.parse(expires).minusMillis(1), Instant.parse(expires));
  }

  /** Each role against each route: 403 exactly if the route needs a role that is not included. */
  @ParameterizedTest
  @CsvSource({
    "viewer, VIEWER",
    "submitter, SUBMITTER",
    "operator, OPERATOR",
    "admin, ADMIN",
    "worker, WORKER"
  })
  void a_role_opens_the_routes_that_need_it_and_no_other(String role, Role meant) throws Exception {
    String key = create("somebody", role);
    for (Route route : server.routes()) {
      if (route.path().equals("/access/principals/{name}") || route.path().endsWith("events")) {
        // The one could delete the caller itself, the other does not end.
        continue;
      }
      String path = route.path().replaceAll("\\{[a-z]+\\}", "999");
      if (!meant.andBelow().contains(route.role())) {
        HttpResponse<String> refused = send(key, route.method().name(), path, "{}");
        assertThat(refused.statusCode())
            .as("%s %s as %s", route.method(), path, role)
            .isEqualTo(403);
        assertThat(refused.body()).contains("role " + route.role().name().toLowerCase(Locale.ROOT));
      } else if (!path.startsWith("/store/changes") && !path.equals("/api/worker")) {
        HttpResponse<String> served = send(key, route.method().name(), path, "{\"clientid\":1}");
        assertThat(served.statusCode())
            .as("%s %s as %s", route.method(), path, role)
            .isNotIn(401, 500, 504);
        assertThat(served.body()).doesNotContain("requires the role");
      }
    }
  }

  @Test
  void documents_of_access_are_changed_and_read_by_nobody_else() throws Exception {
    String operator = create("ann", "operator");
    String put =
        "{\"clientid\":1,\"puts\":[{\"collection\":\"access\",\"key\":\"principal/x\",\"body\":\"{}\",\"version\":-1}]}";
    assertThat(asAdmin("GET", "/store/documents/access", "").statusCode()).isEqualTo(200);
    assertThat(send(operator, "GET", "/store/documents/access", "").statusCode()).isEqualTo(403);
    assertThat(send(operator, "GET", "/store/documents/access.uses", "").statusCode())
        .isEqualTo(403);
    assertThat(send(operator, "GET", "/store/document/access/principal%2Froot", "").statusCode())
        .isEqualTo(403);
    assertThat(send(operator, "GET", "/store/changes?collection=access", "").statusCode())
        .isEqualTo(403);
    assertThat(send(operator, "GET", "/store/documents/accessories", "").statusCode())
        .isEqualTo(200);
    for (String key : List.of(operator, admin)) {
      HttpResponse<String> refused = send(key, "POST", "/store/update", put);
      assertThat(refused.statusCode()).as(refused.body()).isEqualTo(403);
      assertThat(refused.body()).contains("/access");
    }
  }

  @Test
  void no_request_is_served_after_its_key_was_revoked() throws Exception {
    for (int round = 0; round < 5; round++) {
      String key = create("ann" + round, "viewer");
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<Boolean>> runs = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
          runs.add(
              threads.submit(() -> {
                while (send(key, "GET", "/store/groups", "").statusCode() == 200) {
                  // Again, until the key is revoked.
                }
                return send(key, "GET", "/store/groups", "").statusCode() == 401;
              }));
        }
        asAdmin("DELETE", "/access/keys/" + key.substring(3, 11), "");
        assertThat(send(key, "GET", "/store/groups", "").statusCode()).isEqualTo(401);
        for (Future<Boolean> run : runs) {
          assertThat(run.get()).isTrue();
        }
      }
    }
  }

  @Test
  void a_stream_of_events_ends_when_its_key_is_revoked() throws Exception {
    String key = create("ann", "viewer");
    for (String path : List.of("/store/changes", "/dci/events", "/api/events", "/v1/events")) {
      String stream = json(asAdmin("POST", PRINCIPALS + "/ann/keys", "{}")).path("key").asString();
      HttpResponse<InputStream> open =
          client.send(
              HttpRequest.newBuilder(server.at(path))
                  .header(AUTHORIZATION, "Bearer " + stream)
                  .build(),
              HttpResponse.BodyHandlers.ofInputStream());
      assertThat(open.statusCode()).as(path).isEqualTo(200);
      asAdmin("DELETE", "/access/keys/" + stream.substring(3, 11), "");
      // It ends, instead of going on for ever.
      assertThat(open.body().readAllBytes()).as(path).isNotNull();
    }
    assertThat(send(key, "GET", "/store/groups", "").statusCode()).isEqualTo(200);
  }

  @Test
  void a_websocket_is_closed_with_1008_when_its_key_is_revoked_or_its_role_changes()
      throws Exception {
    for (String path : List.of("/api/worker", "/store/changes")) {
      for (String change : List.of("revoke", "roles")) {
        String name = "w" + path.length() + change;
        HttpResponse<String> created =
            asAdmin(
                "POST",
                PRINCIPALS,
                "{\"name\":\"%s\",\"roles\":[\"worker\",\"viewer\"],\"key\":{}}".formatted(name));
        String key = json(created).path("key").path("key").asString();
        CompletableFuture<Integer> closed = new CompletableFuture<>();
        WebSocket socket =
            client
                .newWebSocketBuilder()
                .header(AUTHORIZATION, "Bearer " + key)
                .buildAsync(
                    URI.create("ws://127.0.0.1:" + server.port() + path),
                    new WebSocket.Listener() {
                      @Override
                      public @Nullable CompletionStage<?> onClose(
                          WebSocket peer, int code, String reason) {
                        closed.complete(code);
                        return null;
                      }
                    })
                .get(30, TimeUnit.SECONDS);
        if (change.equals("revoke")) {
          asAdmin("DELETE", "/access/keys/" + key.substring(3, 11), "");
        } else {
          asAdmin("PATCH", PRINCIPALS + "/" + name, "{\"roles\":[\"submitter\"]}");
        }
        assertThat(closed.get(30, TimeUnit.SECONDS)).as(path).isEqualTo(1008);
        socket.abort();
      }
    }
  }

  @Test
  void a_claim_that_waits_is_withdrawn_when_its_key_is_revoked() throws Exception {
    String key = create("ann", "submitter");
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<HttpResponse<String>> claim =
          threads.submit(() ->
              send(
                  key,
                  "POST",
                  "/store/claim",
                  "{\"clientid\":1,\"group\":\"none\",\"duration\":1000,\"wait\":60000}"));
      while (!asAdmin("GET", "/metrics", "").body().contains("millrace_store_claims_waiting 1.0")) {
        assertThat(claim.isDone()).isFalse();
        LockSupport.parkNanos(5_000_000);
      }
      asAdmin("DELETE", PRINCIPALS + "/ann", "");
      assertThat(claim.get(30, TimeUnit.SECONDS).statusCode()).isEqualTo(504);
    }
  }

  @Test
  void tasks_of_one_principal_are_not_those_of_another_with_the_same_client_id() throws Exception {
    String ann = create("ann", "submitter");
    String bob = create("bob", "submitter");
    send(
        ann,
        "POST",
        "/store/update",
        "{\"clientid\":7,\"adds\":[{\"group\":\"g\",\"data\":\"x\"}]}");
    String claimed =
        send(ann, "POST", "/store/claim", "{\"clientid\":7,\"group\":\"g\",\"duration\":60000}")
            .body();
    String id = claimed.replaceAll("(?s).*?\"id\":([0-9]+).*", "$1");
    String delete = "{\"clientid\":7,\"deletes\":[" + id + "]}";
    assertThat(send(bob, "POST", "/store/update", delete).statusCode()).isEqualTo(409);
    String override = "{\"clientid\":7,\"override\":true,\"deletes\":[" + id + "]}";
    assertThat(send(bob, "POST", "/store/update", override).statusCode()).isEqualTo(403);
    assertThat(asAdmin("POST", "/store/update", override).statusCode()).isEqualTo(200);
  }

  @Test
  void more_requests_than_the_rate_are_answered_429_until_it_is_lifted() throws Exception {
    String body = "{\"name\":\"ann\",\"roles\":[\"viewer\"],\"rate\":1,\"key\":{}}";
    String key = json(asAdmin("POST", PRINCIPALS, body)).path("key").path("key").asString();
    HttpResponse<String> last = send(key, "GET", "/store/groups", "");
    assertThat(last.statusCode()).isEqualTo(200);
    while (last.statusCode() == 200) {
      // The machine would have to take a second for each request.
      last = send(key, "GET", "/store/groups", "");
    }
    assertThat(last.statusCode()).isEqualTo(429);
    assertThat(last.headers().firstValue("Retry-After")).hasValue("1");
    assertThat(asAdmin("PATCH", PRINCIPALS + "/ann", "{\"rate\":null}").statusCode())
        .isEqualTo(200);
    for (int i = 0; i < 20; i++) {
      assertThat(send(key, "GET", "/store/groups", "").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void a_refused_request_counts_once_against_the_rate() throws Exception {
    for (String path : List.of("/store/update", "/store/claim", "/dci/queues", PRINCIPALS)) {
      String name = "ann" + path.length();
      String body =
          "{\"name\":\"%s\",\"roles\":[\"viewer\"],\"rate\":1,\"key\":{}}".formatted(name);
      HttpResponse<String> created = asAdmin("POST", PRINCIPALS, body);
      String key = json(created).path("key").path("key").asString();
      // A second count would be refused with 429, since the rate allows one.
      assertThat(send(key, "POST", path, "{}").statusCode()).as(path).isEqualTo(403);
    }
  }

  @Test
  void an_unknown_name_has_the_same_answer_as_a_wrong_password() throws Exception {
    asAdmin(
        "POST",
        PRINCIPALS,
        "{\"name\":\"ann\",\"roles\":[\"viewer\"],\"password\":\"tell nobody!\"}");
    for (String path : List.of("/store/groups", "/dci/queues", "/api/jobs", "/v1/nodes")) {
      HttpResponse<String> wrong = server.get(path, AUTHORIZATION, basic("ann", "tell anybody"));
      HttpResponse<String> unknown = server.get(path, AUTHORIZATION, basic("bob", "tell anybody"));
      assertThat(wrong.statusCode()).isEqualTo(401);
      assertThat(unknown.statusCode()).isEqualTo(401);
      assertThat(unknown.body()).isEqualTo(wrong.body()).contains("user name or the password");
      assertThat(unknown.headers().allValues("WWW-Authenticate"))
          .isEqualTo(wrong.headers().allValues("WWW-Authenticate"))
          .isNotEmpty();
    }
  }

  @Test
  void who_guesses_passwords_has_to_wait_and_keys_count_all_the_same() throws Exception {
    String body = "{\"name\":\"ann\",\"roles\":[\"viewer\"],\"password\":\"tell nobody!\"}";
    asAdmin("POST", PRINCIPALS, body);
    for (int i = 0; i <= 10; i++) {
      HttpResponse<String> wrong =
          server.get("/store/groups", AUTHORIZATION, basic("ann", "a guess " + i));
      assertThat(wrong.statusCode()).isEqualTo(401);
    }
    HttpResponse<String> late =
        server.get("/dci/queues", AUTHORIZATION, basic("ann", "one more guess"));
    // A second, unless the machine took one for this.
    if (late.statusCode() != 401) {
      assertThat(late.statusCode()).isEqualTo(429);
      assertThat(late.headers().firstValue("Retry-After")).hasValue("1");
    }
    assertThat(asAdmin("GET", "/store/groups", "").statusCode()).isEqualTo(200);
  }

  @Test
  void secrets_of_the_configuration_belong_to_principals_that_are_changed_only_there()
      throws Exception {
    close();
    Path token = Files.writeString(folder.resolve("token"), "s3cret");
    Path apiKey = Files.writeString(folder.resolve("api"), "k3y");
    server =
        TestServer.in(
            folder,
            "server.token-file",
            token.toString(),
            "jobs.api-key-file",
            apiKey.toString(),
            "jobs.worker.token",
            "w0rker");
    JsonNode all = json(asAdmin("GET", PRINCIPALS, ""));
    assertThat(all)
        .extracting(each -> each.path("name").asString() + " " + each.path("roles"))
        .containsExactly(
            "root [\"admin\"]",
            "server token [\"admin\",\"worker\"]",
            "API key [\"operator\"]",
            "worker [\"worker\"]");
    assertThat(all.path(0).path("configured").isNull()).isTrue();
    assertThat(all.toString()).doesNotContain("s3cret", "k3y", "w0rker");
    for (String name : List.of("server%20token", "API%20key", "worker")) {
      String path = PRINCIPALS + "/" + name;
      assertThat(json(asAdmin("GET", path, "")).path("configured").asString()).contains(".");
      assertThat(asAdmin("PATCH", path, "{\"disabled\":true}").statusCode()).isEqualTo(409);
      assertThat(asAdmin("POST", path + "/keys", "{}").statusCode()).isEqualTo(409);
      HttpResponse<String> refused = asAdmin("DELETE", path, "");
      assertThat(refused.statusCode()).isEqualTo(409);
      assertThat(refused.body()).contains("is configured by");
    }
  }
}
