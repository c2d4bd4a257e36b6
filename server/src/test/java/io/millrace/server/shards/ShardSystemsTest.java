package io.millrace.server.shards;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.server.MillraceServer;
import io.millrace.store.Bytes;
import io.millrace.store.Owner;
import io.millrace.store.Transaction;
import io.millrace.wire.Placement;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The systems of each shard, below {@code /shards/3}, at two servers. */
class ShardSystemsTest {
  private static final String[] FORM = {"Content-Type", "application/x-www-form-urlencoded"};

  private static final String[] JSON = {"Content-Type", "application/json"};
  private static final String MULTIPART_BODY =
      """
      --x\r
      Content-Disposition: form-data; name="Payload"\r
      \r
      it\r
      --x\r
      Content-Disposition: form-data; name="Priority"\r
      \r
      batch\r
      --x--\r
      """;

  private static final Placement PLACEMENT = new Placement(ShardServers.SHARDS);

  private static final List<String> TYPES_BY_SHARD =
      IntStream.range(0, ShardServers.SHARDS).mapToObj(shard -> name("type", shard)).toList();
  private static final String[] TYPES =
      TYPES_BY_SHARD.stream()
          .flatMap(type -> Stream.of("jobs.types." + type + ".description", "of a test"))
          .toArray(String[]::new);

  private final HttpClient http = HttpClient.newHttpClient();
  @TempDir private Path root;
  private ShardServers servers;

  @BeforeEach
  void open() {
    servers = new ShardServers(root);
  }

  @AfterEach
  void close() {
    http.close();
    servers.close();
  }

  /** A name that begins so and belongs to a shard. */
  private static String name(String begin, int shard) {
    return IntStream.iterate(0, i -> i + 1)
        .mapToObj(i -> begin + i)
        .filter(name -> PLACEMENT.ofItem(name) == shard)
        .findFirst()
        .orElseThrow();
  }

  /** The answer of whoever leads the shard; a lead that is only beginning is waited for. */
  private HttpResponse<String> follow(
      MillraceServer server, String method, String path, String body, String... headers)
      throws Exception {
    HttpResponse<String> response = servers.send(server, method, path, body, headers);
    while (response.statusCode() == 307) {
      String location = response.headers().firstValue("Location").orElseThrow();
      MillraceServer leader =
          servers.all().stream()
              .filter(each -> location.equals(ShardServers.address(each) + path))
              .findFirst()
              .orElseThrow();
      response = servers.send(leader, method, path, body, headers);
    }
    return response;
  }

  private JsonNode get(MillraceServer server, String path) throws Exception {
    HttpResponse<String> response = follow(server, "GET", path, "");
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JsonMapper.shared().readTree(response.body());
  }

  private JsonNode post(MillraceServer server, String path, String body, String... headers)
      throws Exception {
    HttpResponse<String> response = follow(server, "POST", path, body, headers);
    assertThat(response.statusCode()).as(response.body()).isBetween(200, 202);
    return JsonMapper.shared().readTree(response.body());
  }

  private static String queue(String name) {
    return "name=" + name + "&plugin=exec&threads=1";
  }

  @Test
  void each_shard_has_systems_of_its_own_at_every_server() throws Exception {
    MillraceServer first = servers.first();
    MillraceServer second = servers.serve();
    servers.awaitLeads(2, 2);
    for (int shard = 0; shard < ShardServers.SHARDS; shard++) {
      String at = "/shards/" + shard;
      JsonNode queue = post(first, at + "/dci/queues", queue(name("mail", shard)), FORM);
      String id = queue.path("id").path("$oid").asString();
      assertThat(Long.parseLong(id, 8, 18, 16) % ShardServers.SHARDS).isEqualTo(shard);
      JsonNode node =
          post(
              second,
              at + "/v1/nodes",
              "[{\"metadata\": {\"type\": \"group\", \"parent\": \"root\"}, \"data\": {}}]");
      String text = node.toString();
      long nodeId = Long.parseLong(text.replaceAll("\\D*(\\d+).*", "$1"));
      assertThat(nodeId >> 48).isEqualTo(shard);
    }
    for (MillraceServer server : servers.all()) {
      for (int shard = 0; shard < ShardServers.SHARDS; shard++) {
        String at = "/shards/" + shard;
        assertThat(get(server, at + "/dci/queues")).hasSize(1);
        if (shard > 0) {
          assertThat(get(server, at + "/health").path("role").asString()).isEqualTo("leader");
        }
        assertThat(follow(server, "GET", at + "/", "").body()).contains("<html");
        assertThat(follow(server, "GET", at + "/metrics", "").statusCode()).isEqualTo(200);
        // What the store has once is the same below each shard.
        assertThat(get(server, at + "/access/me").path("principal").asString())
            .isEqualTo(get(server, "/access/me").path("principal").asString());
        assertThat(get(server, at + "/shards")).hasSize(ShardServers.SHARDS);
      }
      assertThat(servers.send(server, "GET", "/shards/4/dci/queues", "").statusCode())
          .isIn(404, 307);
    }
  }

  @Test
  void a_store_below_a_shard_takes_only_what_belongs_to_it() throws Exception {
    MillraceServer first = servers.first();
    int refused = 0;
    for (int i = 0; i < 20; i++) {
      HttpResponse<String> added =
          follow(
              first,
              "POST",
              "/shards/3/store/update",
              "{\"clientid\": 7, \"adds\": [{\"group\": \"team%d/work\"}]}".formatted(i));
      if (added.statusCode() == 400) {
        refused++;
        assertThat(added.body())
            .contains("a path below /shards/3 is for that shard alone")
            .containsPattern("group team" + i + "/work in shard [012]");
      } else {
        assertThat(added.statusCode()).isEqualTo(200);
        assertThat(servers.json(first, "/store/group/team" + i + "%2Fwork")).hasSize(1);
      }
    }
    assertThat(refused).isBetween(1, 19);
    HttpResponse<String> access =
        follow(
            first,
            "POST",
            "/shards/3/store/update",
            "{\"clientid\": 7, \"puts\": [{\"collection\": \"access.keys\", \"key\": \"k\","
                + " \"body\": \"b\"}]}");
    assertThat(access.statusCode()).as(access.body()).isIn(400, 403);
    HttpResponse<String> own =
        follow(
            first,
            "POST",
            "/shards/3/store/update",
            "{\"clientid\": 7, \"puts\": [{\"collection\": \"queues.own\", \"key\": \"k\","
                + " \"body\": \"b\"}]}");
    assertThat(own.statusCode()).as(own.body()).isEqualTo(200);
  }

  @Test
  void they_move_with_the_lead() throws Exception {
    MillraceServer first = servers.first();
    String name = name("mail", 2);
    JsonNode made = post(first, "/shards/2/dci/queues", queue(name), FORM);
    MillraceServer second = servers.serve();
    servers.awaitLeads(2, 2);
    String mail = "/shards/2/dci/queues/" + name;
    assertThat(get(first, mail).path("id")).isEqualTo(made.path("id").path("$oid"));
    servers.close(first);
    servers.awaitLeads(ShardServers.SHARDS);
    assertThat(get(second, mail).path("id")).isEqualTo(made.path("id").path("$oid"));
    try (HttpTaskStore store =
        HttpTaskStore.open(
            ClientOptions.at(ShardServers.address(second) + "/shards/2")
                .withRetryFor(Duration.ofMinutes(1)))) {
      assertThat(
              store
                      .commit(
                          Transaction.by(Owner.client(7)).add("queues/own", Bytes.of("it")).build())
                      .done()
                      .tasks()
                      .getFirst()
                      .id()
                  % ShardServers.SHARDS)
          .isEqualTo(2);
    }
  }

  @Test
  void names_and_ids_at_the_root_tell_the_shard() throws Exception {
    MillraceServer first = servers.serve(TYPES);
    servers.awaitLeads(ShardServers.SHARDS);
    first.leads().get(60, TimeUnit.SECONDS);
    MillraceServer second = servers.serve(TYPES);
    servers.awaitLeads(2, 2);
    for (int shard = 0; shard < ShardServers.SHARDS; shard++) {
      String mail = name("mail", shard);
      String schedule = name("schedule", shard);
      MillraceServer server = shard % 2 == 0 ? first : second;
      post(server, "/dci/queues", queue(mail), FORM);
      JsonNode task = post(server, "/dci/tasks/" + mail, "[{\"command\": \"true\"}]", JSON);
      Matcher found = Pattern.compile("[0-9a-f]{24}").matcher(task.toString());
      assertThat(found.find()).as(task.toString()).isTrue();
      String id = found.group();
      for (MillraceServer each : servers.all()) {
        assertThat(get(each, "/dci/queues/" + mail).path("name").asString()).isEqualTo(mail);
        assertThat(get(each, "/dci/tasks/id/" + id).path("queue").toString()).isNotEmpty();
        assertThat(get(each, "/why/" + id + "?kind=task").isObject()).isTrue();
      }
      assertThat(
              follow(
                      server,
                      "PUT",
                      "/schedules/" + schedule,
                      "{\"times\": [{\"every\": \"1h\"}], \"target\": {\"queue\": \"%s\", \"params\": {}}}"
                          .formatted(mail),
                      JSON)
                  .statusCode())
          .isEqualTo(200);
      String type = TYPES_BY_SHARD.get(shard);
      String job =
          post(
                  server,
                  "/api/jobs/submit/" + type,
                  MULTIPART_BODY,
                  "Content-Type",
                  "multipart/form-data; boundary=x")
              .path("id")
              .asString();
      for (MillraceServer each : servers.all()) {
        assertThat(get(each, "/api/jobs/" + job).path("type").asString()).isEqualTo(type);
      }
      post(
          server,
          "/v1/nodes",
          "[{\"metadata\": {\"type\": \"group\", \"parent\": \"root\", \"name\": \"%s\"}, \"data\": {}}]"
              .formatted(name("graph", shard)));
    }
    for (MillraceServer each : servers.all()) {
      assertThat(get(each, "/dci/queues")).hasSize(ShardServers.SHARDS);
      assertThat(get(each, "/schedules").path("schedules")).hasSize(ShardServers.SHARDS);
      assertThat(get(each, "/api/jobs")).hasSize(ShardServers.SHARDS);
      assertThat(get(each, "/v1/nodes")).hasSize(ShardServers.SHARDS);
      assertThat(post(each, "/dci/tasks/search", "{\"filter\": {}}", JSON))
          .hasSize(ShardServers.SHARDS);
      HttpResponse<String> elsewhere =
          follow(each, "GET", "/shards/1/dci/queues/" + name("mail", 2), "");
      assertThat(elsewhere.statusCode()).isEqualTo(400);
      assertThat(elsewhere.body())
          .contains("'" + name("mail", 2) + "' is in shard 2, so not below /shards/1");
      HttpResponse<String> bulk =
          follow(
              each,
              "POST",
              "/bulk",
              "{\"kind\": \"tasks\", \"action\": \"retry\", \"filter\": {\"status\": -6}}",
              JSON);
      assertThat(bulk.statusCode()).isEqualTo(400);
      assertThat(bulk.body()).contains("name one shard");
    }
  }

  @Test
  void events_of_all_shards_are_one_stream_that_goes_on() throws Exception {
    MillraceServer first = servers.first();
    List<String> made = new ArrayList<>();
    String last;
    try (Stream<String> lines = events(first, "")) {
      Iterator<String> stream = lines.iterator();
      for (int shard = 0; shard < ShardServers.SHARDS; shard++) {
        String mail = name("mail", shard);
        made.add(mail);
        post(first, "/dci/queues", queue(mail), FORM);
      }
      last = read(stream, made);
    }
    assertThat(last.split(",", -1)).hasSize(ShardServers.SHARDS).doesNotContain("");
    // What happens while nobody listens comes first.
    List<String> later = new ArrayList<>();
    for (int shard = 0; shard < ShardServers.SHARDS; shard++) {
      String news = name("news", shard);
      later.add(news);
      post(first, "/dci/queues", queue(news), FORM);
    }
    try (Stream<String> lines = events(first, last)) {
      String _ = read(lines.iterator(), later);
    }
    assertThat(servers.send(first, "GET", "/dci/events?after=1-2", "").statusCode()).isEqualTo(400);
  }

  /** Reads until all names were seen. Returns the last id. */
  private static String read(Iterator<String> lines, List<String> names) {
    Set<String> left = new HashSet<>(names);
    String id = "";
    while (!left.isEmpty() || id.isEmpty()) {
      String line = lines.next();
      assertThat(line).doesNotStartWith("event: lost");
      left.removeIf(name -> line.contains("\"" + name + "\""));
      id = line.startsWith("id: ") ? line.substring(4) : id;
    }
    return id;
  }

  private Stream<String> events(MillraceServer server, String after) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(ShardServers.address(server) + "/dci/events"))
            .timeout(Duration.ofSeconds(60));
    if (!after.isEmpty()) {
      var _ = request.header("Last-Event-ID", after);
    }
    HttpResponse<Stream<String>> response =
        http.send(request.build(), HttpResponse.BodyHandlers.ofLines());
    assertThat(response.statusCode()).isEqualTo(200);
    return response.body();
  }

  @Test
  void pages_are_served_by_the_server_that_they_came_from() throws Exception {
    MillraceServer first = servers.first();
    MillraceServer second = servers.serve();
    servers.awaitLeads(2, 2);
    String[] page = {"Sec-Fetch-Mode", "cors", "Content-Type", FORM[1]};
    for (MillraceServer server : List.of(first, second)) {
      for (int shard = 0; shard < ShardServers.SHARDS; shard++) {
        String name = name(server.equals(first) ? "one" : "two", shard);
        HttpResponse<String> made = servers.send(server, "POST", "/dci/queues", queue(name), page);
        assertThat(made.statusCode()).as(made.body()).isEqualTo(200);
        if (shard > 0) {
          HttpResponse<String> changed =
              servers.send(server, "POST", "/dci/queues/" + name, "threads=3", page);
          assertThat(changed.statusCode()).as(changed.body()).isEqualTo(200);
          HttpResponse<String> read = servers.send(server, "GET", "/dci/queues/" + name, "", page);
          assertThat(read.statusCode()).as(read.body()).isEqualTo(200);
          assertThat(JsonMapper.shared().readTree(read.body()).path("threads").asInt())
              .isEqualTo(3);
          HttpResponse<String> below =
              servers.send(server, "GET", "/shards/" + shard + "/dci/queues", "", page);
          assertThat(below.statusCode()).as(below.body()).isEqualTo(200);
        }
      }
    }
  }

  /** The settings of servers in front of which a proxy signs people in. */
  private String[] behindProxy() throws Exception {
    Path token = Files.writeString(root.resolve("token"), "secret-of-all");
    return new String[] {
      "server.token-file", token.toString(),
      "access.proxy-header", "X-Forwarded-User",
      "access.proxy-groups-header", "X-Forwarded-Groups",
      "access.proxy-addresses", "127.0.0.1",
      "access.roles.staff.roles", "operator",
      "access.roles.readers.roles", "viewer"
    };
  }

  private static String[] with(String[] headers, String... more) {
    return Stream.of(headers, more).flatMap(Stream::of).toArray(String[]::new);
  }

  @Test
  void whom_a_proxy_has_signed_in_is_served_by_the_leaders_of_all_shards() throws Exception {
    String[] settings = behindProxy();
    String[] page = {"Sec-Fetch-Mode", "cors", FORM[0], FORM[1]};
    String[] bob = with(page, "X-Forwarded-User", "bob", "X-Forwarded-Groups", "readers");
    String[] anna = with(page, "X-Forwarded-User", "anna", "X-Forwarded-Groups", "staff");
    MillraceServer first = servers.showing(bob).serve(settings);
    servers.awaitLeads(ShardServers.SHARDS);
    first.leads().get(60, TimeUnit.SECONDS);
    MillraceServer second = servers.serve(settings);
    servers.awaitLeads(2, 2);
    for (MillraceServer server : List.of(first, second)) {
      for (int shard = 0; shard < ShardServers.SHARDS; shard++) {
        String name = name(server.equals(first) ? "one" : "two", shard);
        HttpResponse<String> made = servers.send(server, "POST", "/dci/queues", queue(name), anna);
        assertThat(made.statusCode()).as(made.body()).isEqualTo(200);
        String path = (shard == 0 ? "" : "/shards/" + shard) + "/dci/queues";
        if (shard > 0) {
          assertThat(servers.send(server, "GET", path, "", bob).statusCode()).isEqualTo(200);
          path += "/" + name;
          assertThat(servers.send(server, "POST", path, "threads=3", anna).statusCode())
              .isEqualTo(200);
          assertThat(servers.send(server, "POST", path, "threads=4", bob).statusCode())
              .isEqualTo(403);
          // The proxy names her on requests that other pages cause, too.
          HttpResponse<String> caused =
              servers.send(
                  server, "POST", path, "threads=5", with(anna, "Sec-Fetch-Site", "cross-site"));
          assertThat(caused.statusCode()).as(caused.body()).isEqualTo(403);
        }
        // Nobody else may say so.
        for (String[] others :
            new String[][] {{}, bob, {"Authorization", "Bearer secret-of-all"}}) {
          HttpResponse<String> forged =
              servers.send(
                  server,
                  "GET",
                  path,
                  "",
                  with(others, "Millrace-Relayed-For", "1764000000000.made.up.by.me"));
          assertThat(forged.statusCode()).as(forged.body()).isIn(403, 429);
        }
      }
      HttpResponse<String> all = servers.send(server, "GET", "/dci/queues", "", bob);
      assertThat(JsonMapper.shared().readTree(all.body()))
          .hasSize((servers.all().indexOf(server) + 1) * ShardServers.SHARDS);
    }
    assertThat(
            JsonMapper.shared()
                .readTree(follow(second, "GET", "/audit?action=queue.create", "", anna).body())
                .path("entries"))
        .hasSize(2 * ShardServers.SHARDS)
        .allMatch(entry -> entry.path("principal").asString().equals("proxy:anna"));
  }

  @Test
  void the_audit_log_has_the_address_of_the_client_whose_request_is_passed_on() throws Exception {
    String[] settings = with(behindProxy(), "server.behind-proxy", "127.0.0.1");
    String[] page = {
      "Authorization",
      "Bearer secret-of-all",
      "X-Forwarded-For",
      "192.0.2.7",
      "Sec-Fetch-Mode",
      "cors",
      FORM[0],
      FORM[1]
    };
    MillraceServer first = servers.showing(page).serve(settings);
    servers.awaitLeads(ShardServers.SHARDS);
    first.leads().get(60, TimeUnit.SECONDS);
    MillraceServer second = servers.serve(settings);
    servers.awaitLeads(2, 2);
    // It names 198.51.100.9, without the token.
    String made = "1764000000000." + "A".repeat(22) + ".xjNkCQ..." + "A".repeat(43);
    for (MillraceServer server : List.of(first, second)) {
      for (int shard = 0; shard < ShardServers.SHARDS; shard++) {
        String name = name(server.equals(first) ? "one" : "two", shard);
        String[] forged = with(page, "Millrace-Relayed-For", made);
        HttpResponse<String> created =
            servers.send(server, "POST", "/dci/queues", queue(name), forged);
        assertThat(created.statusCode()).as(created.body()).isEqualTo(200);
        if (shard > 0) {
          HttpResponse<String> changed =
              servers.send(server, "POST", "/dci/queues/" + name, "threads=3", forged);
          assertThat(changed.statusCode()).as(changed.body()).isEqualTo(200);
        }
      }
    }
    for (String action : List.of("queue.create", "queue.change")) {
      HttpResponse<String> log = follow(second, "GET", "/audit?action=" + action, "", page);
      assertThat(JsonMapper.shared().readTree(log.body()).path("entries"))
          .as(log.body())
          .isNotEmpty()
          .allMatch(entry -> entry.path("address").asString().equals("192.0.2.7"));
    }
  }

  @Test
  void a_page_without_valid_credentials_is_not_passed_on() throws Exception {
    MillraceServer first = servers.first();
    MillraceServer second = servers.serve("server.require-credentials", "true");
    while (servers.json(first, "/shards").toString().split("\"leader\":", -1).length != 3) {
      // It hands two shards over.
      LockSupport.parkNanos(5_000_000);
    }
    int passed = 0;
    for (int shard = 1; shard < ShardServers.SHARDS; shard++) {
      String path = "/dci/queues/" + name("mail", shard);
      if (servers.send(first, "GET", path, "").statusCode() != 307) {
        passed++;
        for (String[] header :
            new String[][] {
              {"Sec-Fetch-Mode", "cors"},
              {"Cookie", "millrace-session=none"},
              {"Cookie", "any=thing", "X-API-KEY", "none"}
            }) {
          // Where it leads, the first server would take it for a program on its machine.
          assertThat(servers.send(second, "GET", path, "", header).statusCode()).isEqualTo(401);
        }
      }
    }
    assertThat(passed).isPositive();
  }
}
