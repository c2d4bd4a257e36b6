package io.millrace.server.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.http.Caller.Role;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpMethod;
import io.millrace.server.TestServer;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.Outcome;
import io.millrace.store.Outcome.Reason;
import io.millrace.store.TaskStore;
import io.millrace.store.Transaction;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** What requests leave in the audit log, and who may read it. */
@NullMarked
final class AuditApiTest {
  private static final String AUTHORIZATION = "Authorization";

  @TempDir private Path folder;
  private TestServer server;
  private String admin;

  @BeforeEach
  void start() throws IOException, InterruptedException {
    server = TestServer.in(folder, "server.require-credentials", "true");
    admin = server.server().principals().bootstrapKey().orElseThrow();
    admin = create("root", "\"roles\":[\"admin\"]");
  }

  @AfterEach
  void close() {
    server.close();
  }

  private HttpResponse<String> send(String key, String method, String path, String body)
      throws IOException, InterruptedException {
    return server.send(method, path, body, AUTHORIZATION, "Bearer " + key);
  }

  private String create(String name, String fields) throws IOException, InterruptedException {
    HttpResponse<String> created =
        send(
            admin,
            "POST",
            "/access/principals",
            "{\"name\":\"%s\",%s,\"key\":{}}".formatted(name, fields));
    assertThat(created.statusCode()).as(created.body()).isEqualTo(201);
    return json(created).path("key").path("key").asString();
  }

  private static JsonNode json(HttpResponse<String> response) {
    return Json.read(response.body().getBytes(StandardCharsets.UTF_8));
  }

  private List<JsonNode> entries(String key, String query)
      throws IOException, InterruptedException {
    HttpResponse<String> found = send(key, "GET", "/audit" + query, "");
    assertThat(found.statusCode()).as(found.body()).isEqualTo(200);
    List<JsonNode> entries = new ArrayList<>();
    json(found).path("entries").forEach(entries::add);
    return entries;
  }

  /** The entries, once their counts add up to {@code count}: what is counted comes in a second. */
  private List<JsonNode> entries(String query, long count)
      throws IOException, InterruptedException {
    Instant deadline = Instant.now().plusSeconds(60);
    while (true) {
      List<JsonNode> found = entries(admin, query);
      long sum = found.stream().mapToLong(entry -> entry.path("count").asLong()).sum();
      if (sum == count) {
        return found;
      }
      assertThat(sum).as(found.toString()).isLessThan(count);
      assertThat(Instant.now()).as("%s: %s", query, found).isBefore(deadline);
      LockSupport.parkNanos(5_000_000);
    }
  }

  private void createQueue(String name) throws IOException, InterruptedException {
    HttpResponse<String> created =
        send(
            admin, "POST", "/dci/queues", "{\"name\":\"%s\",\"plugin\":\"shell\"}".formatted(name));
    assertThat(created.statusCode()).as(created.body()).isEqualTo(200);
  }

  @Test
  void every_route_that_changes_something_has_an_action_and_no_other() {
    Set<String> seen = new HashSet<>();
    for (Route route : server.routes()) {
      // Anyone may begin a session, by showing credentials, and end it.
      boolean session =
          List.of("/access/callback", "/access/sign-out").contains(route.path())
              || (route.path().equals("/access/sessions") && route.method() == HttpMethod.POST);
      boolean changes =
          session
              || (route.method() != HttpMethod.GET
                  && route.role() != Role.VIEWER
                  && route.role() != Role.ANYONE);
      assertThat(route.action() != null).as(route.method() + " " + route.path()).isEqualTo(changes);
      if (route.action() != null) {
        assertThat(route.action()).matches("[a-z]+\\.[a-z]+");
        seen.add(route.action());
      }
    }
    assertThat(seen).contains("queue.create", "job.submit", "graph.add", "principal.change");
  }

  @Test
  void a_change_by_an_administrator_is_recorded_with_it() throws Exception {
    Instant before = Instant.now().minusMillis(1);
    create("ann", "\"roles\":[\"viewer\"]");
    JsonNode entry = entries(admin, "?id=ann").getFirst();
    assertThat(entry.path("principal").asString()).isEqualTo("root");
    assertThat(entry.path("key").asString()).isEqualTo(admin.substring(3, 11));
    assertThat(entry.path("address").asString()).isEqualTo("127.0.0.1");
    assertThat(entry.path("api").asString()).isEqualTo("POST /access/principals");
    assertThat(entry.path("action").asString()).isEqualTo("principal.create");
    assertThat(entry.path("result").asString()).isEqualTo("done");
    assertThat(entry.path("count").asInt()).isEqualTo(1);
    assertThat(Instant.parse(entry.path("time").asString()))
        .isBetween(before, Instant.now().plusMillis(1));

    send(admin, "PATCH", "/access/principals/ann", "{\"note\":\"x\"}");
    send(admin, "PATCH", "/access/principals/nobody", "{\"note\":\"x\"}");
    send(admin, "DELETE", "/access/principals/ann", "");
    assertThat(entries(admin, "?id=ann"))
        .extracting(each -> each.path("action").asString())
        .containsExactly("principal.delete", "principal.change", "principal.create");
    JsonNode refused = entries("?id=nobody", 1).getFirst();
    assertThat(refused.path("result").asString()).isEqualTo("refused");
    assertThat(refused.path("status").asInt()).isEqualTo(404);
  }

  @Test
  void each_change_of_queues_schedules_nodes_and_jobs_has_an_entry() throws Exception {
    createQueue("mail");
    send(admin, "POST", "/dci/queues/mail", "{\"threads\":3}");
    send(admin, "PUT", "/schedules/nightly", "{\"colour\":1}");
    send(admin, "POST", "/dci/config", "{\"views_per_page\":7}");
    String task =
        json(send(admin, "POST", "/dci/tasks/mail?status=-2", "[{\"command\":\"true\"}]"))
            .toString();
    String id = task.replaceAll("(?s).*?([0-9a-f]{24}).*", "$1");
    HttpResponse<String> cancelled =
        send(admin, "POST", "/dci/tasks/id/" + id + "/cancel", "{\"reason\":\"x\"}");
    String node =
        json(send(admin, "POST", "/v1/nodes", "{\"type\":\"barrier\"}"))
            .path(0)
            .path("id")
            .asString();
    send(admin, "PATCH", "/v1/nodes/" + node, "{\"name\":\"x\"}");

    List<JsonNode> queue = entries(admin, "?kind=queue&order=oldest");
    assertThat(queue)
        .extracting(each -> each.path("action").asString() + " " + each.path("scope").asString())
        .containsExactly("queue.create mail", "queue.change mail");
    assertThat(entries("?action=task.submit", 1).getFirst().path("first").asString()).isEqualTo(id);
    JsonNode cancel = entries("?action=task.cancel", 1).getFirst();
    assertThat(cancel.path("last").asString()).as(cancelled.body()).isEqualTo(id);
    assertThat(cancel.path("scope").asString()).isEqualTo("mail");
    assertThat(entries("?action=schedule.put", 1).getFirst().path("result").asString())
        .isEqualTo("refused");
    assertThat(entries("?kind=config", 1)).hasSize(1);
    assertThat(entries("?kind=graph&id=" + node, 2)).hasSize(2);
  }

  @Test
  void many_changes_of_one_kind_are_counted_by_second() throws Exception {
    createQueue("mail");
    String submitter = create("ann", "\"roles\":[\"submitter\"]");
    // Enough that some share a second on a slow machine too.
    for (int i = 0; i < 20; i++) {
      send(submitter, "POST", "/dci/tasks/mail", "[{\"command\":\"true\"},{\"command\":\"true\"}]");
      send(
          submitter,
          "POST",
          "/store/update",
          "{\"clientid\":1,\"adds\":[{\"group\":\"g\",\"data\":\"x\"}]}");
      send(
          submitter,
          "POST",
          "/store/claim",
          "{\"clientid\":1,\"group\":\"none\",\"duration\":1000}");
    }
    send(submitter, "POST", "/store/claim", "{\"clientid\":1,\"group\":\"g\",\"duration\":1000}");
    assertThat(entries("?action=task.submit&principal=ann", 40))
        .allMatch(entry -> entry.path("scope").asString().equals("mail"));
    assertThat(entries("?action=store.update&id=g", 20)).hasSizeLessThan(20);
    assertThat(entries("?action=store.claim", 1)).hasSize(1);
  }

  @Test
  void what_is_refused_is_recorded_with_who_tried_it() throws Exception {
    String viewer = create("ann", "\"roles\":[\"viewer\"]");
    assertThat(send(viewer, "POST", "/dci/queues", "{}").statusCode()).isEqualTo(403);
    assertThat(send(viewer, "GET", "/access/principals", "").statusCode()).isEqualTo(403);
    assertThat(server.get("/store/groups").statusCode()).isEqualTo(401);
    String basic =
        Base64.getEncoder().encodeToString("eve:a wrong one".getBytes(StandardCharsets.UTF_8));
    assertThat(server.get("/store/groups", AUTHORIZATION, "Basic " + basic).statusCode())
        .isEqualTo(401);
    String key = viewer.substring(0, viewer.length() - 1) + (viewer.endsWith("a") ? "b" : "a");
    assertThat(send(key, "GET", "/store/groups", "").statusCode()).isEqualTo(401);

    assertThat(entries("?principal=ann&result=refused", 2))
        .extracting(entry -> entry.path("action").asString())
        .containsExactlyInAnyOrder("queue.create", "read");
    assertThat(entries("?kind=sign-in&principal=eve", 1)).hasSize(1);
    assertThat(entries("?kind=sign-in&key=" + key.substring(3, 11), 1)).hasSize(1);
    List<JsonNode> all = entries("?kind=sign-in", 3);
    assertThat(all).allMatch(entry -> entry.path("status").asInt() == 401);
    assertThat(all).allMatch(entry -> entry.path("api").asString().equals("GET /store/groups"));
  }

  @Test
  void an_override_has_an_entry_of_its_own() throws Exception {
    send(
        admin,
        "POST",
        "/store/update",
        "{\"clientid\":1,\"override\":true,\"adds\":[{\"group\":\"g\",\"data\":\"x\"}]}");
    assertThat(entries(admin, "?action=store.override")).hasSize(1);
  }

  @Test
  void a_caller_sees_what_is_within_its_reach_only() throws Exception {
    createQueue("mail");
    createQueue("sms");
    String limited = create("ann", "\"roles\":[\"operator\"],\"reach\":{\"queues\":[\"mail\"]}");
    String operator = create("bob", "\"roles\":[\"operator\"]");
    String viewer = create("eve", "\"roles\":[\"viewer\"]");
    send(admin, "PUT", "/schedules/x", "{}");
    entries("?kind=schedule", 1);

    assertThat(entries(limited, ""))
        .extracting(entry -> entry.path("scope").asString())
        .containsExactly("mail");
    assertThat(entries(limited, "?id=sms")).isEmpty();
    String csv = send(limited, "GET", "/audit/export", "").body();
    assertThat(csv).contains("mail").doesNotContain("sms").doesNotContain("principal.create");
    assertThat(entries(operator, "?limit=1000"))
        .extracting(entry -> entry.path("action").asString())
        .contains("queue.create", "schedule.put")
        .doesNotContain("principal.create");
    assertThat(entries(admin, "?limit=1000"))
        .extracting(entry -> entry.path("action").asString())
        .contains("principal.create");
    assertThat(send(viewer, "GET", "/audit", "").statusCode()).isEqualTo(403);
    assertThat(send(operator, "GET", "/store/documents/access.audit", "").statusCode())
        .isEqualTo(403);
    String put =
        "{\"clientid\":1,\"puts\":[{\"collection\":\"access.audit\",\"key\":\"0\",\"body\":\"{}\",\"version\":-1}]}";
    assertThat(send(admin, "POST", "/store/update", put).statusCode()).isEqualTo(403);
  }

  @Test
  void entries_come_in_pages_and_as_csv_and_json() throws Exception {
    for (int i = 0; i < 5; i++) {
      createQueue(i == 0 ? "=1+1" : "a,\\\"" + i);
    }
    List<String> scopes = new ArrayList<>();
    String next = "";
    do {
      JsonNode page =
          json(
              send(
                  admin,
                  "GET",
                  "/audit?kind=queue&order=oldest&limit=2"
                      + (next.isEmpty() ? "" : "&after=" + next),
                  ""));
      page.path("entries").forEach(entry -> scopes.add(entry.path("scope").asString()));
      next = page.path("next").asString("");
    } while (!next.isEmpty());
    assertThat(scopes).containsExactly("=1+1", "a,\"1", "a,\"2", "a,\"3", "a,\"4");

    HttpResponse<String> csv = send(admin, "GET", "/audit/export?kind=queue", "");
    assertThat(csv.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/csv");
    assertThat(csv.body().lines()).hasSize(6);
    assertThat(csv.body()).contains(",'=1+1,").contains("\"a,\"\"1\"");
    JsonNode whole = json(send(admin, "GET", "/audit/export?format=json&kind=queue", ""));
    assertThat(whole).hasSize(5);
    String to = whole.path(2).path("time").asString();
    assertThat(entries(admin, "?kind=queue&to=" + to).size()).isLessThanOrEqualTo(2);
    assertThat(entries(admin, "?kind=queue&from=2999-01-01T00:00:00Z")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "?colour=red",
        "?limit=0",
        "?limit=x",
        "?order=random",
        "?after=x",
        "?from=yesterday",
        "?to=2026-01-01T00:00:00",
        "?result=good",
        "/export?format=xml",
        "/export?limit=3"
      })
  void what_is_no_question_is_refused(String query) throws Exception {
    HttpResponse<String> refused = send(admin, "GET", "/audit" + query, "");
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(json(refused).path("detail").asString()).isNotEmpty();
  }

  @Test
  void nothing_is_recorded_if_that_is_switched_off_and_what_there_is_can_be_read()
      throws Exception {
    close();
    server = TestServer.in(folder, "server.require-credentials", "true", "audit.enabled", "false");
    createQueue("mail");
    assertThat(entries(admin, ""))
        .extracting(entry -> entry.path("action").asString())
        .containsExactly("principal.create");
  }

  /** A store that has no room for entries while {@code full} says so. */
  private static EmbeddedTaskStore withoutRoom(EmbeddedTaskStore store, AtomicBoolean full) {
    return (EmbeddedTaskStore)
        Proxy.newProxyInstance(
            EmbeddedTaskStore.class.getClassLoader(),
            new Class<?>[] {EmbeddedTaskStore.class},
            (proxy, method, arguments) -> {
              if (method.isDefault()) {
                return InvocationHandler.invokeDefault(proxy, method, arguments);
              }
              if (method.getName().equals("submit")
                  && arguments[0] instanceof Transaction transaction
                  && full.get()
                  && transaction.puts().stream()
                      .anyMatch(put -> put.key().collection().equals("access.audit"))) {
                return CompletableFuture.completedFuture(
                    new Outcome.Refused(
                        store.tasks(List.of()).position(),
                        0,
                        List.of(Reason.of(Reason.Kind.FULL, "no room"))));
              }
              try {
                return method.invoke(store, arguments);
              } catch (InvocationTargetException e) {
                throw e.getTargetException();
              }
            });
  }

  @Test
  void a_store_without_room_for_an_entry_takes_the_change_and_later_the_entry() throws Exception {
    close();
    AtomicBoolean full = new AtomicBoolean(true);
    server =
        TestServer.with(
            options -> withoutRoom(TaskStore.open(options), full),
            folder,
            "server.require-credentials",
            "true");
    create("ann", "\"roles\":[\"viewer\"]");
    assertThat(send(admin, "DELETE", "/access/principals/ann", "").statusCode()).isEqualTo(200);
    assertThat(entries(admin, "?id=ann")).isEmpty();
    assertThat(server.get("/health").body()).contains("entries of the audit log wait");
    full.set(false);
    assertThat(entries("?id=ann", 2))
        .extracting(entry -> entry.path("action").asString())
        .containsExactly("principal.delete", "principal.create");
  }
}
