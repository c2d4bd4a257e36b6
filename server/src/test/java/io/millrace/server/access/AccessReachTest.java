package io.millrace.server.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.http.Caller.Role;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.server.Heard;
import io.millrace.server.TestServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocketHandshakeException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What a principal with a reach sees and may change, API by API. */
@NullMarked
final class AccessReachTest {
  @TempDir private Path folder;
  private TestServer server;
  private String limited;

  /** Everything is prepared by the one user of the machine, who needs no credentials. */
  @BeforeEach
  void start() throws IOException, InterruptedException {
    server =
        TestServer.in(
            folder,
            "jobs.types.mail.description",
            "mail",
            "jobs.types.mailing.description",
            "more mail",
            "jobs.types.image.description",
            "images");
    limited = key("ann", "\"operator\",\"worker\"");
  }

  @AfterEach
  void close() {
    server.close();
  }

  private String key(String name, String roles) throws IOException, InterruptedException {
    return json(server.post(
            "/access/principals",
            """
            {"name": "%s", "roles": [%s], "key": {},
             "reach": {"groups": ["mail"], "queues": ["mail"], "types": ["mail"],
                       "blobs": ["mail"], "cluster": ["mail"]}}
            """
                .formatted(name, roles)))
        .path("key")
        .path("key")
        .asString();
  }

  private HttpResponse<String> as(String key, String method, String path, String body)
      throws IOException, InterruptedException {
    return server.send(method, path, body, "Authorization", "Bearer " + key);
  }

  private HttpResponse<String> limited(String method, String path, String body)
      throws IOException, InterruptedException {
    return as(limited, method, path, body);
  }

  private int status(String method, String path, String body)
      throws IOException, InterruptedException {
    return limited(method, path, body).statusCode();
  }

  private static JsonNode json(HttpResponse<String> response) {
    return Json.read(response.body().getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void every_route_that_does_not_keep_to_a_reach_is_refused() throws Exception {
    String admin = key("bob", "\"admin\",\"worker\"");
    for (Route route : server.routes()) {
      if (!route.limitable() && route.role() != Role.ANYONE) {
        String path = route.path().replaceAll("\\{[a-z]+\\}", "999");
        HttpResponse<String> refused = as(admin, route.method().name(), path, "{}");
        assertThat(refused.statusCode()).as("%s %s", route.method(), path).isEqualTo(403);
        assertThat(refused.body()).contains("the reach of bob is limited");
      }
    }
    assertThat(server.routes())
        .filteredOn(Route::limitable)
        .extracting(Route::path)
        .noneMatch(path -> path.startsWith("/access"))
        .doesNotContain("/store/backup", "/metrics", "/dci/config", "/history");
  }

  /** Walks over all routes but the streams, which the next test follows. */
  @Test
  void a_principal_that_reaches_nothing_sees_and_changes_nothing_on_any_route() throws Exception {
    String queue =
        json(server.post("/dci/queues", "{\"name\": \"hush-q\", \"plugin\": \"demo\"}"))
            .path("id")
            .path("$oid")
            .asString();
    String task =
        json(server.post("/dci/tasks/hush-q", "[{\"user1\": \"hush\"}]"))
            .findValue("$oid")
            .asString();
    String job =
        json(server.submit(
                "/api/jobs/submit/image", "Priority", "batch", "Payload", "hush", "Key", "hush-k"))
            .path("created")
            .asString();
    server.post("/v1/nodes", "[{\"metadata\": {\"type\": \"group\"}, \"name\": \"hush\"}]");
    server.send("PUT", "/blobs/hush-b", "hush");
    server.post(
        "/store/update",
        """
        {"clientid": 1, "adds": [{"group": "hush-g", "data": "hush"}],
         "puts": [{"collection": "hush-c", "key": "k", "body": "hush"}]}
        """);
    prepare("hush-s", "{\"queue\": \"hush-q\"}");
    String before = everything();
    String nobody =
        json(server.post(
                "/access/principals",
                """
                {"name": "eve", "roles": ["admin", "worker"], "key": {}, "reach": {"queues": ["?"]}}
                """))
            .path("key")
            .path("key")
            .asString();
    List<String> ids =
        List.of(
            queue, task, job, "hush-q", "hush-k", "hush-b", "hush-g", "hush-c", "hush-s", "image",
            "1", "2", "root");
    int walked = 0;
    for (Route route : server.routes()) {
      String path = route.path();
      boolean streams = path.endsWith("/events") || path.endsWith("/changes");
      if (streams || !route.limitable() || path.startsWith("/dashboard")) {
        continue;
      }
      for (String id : path.contains("{") ? ids : List.of("")) {
        String asked = path.replaceAll("\\{[a-z]+\\}", id);
        HttpResponse<String> response = as(nobody, route.method().name(), asked, "{}");
        String what = route.method() + " " + asked + ": " + response.body();
        assertThat(response.statusCode()).as(what).isLessThan(500);
        // Errors may repeat what the caller has said itself.
        assertThat(response.body().replace(id.isEmpty() ? "\0" : id, ""))
            .as(what)
            .doesNotContain("hush");
        walked++;
      }
    }
    assertThat(walked).isGreaterThan(500);
    assertThat(everything()).isEqualTo(before);
  }

  /** The lines of a stream until one has a marker, which comes after all that must not. */
  private static String until(BlockingQueue<String> lines, String marker)
      throws InterruptedException {
    StringBuilder heard = new StringBuilder();
    while (heard.indexOf(marker) < 0) {
      String line = lines.poll(30, TimeUnit.SECONDS);
      if (line == null) {
        throw new AssertionError("there was no " + marker + " in: " + heard);
      }
      heard.append(line).append('\n');
    }
    return heard.toString();
  }

  /** What comes over a stream of events, in order, as it is sent. */
  private BlockingQueue<String> listen(HttpClient client, String key, String path, boolean socket)
      throws Exception {
    if (socket) {
      Heard heard = new Heard();
      client
          .newWebSocketBuilder()
          .header("Authorization", "Bearer " + key)
          .buildAsync(URI.create("ws://127.0.0.1:" + server.port() + path), heard)
          .get(30, TimeUnit.SECONDS);
      return heard.messages;
    }
    HttpRequest request =
        HttpRequest.newBuilder(server.at(path)).header("Authorization", "Bearer " + key).build();
    HttpResponse<Stream<String>> response =
        client.send(request, HttpResponse.BodyHandlers.ofLines());
    assertThat(response.statusCode()).as(path).isEqualTo(200);
    BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    Thread.ofVirtual()
        .start(() -> {
          try (Stream<String> all = response.body()) {
            all.forEach(lines::add);
          } catch (UncheckedIOException _) {
            // The client has been closed.
          }
        });
    return lines;
  }

  /**
   * On every stream, by server-sent events and by WebSocket: what happens out of reach is followed
   * by something in reach, before which nothing else may have come.
   */
  @Test
  void on_no_stream_is_anything_heard_of_what_is_out_of_reach() throws Exception {
    String top = node("root", "wait for");
    for (String queue : List.of("mail", "hush-q")) {
      server.post("/dci/queues", "{\"name\": \"" + queue + "\", \"plugin\": \"demo\"}");
    }
    String listener =
        json(server.post(
                "/access/principals",
                """
                {"name": "ida", "roles": ["admin", "worker"], "key": {},
                 "reach": {"groups": ["mail"], "queues": ["mail"], "types": ["mail"],
                           "cluster": ["mail"], "graph": ["%s"]}}
                """
                    .formatted(top)))
            .path("key")
            .path("key")
            .asString();
    Map<String, String> markers =
        Map.of(
            "/store/changes", "mail/marker",
            "/dci/events", "in-marker",
            "/api/events", "marker-k",
            "/v1/events", "marker-n",
            "/cluster/events", "mail-marker");
    Set<String> streams = new TreeSet<>();
    for (Route route : server.routes()) {
      if (route.path().endsWith("/events") || route.path().endsWith("/changes")) {
        assertThat(route.limitable()).as(route.path()).isTrue();
        streams.add(route.path());
      }
    }
    assertThat(streams).as("each stream has a marker").isEqualTo(new TreeSet<>(markers.keySet()));
    try (HttpClient client = HttpClient.newHttpClient()) {
      try {
        assertHearsOnly(client, listener, top, markers);
        assertThatThrownBy(() -> listen(client, listener, "/api/worker/image", true))
            .hasCauseInstanceOf(WebSocketHandshakeException.class);
      } finally {
        // The streams do not end by themselves.
        client.shutdownNow();
      }
    }
  }

  private void assertHearsOnly(
      HttpClient client, String listener, String top, Map<String, String> markers)
      throws Exception {
    Map<String, BlockingQueue<String>> heard = new TreeMap<>();
    for (String path : markers.keySet()) {
      heard.put(path + " as events", listen(client, listener, path, false));
      heard.put(path + " by WebSocket", listen(client, listener, path, true));
    }
    for (BlockingQueue<String> lines : heard.values()) {
      // It has begun.
      assertThat(lines.poll(30, TimeUnit.SECONDS)).isNotNull();
    }
    hush();
    server.post("/dci/tasks/mail", "[{\"user1\": \"in-marker\"}]");
    server.post("/dci/queues/mail", "{\"weights\": \"in-marker=2\"}");
    server.submit("/api/jobs/submit/mail", "Priority", "batch", "Payload", "x", "Key", "marker-k");
    server.post(
        "/v1/nodes",
        "[{\"metadata\": {\"type\": \"group\", \"name\": \"marker-n\", \"parent\": \"%s\"}}]"
            .formatted(top));
    lock("mail-marker");
    server.post(
        "/store/update",
        "{\"clientid\": 1, \"adds\": [{\"group\": \"mail/marker\", \"data\": \"x\"}]}");
    for (Map.Entry<String, BlockingQueue<String>> stream : heard.entrySet()) {
      String path = stream.getKey().substring(0, stream.getKey().indexOf(' '));
      assertThat(until(stream.getValue(), Objects.requireNonNull(markers.get(path))))
          .as(stream.getKey())
          .doesNotContain("hush", "image");
    }
  }

  private void lock(String name) throws IOException, InterruptedException {
    server.post(
        "/store/update",
        """
        {"clientid": 1, "puts": [{"collection": "cluster", "key": "lock/%s",
          "body": "{\\"holder\\":\\"%<s\\",\\"expire\\":1,\\"fence\\":1}"}]}
        """
            .formatted(name));
  }

  /** Makes, changes and removes things out of reach, of each kind. */
  private void hush() throws IOException, InterruptedException {
    server.post("/dci/queues/hush-q", "{\"threads\": 3}");
    prepare("hush-s", "{\"queue\": \"hush-q\"}");
    server.send("DELETE", "/schedules/hush-s", "");
    String task =
        json(server.post("/dci/tasks/hush-q", "[{\"user1\": \"hush\"}]"))
            .findValue("$oid")
            .asString();
    server.post("/dci/tasks/id/" + task + "/cancel", "{\"reason\": \"hush\"}");
    server.send("DELETE", "/dci/queues/hush-q", "");
    for (String end : List.of("cancel", "delete")) {
      server.submit("/api/jobs/submit/image", "Priority", "batch", "Payload", "x", "Key", "hush-k");
      server.post("/api/jobs/hush-k/" + end, "");
    }
    String polled = "{\"name\": \"hush\", \"id\": \"hush-w\"}";
    server.submit("/api/jobs/submit/image", "Priority", "batch", "Payload", "x", "Key", "hush-r");
    String token =
        server
            .post("/api/worker/image/next", polled)
            .headers()
            .firstValue("Millrace-Job-Token")
            .orElseThrow();
    server.post("/api/jobs/hush-r/progress?token=" + token, "{\"info\": \"hush\"}");
    server.post("/api/jobs/hush-r/failure?token=" + token, "{\"info\": \"hush\"}");
    String node =
        json(server.post(
                "/v1/nodes",
                "[{\"metadata\": {\"type\": \"wait for\", \"name\": \"hush\"},"
                    + " \"data\": {\"time\": \"2999-01-01T00:00:00Z\"}}]"))
            .path(0)
            .path("id")
            .asString();
    server.send("PUT", "/v1/nodes/" + node + "/data/note", "{\"value\": \"hush\"}");
    server.send("PATCH", "/v1/nodes/" + node, "{\"name\": \"hush-2\"}");
    server.send("DELETE", "/v1/nodes/" + node, "");
    server.post(
        "/store/update",
        """
        {"clientid": 1, "adds": [{"group": "hush-g", "data": "hush"}],
         "puts": [{"collection": "hush-c", "key": "k", "body": "hush"}]}
        """);
    lock("hush-l");
  }

  private String everything() throws IOException, InterruptedException {
    StringBuilder all = new StringBuilder();
    for (String path :
        List.of(
            "/dci/queues",
            "/api/jobs",
            "/api/types",
            "/v1/nodes",
            "/blobs",
            "/store/groups",
            "/store/documents/hush-c",
            "/schedules",
            "/bulk")) {
      all.append(server.get(path).body()).append('\n');
    }
    return all.append(server.post("/dci/tasks/search", "{\"filter\": {}}").body()).toString();
  }

  @Test
  void of_the_store_only_groups_and_collections_in_reach_are_seen() throws Exception {
    server.post(
        "/store/update",
        """
        {"clientid": 1, "adds": [{"group": "mail/a", "data": "in"}, {"group": "other", "data": "out"}],
         "puts": [{"collection": "mail", "key": "k", "body": "x"},
                  {"collection": "other", "key": "k", "body": "x"}]}
        """);
    assertThat(limited("GET", "/store/groups", "").body())
        .contains("mail/a")
        .doesNotContain("other");
    assertThat(limited("GET", "/store/summary", "").body()).doesNotContain("other");
    assertThat(status("GET", "/store/group/mail%2Fa", "")).isEqualTo(200);
    assertThat(status("GET", "/store/group/other", "")).isEqualTo(403);
    assertThat(status("GET", "/store/document/mail/k", "")).isEqualTo(200);
    assertThat(status("GET", "/store/document/other/k", "")).isEqualTo(403);
    assertThat(status("GET", "/store/documents/other", "")).isEqualTo(403);
    assertThat(status("GET", "/store/changes?group=other", "")).isEqualTo(403);

    String in = id(server.get("/store/group/mail%2Fa").body());
    String out = id(server.get("/store/group/other").body());
    assertThat(status("GET", "/store/task/" + in, "")).isEqualTo(200);
    assertThat(status("GET", "/store/task/" + out, "")).isEqualTo(404);
    assertThat(limited("GET", "/store/tasks/" + in + "," + out, "").body())
        .contains("\"in\"")
        .doesNotContain("\"out\"");

    assertThat(update("\"adds\": [{\"group\": \"other\", \"data\": \"x\"}]")).isEqualTo(403);
    assertThat(update("\"adds\": [{\"group\": \"mail/b\", \"data\": \"x\"}]")).isEqualTo(200);
    assertThat(update("\"deletes\": [" + out + "]")).isEqualTo(403);
    assertThat(update("\"depends\": [" + out + "]")).isEqualTo(403);
    assertThat(update("\"puts\": [{\"collection\": \"other\", \"key\": \"k\", \"body\": \"\"}]"))
        .isEqualTo(403);
    assertThat(claim("other")).isEqualTo(403);
    assertThat(claim("mail/a")).isEqualTo(200);
    assertThat(server.get("/store/group/other").body()).contains(out);
  }

  private static String schedule(String target) {
    return "{\"times\": [{\"cron\": \"@yearly\"}], \"target\": " + target + "}";
  }

  private void prepare(String name, String target) throws IOException, InterruptedException {
    HttpResponse<String> put = server.send("PUT", "/schedules/" + name, schedule(target));
    assertThat(put.statusCode()).as(put.body()).isEqualTo(200);
  }

  @Test
  void of_the_schedules_only_those_whose_target_is_in_reach_are_there() throws Exception {
    for (String queue : List.of("mail", "other")) {
      server.post("/dci/queues", "{\"name\": \"" + queue + "\", \"plugin\": \"shell\"}");
    }
    String image = "{\"job\": {\"type\": \"image\"}}";
    String group = "{\"graph\": {\"nodes\": [{\"metadata\": {\"type\": \"group\"}}]}}";
    prepare("a", "{\"queue\": \"mail\"}");
    prepare("b", "{\"queue\": \"other\"}");
    prepare("c", "{\"job\": {\"type\": \"mail\"}}");
    prepare("d", image);
    prepare("e", group);

    assertThat(
            json(limited("GET", "/schedules", ""))
                .path("schedules")
                .valueStream()
                .map(each -> each.path("name").asString()))
        .containsExactly("a", "c");
    for (String path : List.of("", "/next")) {
      assertThat(status("GET", "/schedules/a" + path, "")).isEqualTo(200);
      assertThat(status("GET", "/schedules/b" + path, "")).isEqualTo(404);
    }
    for (String action : List.of("run", "pause", "resume")) {
      assertThat(status("POST", "/schedules/c/" + action, "")).isEqualTo(200);
      assertThat(status("POST", "/schedules/d/" + action, "")).isEqualTo(404);
      assertThat(status("POST", "/schedules/none/" + action, "")).isEqualTo(404);
    }
    String range = "{\"from\": \"2026-01-01T00:00:00Z\", \"until\": \"2026-01-02T00:00:00Z\"}";
    assertThat(status("POST", "/schedules/e/backfill", range)).isEqualTo(404);
    assertThat(status("DELETE", "/schedules/e", "")).isEqualTo(404);
    assertThat(status("PUT", "/schedules/b", schedule("{\"queue\": \"mail\"}"))).isEqualTo(403);
    assertThat(status("PUT", "/schedules/a", schedule("{\"queue\": \"other\"}"))).isEqualTo(403);
    assertThat(status("PUT", "/schedules/new", schedule(image))).isEqualTo(403);
    assertThat(status("PUT", "/schedules/new", schedule(group))).isEqualTo(403);
    assertThat(status("POST", "/schedules/preview", schedule(image))).isEqualTo(403);
    assertThat(status("PUT", "/schedules/new", schedule("{\"queue\": \"mail\"}"))).isEqualTo(200);
    assertThat(status("DELETE", "/schedules/new", "")).isEqualTo(200);
  }

  @Test
  void graphs_of_schedules_are_added_below_nodes_in_reach_only() throws Exception {
    String top =
        json(server.post("/v1/nodes", "[{\"metadata\": {\"type\": \"group\"}}]"))
            .path(0)
            .path("id")
            .asString();
    String own =
        json(server.post(
                "/access/principals",
                "{\"name\": \"gil\", \"roles\": [\"operator\"], \"key\": {}, \"reach\": {\"graph\":"
                    + " [\""
                    + top
                    + "\"]}}"))
            .path("key")
            .path("key")
            .asString();
    String target =
        "{\"graph\": {\"parent\": \"%s\", \"nodes\": [{\"metadata\": {\"type\": \"%s\"}, \"data\":"
            + " {\"queue\": \"x\"}}]}}";

    assertThat(put(own, target.formatted(top, "group"))).isEqualTo(200);
    assertThat(put(own, target.formatted("root", "group"))).isEqualTo(403);
    assertThat(put(own, target.formatted("999", "group"))).isEqualTo(403);
    assertThat(put(own, target.formatted(top, "queue task"))).isEqualTo(403);
  }

  private int put(String key, String target) throws IOException, InterruptedException {
    return as(key, "PUT", "/schedules/graph", schedule(target)).statusCode();
  }

  private int update(String parts) throws IOException, InterruptedException {
    return status("POST", "/store/update", "{\"clientid\": 5, " + parts + "}");
  }

  private int claim(String group) throws IOException, InterruptedException {
    return status(
        "POST",
        "/store/claim",
        "{\"clientid\": 5, \"group\": \"" + group + "\", \"duration\": 1000}");
  }

  private static String id(String listed) {
    return listed.replaceAll("(?s).*?\"id\":\\s*([0-9]+).*", "$1");
  }

  @Test
  void groups_of_the_systems_are_changed_by_operators_only() throws Exception {
    String submitter =
        json(server.post(
                "/access/principals", "{\"name\":\"carl\",\"roles\":[\"submitter\"],\"key\":{}}"))
            .path("key")
            .path("key")
            .asString();
    for (String group : List.of("queues/1", "jobs/1", "cluster", "graph.nodes", "bulk.running")) {
      String add = "{\"clientid\": 5, \"adds\": [{\"group\": \"" + group + "\", \"data\": \"x\"}]}";
      assertThat(as(submitter, "POST", "/store/update", add).statusCode()).isEqualTo(403);
    }
    String own = "{\"clientid\": 5, \"adds\": [{\"group\": \"queuesque\", \"data\": \"x\"}]}";
    assertThat(as(submitter, "POST", "/store/update", own).statusCode()).isEqualTo(200);
  }

  @Test
  void of_the_jobs_only_those_of_types_in_reach_are_seen_and_changed() throws Exception {
    String[] names = new String[3];
    int i = 0;
    for (String type : List.of("mail", "mailing", "image")) {
      HttpResponse<String> submitted =
          server.submit("/api/jobs/submit/" + type, "Priority", "batch", "Payload", "x");
      assertThat(submitted.statusCode()).as(submitted.body()).isEqualTo(202);
      names[i++] = json(submitted).path("created").asString();
    }
    assertThat(limited("GET", "/api/types", "").body()).contains("mailing").doesNotContain("image");
    assertThat(status("PATCH", "/api/types/image", "{\"running\":1}")).isEqualTo(404);
    assertThat(json(limited("GET", "/api/jobs", ""))).hasSize(2);
    assertThat(json(limited("GET", "/api/jobs?limit=1", ""))).hasSize(1);
    assertThat(json(limited("GET", "/api/jobs?type=image", ""))).isEmpty();
    assertThat(status("GET", "/api/jobs/" + names[0], "")).isEqualTo(200);
    for (String part : List.of("", "/payload", "/result", "/failures", "/returns", "/wait")) {
      assertThat(status("GET", "/api/jobs/" + names[2] + part, "")).as(part).isEqualTo(404);
    }
    for (String part : List.of("/cancel", "/retry", "/delete")) {
      assertThat(status("POST", "/api/jobs/" + names[2] + part, "")).as(part).isEqualTo(404);
    }
    assertThat(status("DELETE", "/api/jobs/" + names[2], "")).isEqualTo(404);
    assertThat(status("POST", "/api/jobs/submit/image", "")).isEqualTo(403);
    assertThat(status("POST", "/api/worker/image/next", "{\"name\":\"w\",\"id\":\"w\"}"))
        .isEqualTo(403);
    assertThat(status("POST", "/api/jobs/" + names[2] + "/result?token=1", "x")).isEqualTo(404);
    assertThat(status("POST", "/api/worker/mail/next", "{\"name\":\"w\",\"id\":\"w\"}"))
        .isEqualTo(200);
    assertThat(server.get("/api/jobs/" + names[2]).body()).contains("pending");
  }

  @Test
  void of_batches_and_workers_only_those_of_types_in_reach_are_seen() throws Exception {
    for (String type : List.of("mail", "image", "mailing")) {
      server.submit("/api/jobs/submit/" + type, "Priority", "batch", "Payload", "x");
      String worker = "{\"name\":\"worker\",\"id\":\"for-%s\"}".formatted(type);
      server.post("/api/worker/" + type + "/next", worker);
    }
    assertThat(json(server.get("/api/batches"))).hasSize(3);
    for (String query : List.of("", "?limit=2", "?limit=1000")) {
      HttpResponse<String> seen = limited("GET", "/api/batches" + query, "");
      assertThat(json(seen)).as(query).hasSize(2);
      assertThat(seen.body()).contains("mailing").doesNotContain("image");
    }
    assertThat(json(limited("GET", "/api/batches?limit=1", ""))).hasSize(1);
    for (JsonNode batch : json(server.get("/api/batches"))) {
      int expected = batch.path("type").asString().equals("image") ? 404 : 200;
      String path = "/api/batches/" + batch.path("id").asString();
      for (String part : List.of("", "/jobs", "/wait?timeout=0")) {
        assertThat(status("GET", path + part, "")).as(path + part).isEqualTo(expected);
      }
    }
    assertThat(limited("GET", "/api/workers", "").body())
        .contains("for-mail", "for-mailing")
        .doesNotContain("for-image");
    assertThat(status("GET", "/api/workers/for-mail", "")).isEqualTo(200);
    assertThat(status("GET", "/api/workers/for-image", "")).isEqualTo(404);
    assertThat(limited("GET", "/dci/plugins", "").body()).contains("shell");
    assertThat(limited("GET", "/dci/queue-prototypes-json", "").body()).contains("shell");
  }

  private String submitted(String queue) throws IOException, InterruptedException {
    String created = server.post("/dci/tasks/" + queue, "[{\"command\":\"true\"}]").body();
    return created.replaceAll("(?s).*?([0-9a-f]{24}).*", "$1");
  }

  @Test
  void of_the_queues_and_their_tasks_only_those_in_reach_are_seen_and_changed() throws Exception {
    for (String queue : List.of("mail", "other")) {
      String created =
          server.post("/dci/queues", "{\"name\":\"" + queue + "\",\"plugin\":\"shell\"}").body();
      assertThat(created).contains("$oid");
    }
    String in = submitted("mail");
    String out = submitted("other");

    assertThat(json(limited("GET", "/dci/queues", ""))).hasSize(1);
    assertThat(json(limited("GET", "/dci/scheduler-json", ""))).hasSize(1);
    assertThat(status("GET", "/dci/queues/mail", "")).isEqualTo(200);
    String hidden = limited("GET", "/dci/queues/other", "").body();
    assertThat(hidden).contains("queue not found");
    assertThat(limited("POST", "/dci/queues/other", "{\"threads\":3}").body())
        .contains("queue not found");
    assertThat(limited("DELETE", "/dci/queues/other", "").body()).contains("queue not found");
    assertThat(limited("POST", "/dci/queues/mail", "{\"name\":\"other2\"}").body())
        .contains("out of reach");
    assertThat(status("POST", "/dci/queues", "{\"name\":\"images\",\"plugin\":\"shell\"}"))
        .isEqualTo(403);
    assertThat(status("POST", "/dci/start-queue-json", "{\"name\":\"images\",\"type\":\"shell\"}"))
        .isEqualTo(403);
    assertThat(status("POST", "/dci/queues", "{\"name\":\"mails\",\"plugin\":\"shell\"}"))
        .isEqualTo(200);
    assertThat(status("POST", "/dci/tasks/mail", "[{\"command\":\"true\"}]")).isEqualTo(200);
    assertThat(limited("POST", "/dci/tasks/other", "[{\"command\":\"true\"}]").body())
        .contains("queue not found");
    assertThat(
            limited(
                    "POST",
                    "/dci/tasks/mail/secrets",
                    "{\"filter\":{},\"params\":{\"command\":\"document.x\"}}")
                .body())
        .contains("out of reach");

    assertThat(status("GET", "/dci/tasks/id/" + in, "")).isEqualTo(200);
    for (String part : List.of("", "/stdout", "/stderr", "/mixedout")) {
      assertThat(limited("GET", "/dci/tasks/id/" + out + part, "").body())
          .as(part)
          .contains("task not found");
    }
    for (String part : List.of("cancel", "block", "terminate", "requeue")) {
      assertThat(limited("POST", "/dci/tasks/id/" + out + "/" + part, "{}").body())
          .as(part)
          .contains("task not found");
    }
    assertThat(limited("POST", "/dci/tasks/search", "{\"filter\":{}}").body())
        .contains(in)
        .doesNotContain(out);
    assertThat(
            limited("POST", "/dci/tasks/search", "{\"filter\":{\"_id\":\"" + out + "\"}}").body())
        .doesNotContain(out);
    assertThat(limited("POST", "/dci/tasks/search", "{\"filter\":{},\"count\":true}").body())
        .contains("2");
    assertThat(limited("POST", "/dci/tasks/search", "{\"filter\":{\"queue\":\"other\"}}").body())
        .contains("there is no queue other");
    assertThat(limited("POST", "/dci/search-tasks-json", "{\"filter\":{}}").body())
        .doesNotContain(out);
    JsonNode waited =
        json(
            limited(
                "POST",
                "/dci/tasks/wait",
                "{\"ids\":[\"" + in + "\",\"" + out + "\"],\"timeout\":0}"));
    assertThat(waited.path("tasks").path(in).asInt()).isEqualTo(-2);
    assertThat(waited.path("tasks").path(out).isNull()).isTrue();
    assertThat(limited("GET", "/dci/events?queue=other", "").body()).contains("queue not found");
    assertThat(server.get("/dci/tasks/id/" + out).body()).contains("\"status\":-2");
  }

  private String node(String parent, String type) throws IOException, InterruptedException {
    return json(server.post(
            "/v1/nodes",
            "[{\"metadata\":{\"type\":\"%s\",\"parent\":\"%s\"},\"data\":%s}]"
                .formatted(
                    type,
                    parent,
                    // It never ends, so that nodes can be added below it.
                    type.equals("wait for") ? "{\"time\":\"2999-01-01T00:00:00Z\"}" : "{}")))
        .path(0)
        .path("id")
        .asString();
  }

  @Test
  void of_the_graph_only_the_named_nodes_and_those_below_are_seen_and_changed() throws Exception {
    String top = node("root", "wait for");
    String below = node(top, "group");
    String deep = node(below, "group");
    String other = node("root", "wait for");
    String key =
        json(server.post(
                "/access/principals",
                """
                {"name": "dora", "roles": ["operator"], "key": {}, "reach": {"graph": ["%s"]}}
                """
                    .formatted(top)))
            .path("key")
            .path("key")
            .asString();
    assertThat(json(as(key, "GET", "/v1/nodes", "")))
        .extracting(node -> node.path("id").asString())
        .containsExactly(top, below, deep);
    assertThat(json(as(key, "GET", "/v1/nodes?below=" + below, ""))).hasSize(2);
    assertThat(as(key, "GET", "/v1/nodes?below=" + other, "").statusCode()).isEqualTo(404);
    assertThat(as(key, "GET", "/v1/events?below=" + other, "").statusCode()).isEqualTo(404);
    for (String[] request :
        new String[][] {
          {"GET", "", ""},
          {"GET", "/data", ""},
          {"GET", "/data/note", ""},
          {"PUT", "/data/note", "{\"value\":1}"},
          {"PATCH", "", "{\"name\":\"x\"}"},
          {"POST", "/retry", ""},
          {"DELETE", "", ""}
        }) {
      String path = "/v1/nodes/" + other + request[1];
      assertThat(as(key, request[0], path, request[2]).statusCode())
          .as("%s %s", request[0], path)
          .isEqualTo(404);
    }
    assertThat(as(key, "PUT", "/v1/scheduler/kill?id=" + other, "").statusCode()).isEqualTo(404);
    assertThat(as(key, "GET", "/v1/scheduler/wait?timeout=0&id=" + other, "").statusCode())
        .isEqualTo(404);
    assertThat(as(key, "GET", "/v1/running", "").statusCode()).isEqualTo(200);

    String add = "[{\"metadata\":{\"type\":\"%s\",\"parent\":\"%s\"}}]";
    assertThat(as(key, "POST", "/v1/nodes", add.formatted("group", deep)).statusCode())
        .isEqualTo(201);
    assertThat(as(key, "POST", "/v1/nodes", add.formatted("group", other)).statusCode())
        .isEqualTo(403);
    assertThat(as(key, "POST", "/v1/nodes", add.formatted("group", "root")).statusCode())
        .isEqualTo(403);
    assertThat(as(key, "POST", "/v1/nodes", add.formatted("queue task", deep)).statusCode())
        .isEqualTo(403);
    assertThat(as(key, "POST", "/v1/nodes", add.formatted("job", deep)).statusCode())
        .isEqualTo(403);
    assertThat(as(key, "PATCH", "/v1/nodes/" + top, "{\"name\":\"mine\"}").statusCode())
        .isEqualTo(200);
    assertThat(
            as(key, "PATCH", "/v1/nodes/" + below, "{\"parent\":\"" + other + "\"}").statusCode())
        .isEqualTo(403);
    assertThat(as(key, "PUT", "/v1/nodes/" + below + "/data/note", "{\"value\":1}").statusCode())
        .isEqualTo(200);
    assertThat(limited("GET", "/v1/nodes", "").statusCode()).isEqualTo(403);
    assertThat(server.get("/v1/nodes/" + other).statusCode()).isEqualTo(200);
  }

  @Test
  void of_the_blobs_only_those_in_reach_are_seen_and_changed() throws Exception {
    for (String name : List.of("mail-1", "image-1")) {
      assertThat(server.send("PUT", "/blobs/" + name, "content").statusCode()).isEqualTo(201);
    }
    assertThat(limited("GET", "/blobs", "").body()).contains("mail-1").doesNotContain("image-1");
    assertThat(limited("GET", "/blobs/mail-1", "").body()).isEqualTo("content");
    for (String method : List.of("GET", "HEAD", "DELETE")) {
      assertThat(status(method, "/blobs/image-1", "")).as(method).isEqualTo(404);
    }
    assertThat(status("PUT", "/blobs/image-2", "x")).isEqualTo(403);
    assertThat(status("PUT", "/blobs/mail-2", "x")).isEqualTo(201);
    assertThat(status("DELETE", "/blobs/mail-1", "")).isEqualTo(204);
    assertThat(server.get("/blobs").body()).contains("image-1").doesNotContain("image-2", "mail-1");
    String entries = limited("GET", "/audit?action=blob.delete", "").body();
    while (!entries.contains("mail-1")) {
      // It is written within a second.
      LockSupport.parkNanos(5_000_000);
      entries = limited("GET", "/audit?action=blob.delete", "").body();
    }
    assertThat(entries).doesNotContain("image");
  }

  @Test
  void of_the_cluster_locks_partitions_and_reports_in_reach_are_seen() throws Exception {
    for (String name : List.of("mail", "image")) {
      server.post(
          "/store/update",
          """
          {"clientid": 1, "puts": [
            {"collection": "cluster", "key": "lock/%1$s", "body": "{\\"holder\\":\\"a\\",\\"expire\\":1,\\"fence\\":1}"},
            {"collection": "cluster", "key": "semaphore/%1$s/1", "body": "{\\"holder\\":\\"b\\",\\"expire\\":1,\\"fence\\":1}"},
            {"collection": "cluster", "key": "status/%1$s/a", "body": "{\\"time\\":1000,\\"text\\":\\"half\\"}"}]}
          """
              .formatted(name));
    }
    assertThat(limited("GET", "/cluster/locks", "").body())
        .contains("lock/mail", "semaphore/mail/1")
        .doesNotContain("image");
    assertThat(limited("GET", "/cluster/status", "").body())
        .contains("mail")
        .doesNotContain("image");
    assertThat(limited("GET", "/cluster", "").body()).contains("members").doesNotContain("image");
    assertThat(server.get("/cluster/locks").body()).contains("image");
    String other =
        json(server.post(
                "/access/principals",
                """
                {"name": "cy", "roles": ["viewer"], "key": {}, "reach": {"queues": ["mail"]}}
                """))
            .path("key")
            .path("key")
            .asString();
    for (String part :
        List.of("", "/leader", "/members", "/locks", "/partitions", "/status", "/events")) {
      assertThat(as(other, "GET", "/cluster" + part, "").statusCode()).as(part).isEqualTo(403);
    }
    assertThat(as(other, "GET", "/blobs", "").body()).isEqualTo("{\"blobs\":[]}");
  }
}
