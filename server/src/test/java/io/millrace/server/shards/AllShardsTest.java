package io.millrace.server.shards;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.millrace.http.AccessCheck;
import io.millrace.http.Caller;
import io.millrace.http.ErrorResponses;
import io.millrace.http.HttpLimits;
import io.millrace.http.HttpServer;
import io.millrace.http.Routes;
import io.millrace.http.json.Json;
import io.millrace.http.message.Response;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Queue;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import io.millrace.server.security.ProxySettings;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.StandbyStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Servers with systems of their own as shards of one. Apostrophes stand for quotation marks. */
class AllShardsTest {
  private static final int SHARDS = 3;
  private static final int TASKS = 90;
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final String[] PAGE = {
    "Sec-Fetch-Mode", "cors", "Content-Type", "application/json"
  };

  @TempDir private Path root;
  private final HttpClient http = HttpClient.newHttpClient();
  private final List<MillraceServer> servers = new ArrayList<>();
  private final List<String> addresses = new ArrayList<>();
  private final List<AutoCloseable> open = new CopyOnWriteArrayList<>();
  private String front = "";
  private final AtomicInteger pauses = new AtomicInteger();

  /** What happens while a request looks for a leader for the n-th time. */
  private IntConsumer onPause = _ -> {};

  /** The connections to servers that answer with a fixed text. */
  private final AtomicInteger connections = new AtomicInteger();

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open.reversed()) {
      each.close();
    }
    http.close();
  }

  /** A shard that a server at some address leads, or none. */
  private record Led(@Nullable String leader) implements ShardedStore.Shard {
    @Override
    public @Nullable EmbeddedTaskStore led() {
      return null;
    }

    @Override
    public @Nullable StandbyStore following() {
      return null;
    }

    @Override
    public boolean handOver(String to) {
      return false;
    }
  }

  private MillraceServer server(String... more) {
    Map<String, String> flags =
        new HashMap<>(
            Map.of(
                "server.port",
                "0",
                "store.data",
                root.resolve("server-" + servers.size()).toString(),
                "jobs.types.parse.description",
                "first",
                "jobs.types.print.settings",
                "attempts=5",
                "jobs.batch-size",
                "3"));
    for (int i = 0; i < more.length; i += 2) {
      flags.put(more[i], more[i + 1]);
    }
    MillraceServer server =
        MillraceServer.start(Configuration.read(MillraceServer.SECTIONS, null, flags));
    servers.add(server);
    addresses.add("http://127.0.0.1:" + server.port());
    open.add(server);
    return server;
  }

  /** A shard whose leader changes. */
  private static final class Moving implements ShardedStore.Shard {
    private volatile @Nullable String leader;

    Moving(@Nullable String leader) {
      this.leader = leader;
    }

    @Override
    public @Nullable String leader() {
      return leader;
    }

    @Override
    public @Nullable EmbeddedTaskStore led() {
      return null;
    }

    @Override
    public @Nullable StandbyStore following() {
      return null;
    }

    @Override
    public boolean handOver(String to) {
      return false;
    }
  }

  private ShardRequests requests(List<? extends ShardedStore.Shard> shards) {
    LeaderRequests.Sending sending =
        new LeaderRequests.Sending(
            http, ProxySettings.NONE, () -> onPause.accept(pauses.incrementAndGet()));
    return new ShardRequests(new LeaderRequests(sending, shards, () -> null, _ -> ""));
  }

  /** A server that asks these leaders of shards for what concerns all of them. */
  private void front(
      Duration patience, AccessCheck access, List<? extends ShardedStore.Shard> shards) {
    AllShards all = new AllShards(requests(shards), patience);
    Routes routes = new Routes(new SimpleMeterRegistry());
    routes.addAll(
        servers.getFirst().routes().stream()
            .filter(route -> AllShards.all().contains(route.method() + " " + route.path()))
            .map(route ->
                route.withHandler(request -> all.answer(request, route.method(), route.path())))
            .toList());
    serve(access, routes);
  }

  private void serve(AccessCheck access, Routes routes) {
    HttpServer started =
        HttpServer.start(
            InetAddress.getLoopbackAddress(),
            0,
            HttpLimits.DEFAULT,
            access,
            routes,
            new ErrorResponses());
    open.add(started::stop);
    front = "http://127.0.0.1:" + started.port();
  }

  /** A server that passes requests of pages on to the leader of a shard. */
  private void relay(ShardedStore.Shard shard) {
    PageRelay relay =
        new PageRelay(requests(List.of(shard)), 0, AccessCheck.OPEN, _ -> Response.nothing());
    serve(AccessCheck.OPEN, new Routes(new SimpleMeterRegistry(), relay));
  }

  private void front() {
    front(PATIENCE, AccessCheck.OPEN, addresses.stream().map(Led::new).toList());
  }

  private HttpResponse<String> send(
      String address, String method, String target, String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(address + target))
            .method(method, BodyPublishers.ofString(body.replace('\'', '"')));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return http.send(request.build(), BodyHandlers.ofString());
  }

  private static JsonNode json(HttpResponse<String> response) {
    return Json.read(response.body().getBytes(StandardCharsets.UTF_8));
  }

  private JsonNode ok(String address, String method, String target, String body, String... headers)
      throws IOException, InterruptedException {
    HttpResponse<String> response = send(address, method, target, body, headers);
    assertThat(response.statusCode()).as(target + ": " + response.body()).isBetween(200, 299);
    return json(response);
  }

  private JsonNode all(String target) throws IOException, InterruptedException {
    return ok(front, "GET", target, "");
  }

  private List<JsonNode> ofEach(String target) throws IOException, InterruptedException {
    List<JsonNode> answers = new ArrayList<>();
    for (String address : addresses) {
      answers.add(ok(address, "GET", target, ""));
    }
    return answers;
  }

  private JsonNode search(String address, String body) throws IOException, InterruptedException {
    return ok(address, "POST", "/dci/tasks/search", body, "Content-Type", "application/json");
  }

  private static List<String> texts(JsonNode list, String field) {
    return list.valueStream().map(each -> each.required(field).asString()).toList();
  }

  private static String field(String name, String value) {
    return "--edge\r\nContent-Disposition: form-data; name='%s'\r\n\r\n%s\r\n"
        .formatted(name, value);
  }

  /** Three servers, in each of which something else is. */
  private void fill() throws IOException, InterruptedException {
    for (int shard = 0; shard < SHARDS; shard++) {
      MillraceServer server = server();
      String address = addresses.getLast();
      Queues queues = Queues.in(server.store(), Clock.systemUTC(), new Random(shard));
      Queue queue = queues.queues().create("queue-" + shard, "own", Queue.Settings.DEFAULTS);
      int first = shard;
      var _ =
          queues
              .submission()
              .submit(
                  queue,
                  IntStream.range(0, TASKS)
                      .mapToObj(i -> Json.object().put("n", i * SHARDS + first).put("even", i % 2))
                      .toList(),
                  Status.QUEUED);
      NodeIdentity presence = new NodeIdentity("i", "host-" + shard, "1 m", List.of("own"));
      assertThat(queues.nodes().take("both", null, presence)).isPresent();
      queues.nodes().leave(queues.nodes().take("node-" + shard, null, presence).orElseThrow(), "i");
      for (int i = 0; i <= 4 * shard; i++) {
        ok(
            address,
            "POST",
            "/api/jobs/submit/" + (shard == 1 ? "print" : "parse"),
            field("Key", "key-%d-%d".formatted(shard, i))
                + field("Priority", "batch")
                + field("Payload", "x")
                + "--edge--\r\n",
            "Content-Type",
            "multipart/form-data; boundary=edge");
        ok(
            address,
            "PUT",
            "/schedules/at-%d-%d".formatted(i, shard),
            "{'times': [{'cron': '30 2 1 1 *'}], 'target': {'queue': 'queue-%d', 'params': {'a': 1}}}"
                .formatted(shard));
        ok(
            address,
            "POST",
            "/bulk",
            "{'kind': 'tasks', 'action': 'block', 'filter': {'queue': 'queue-%d', 'params.n': -1}}"
                .formatted(shard));
        ok(
            address,
            "POST",
            "/v1/nodes?delay=1h",
            "[{'metadata': {'type': 'shell command', 'parent': 'root', 'name': 'node-%d-%d'}, 'data': {'command': 'true'}}]"
                .formatted(shard, i));
      }
      ok(address, "PUT", "/limits/limit-" + shard, "{'running': 3}");
    }
  }

  private static final List<String> TARGETS =
      List.of(
          "/dci/nodes",
          "/dci/nodes/both",
          "/dci/config",
          "/dci/config?node=both",
          "/dci/plugins",
          "/dci/plugins/shell",
          "/dci/queues",
          "/dci/scheduler-json",
          "/dci/queue-prototypes-json",
          "/api/types",
          "/api/jobs",
          "/api/jobs?order=newest&limit=1",
          "/api/jobs?type=parse&status=pending",
          "/api/jobs?after=key-0-0",
          "/api/batches",
          "/api/batches?limit=1",
          "/api/batches/1",
          "/api/batches/1/jobs",
          "/api/batches/1/wait?timeout=0",
          "/api/workers",
          "/v1/nodes",
          "/v1/nodes?start=&metadata=name,state",
          "/v1/running",
          "/schedules",
          "/schedules?prefix=at-0&limit=1",
          "/bulk",
          "/bulk?limit=1",
          "/limits",
          "/archive/tasks",
          "/archive/jobs?order=oldest&limit=1",
          "/archive/graphs",
          "/retention/jobs");

  private static final List<String> SEARCHES =
      List.of(
          "{}",
          "{'count': true}",
          "{'count': true, 'archived': true, 'filter': {'params.even': 1}}",
          "{'filter': {'params.n': {'$gt': 20}}, 'options': {'limit': 5, 'skip': 7}}",
          "{'options': {'sort': {'params.even': -1, 'params.n': -1}, 'projection': {'_id': 0,"
              + " 'params.n': 1}}}",
          "{'options': {'sort': {'params.n': 1}, 'projection': {'params': 0, 'ctime': 0}, 'limit':"
              + " 3}}",
          "{'options': {'sort': {'_id': -1}, 'projection': {'status': 1}}, 'pretty': true}",
          "{'options': {'projection': {'_id': 1}}, 'terse': false}");

  @Test
  void one_shard_alone_is_answered_for_as_it_answers_itself() throws Exception {
    fill();
    front(PATIENCE, AccessCheck.OPEN, List.of(new Led(addresses.getFirst())));
    for (String target : TARGETS) {
      HttpResponse<String> merged = send(front, "GET", target, "");
      HttpResponse<String> own = send(addresses.getFirst(), "GET", target, "");
      assertThat(merged.statusCode()).as(target).isEqualTo(own.statusCode());
      assertThat(withoutViews(merged.body())).as(target).isEqualTo(withoutViews(own.body()));
      assertThat(merged.headers().firstValue("Content-Type"))
          .isEqualTo(own.headers().firstValue("Content-Type"));
    }
    for (String search : SEARCHES) {
      String target = "/dci/tasks/search";
      assertThat(send(front, "POST", target, search).body())
          .as(search)
          .isEqualTo(send(addresses.getFirst(), "POST", target, search).body());
    }
    for (String search :
        List.of("{}", "{'limit': '3', 'skip': 2}", "{'count': 1}", "{'limit': -1}")) {
      String target = "/dci/search-tasks-json";
      assertThat(send(front, "POST", target, search).body())
          .as(search)
          .isEqualTo(send(addresses.getFirst(), "POST", target, search).body());
    }
    assertThat(send(front, "POST", "/dci/queue-prototypes-json", "").body())
        .isEqualTo(send(addresses.getFirst(), "POST", "/dci/queue-prototypes-json", "").body());
  }

  /** The text without pids, which are drawn at random. */
  private static String withoutViews(String body) {
    return body.replaceAll("\"pid\":\"[^\"]*\"", "");
  }

  @Test
  void lists_have_what_all_shards_have() throws Exception {
    fill();
    front();
    assertThat(texts(all("/dci/queues"), "name"))
        .containsExactlyInAnyOrder("queue-0", "queue-1", "queue-2");
    assertThat(texts(all("/dci/queues"), "id")).isSorted();
    assertThat(texts(all("/dci/nodes"), "node"))
        .containsExactly("both", "node-0", "node-1", "node-2");
    assertThat(all("/dci/nodes/node-2").required("state").asString()).isEqualTo("left");
    String ofThird = ofEach("/dci/nodes/both").get(2).required("id").asString();
    assertThat(all("/dci/nodes/" + ofThird)).isEqualTo(all("/dci/nodes/both"));
    assertThat(all("/api/types").get(0).required("jobs").required("pending").asInt())
        .isEqualTo(1 + 9);
    assertThat(all("/api/types").get(1).required("jobs").required("pending").asInt()).isEqualTo(5);
    assertThat(texts(all("/limits").required("limits"), "name"))
        .containsExactly("limit-0", "limit-1", "limit-2");
    assertThat(all("/v1/nodes")).hasSize(1 + 5 + 9);
    assertThat(all("/api/batches")).hasSize(1 + 2 + 3);
    assertThat(all("/api/batches/3/jobs"))
        .isEqualTo(ok(addresses.get(2), "GET", "/api/batches/3/jobs", ""));
    // The newest sample of a shard may be of a moment ago.
    while (waitingTasks() != SHARDS * TASKS) {
      Thread.onSpinWait();
    }
    HttpResponse<String> several = send(front, "GET", "/api/batches/1", "");
    assertThat(several.statusCode()).isEqualTo(400);
    assertThat(several.body()).contains("3 shards have one with this id; name one shard");
  }

  private int waitingTasks() throws Exception {
    JsonNode waiting = all("/history").required("tasks").required("waiting");
    return waiting.valueStream().toList().getLast().asInt();
  }

  @Test
  void pages_to_the_end_have_each_element_once_and_in_order() throws Exception {
    fill();
    front();
    List<String> jobs =
        ofEach("/api/jobs").stream().flatMap(list -> texts(list, "id").stream()).sorted().toList();
    for (String order : List.of("oldest", "newest")) {
      List<String> seen = new ArrayList<>();
      List<String> page;
      do {
        String after = seen.isEmpty() ? "" : "&after=" + seen.getLast();
        page = texts(all("/api/jobs?limit=2&order=" + order + after), "id");
        seen.addAll(page);
      } while (page.size() == 2);
      assertThat(seen).isEqualTo(order.equals("oldest") ? jobs : jobs.reversed());
    }
    for (Map.Entry<String, String> list : Map.of("schedules", "name", "bulk", "id").entrySet()) {
      String field = list.getKey().equals("bulk") ? "actions" : list.getKey();
      List<String> seen = new ArrayList<>();
      String after = "";
      do {
        JsonNode page = all("/" + list.getKey() + "?limit=4" + after);
        seen.addAll(texts(page.required(field), list.getValue()));
        after = page.required("next").isNull() ? "" : "&after=" + page.required("next").asString();
      } while (!after.isEmpty());
      Comparator<String> order = Comparator.naturalOrder();
      assertThat(seen)
          .hasSize(1 + 5 + 9)
          .doesNotHaveDuplicates()
          .isSortedAccordingTo(field.equals("actions") ? order.reversed() : order);
    }
    assertThat(texts(all("/api/jobs?after=key-1-2"), "id"))
        .isEqualTo(jobs.stream().filter(id -> id.compareTo(idOfKey("key-1-2")) > 0).toList());
  }

  private String idOfKey(String key) {
    try {
      return ok(addresses.get(1), "GET", "/api/jobs/" + key, "").required("id").asString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void searches_are_those_of_one_store() throws Exception {
    fill();
    front();
    assertThat(search(front, "{'count': true}").required("count").asInt())
        .isEqualTo(SHARDS * TASKS);
    String counted = "{'count': true, 'archived': true, 'filter': {'params.even': 1}}";
    assertThat(search(front, counted).required("count").asInt()).isEqualTo(SHARDS * TASKS / 2);
    for (int direction : new int[] {1, -1}) {
      List<Integer> seen = new ArrayList<>();
      for (int skip = 0; skip < SHARDS * TASKS; skip += 7) {
        JsonNode page =
            search(
                front,
                "{'options': {'sort': {'params.n': %d}, 'skip': %d, 'limit': 7, 'projection': {'params.n': 1, '_id': 0}}}"
                    .formatted(direction, skip));
        assertThat(page.get(0).propertyNames()).containsExactly("params");
        page.forEach(task -> seen.add(task.required("params").required("n").asInt()));
      }
      List<Integer> numbers = IntStream.range(0, SHARDS * TASKS).boxed().toList();
      assertThat(seen).isEqualTo(direction > 0 ? numbers : numbers.reversed());
    }
    List<String> ids = new ArrayList<>();
    for (int skip = 0; skip < SHARDS * TASKS; skip += 100) {
      JsonNode page = search(front, "{'options': {'skip': %d}}".formatted(skip));
      page.forEach(task -> ids.add(task.required("_id").required("$oid").asString()));
    }
    assertThat(ids).hasSize(SHARDS * TASKS).doesNotHaveDuplicates().isSorted();
    HttpResponse<String> form =
        send(
            front,
            "POST",
            "/dci/search-tasks-json",
            "count=1&filter=%7B%22params.n%22%3A5%7D",
            "Content-Type",
            "application/x-www-form-urlencoded");
    assertThat(form.body()).isEqualTo("[1,1]");
    for (String refused :
        List.of(
            "{'options': {'sort': {'stdout': 1}}}",
            "{'options': {'limit': 101}}",
            "{'options': {'sort': 7}}",
            "{'filter': 1}",
            "{'limit': 7}",
            "nonsense")) {
      HttpResponse<String> answer = send(front, "POST", "/dci/tasks/search", refused);
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
    }
  }

  @Test
  void errors_of_the_client_are_passed_on() throws Exception {
    fill();
    front();
    for (String target :
        List.of(
            "/api/jobs?limit=x",
            "/api/jobs?after=nothing",
            "/schedules?limit=0",
            "/schedules?unknown=1",
            "/api/batches/99",
            "/api/workers/nobody",
            "/dci/nodes/nobody",
            "/dci/nodes/0123456789abcdef01234567",
            "/dci/config?node=0123456789abcdef01234567",
            "/dci/plugins/nothing",
            "/archive/jobs?status=x",
            "/v1/nodes?state=x",
            "/history?minutes=0")) {
      HttpResponse<String> merged = send(front, "GET", target, "");
      HttpResponse<String> own = send(addresses.getFirst(), "GET", target, "");
      assertThat(own.statusCode()).as(target).isBetween(400, 499);
      assertThat(merged.statusCode()).as(target).isEqualTo(own.statusCode());
      assertThat(merged.body()).as(target).isEqualTo(own.body());
      assertThat(merged.headers().firstValue("Content-Type"))
          .isEqualTo(own.headers().firstValue("Content-Type"));
    }
    HttpResponse<String> newer = send(front, "GET", "/v1/nodes?new=1&timeout=1", "");
    assertThat(newer.statusCode()).isEqualTo(400);
    assertThat(newer.body()).contains("name one shard");
  }

  @Test
  void changes_of_nodes_and_of_the_configuration_are_made_in_all_shards() throws Exception {
    fill();
    front();
    JsonNode changed = ok(front, "POST", "/dci/nodes/both", "{'maxthreads': 5}");
    assertThat(changed.at("/MongoDB::UpdateResult/modified_count").asInt()).isEqualTo(1);
    for (JsonNode node : ofEach("/dci/nodes/both")) {
      assertThat(node.required("maxthreads").asInt()).isEqualTo(5);
    }
    String id = ofEach("/dci/nodes/both").get(1).required("id").asString();
    JsonNode unset =
        ok(
            front,
            "POST",
            "/dci/nodes/" + id,
            "maxthreads=",
            "Content-Type",
            "application/x-www-form-urlencoded");
    assertThat(unset.at("/MongoDB::UpdateResult/modified_count").asInt()).isEqualTo(1);
    for (JsonNode node : ofEach("/dci/nodes/both")) {
      assertThat(node.required("maxthreads").isNull()).isTrue();
    }
    ok(front, "POST", "/dci/config?node=" + id, "{'label': 'x'}");
    for (JsonNode config : ofEach("/dci/config?node=both")) {
      assertThat(config.toString()).isEqualTo("{\"label\":\"x\"}");
    }
    assertThat(all("/dci/config?node=both").toString()).isEqualTo("{\"label\":\"x\"}");
    HttpResponse<String> byId =
        send(front, "POST", "/dci/config", "{'label': 'x', 'node': '%s'}".formatted(id));
    assertThat(byId.statusCode()).isEqualTo(400);
    HttpResponse<String> alive = send(front, "DELETE", "/dci/nodes/both", "");
    assertThat(alive.statusCode()).isEqualTo(400);
    assertThat(alive.body()).contains("is alive");
    JsonNode deleted = ok(front, "DELETE", "/dci/nodes/node-1", "");
    assertThat(deleted.at("/MongoDB::DeleteResult/deleted_count").asInt()).isEqualTo(1);
    assertThat(texts(all("/dci/nodes"), "node")).containsExactly("both", "node-0", "node-2");
    HttpResponse<String> again = send(front, "DELETE", "/dci/nodes/node-1", "");
    assertThat(again.body())
        .isEqualTo(send(addresses.getFirst(), "DELETE", "/dci/nodes/node-1", "").body());
  }

  @Test
  void a_change_says_which_shards_have_made_it() throws Exception {
    fill();
    front();
    HttpResponse<String> one = send(front, "POST", "/dci/nodes/node-1", "{'maxthreads': 5}");
    assertThat(one.statusCode()).isEqualTo(400);
    assertThat(one.body())
        .isEqualTo(
            "{\"error\":\"shard 2: node not found; make the change again\",\"changed\":[1],"
                + "\"unchanged\":[0,2],\"unknown\":[]}");
    HttpResponse<String> wrong = send(front, "POST", "/dci/nodes/both", "{'maxthreads': -1}");
    assertThat(wrong.body())
        .isEqualTo(
            send(addresses.getFirst(), "POST", "/dci/nodes/both", "{'maxthreads': -1}").body());
    front(
        PATIENCE,
        AccessCheck.OPEN,
        List.of(new Led(addresses.getFirst()), new Led(null), new Led(broken(""))));
    HttpResponse<String> part = send(front, "POST", "/dci/config", "{'label': 'x'}");
    assertThat(part.statusCode()).isEqualTo(503);
    assertThat(part.headers().firstValue("Retry-After")).hasValue("1");
    assertThat(part.body())
        .contains("\"changed\":[0],\"unchanged\":[1],\"unknown\":[2]")
        .contains("shard 2");
    front();
    HttpResponse<String> differing = send(front, "GET", "/dci/config", "");
    assertThat(differing.statusCode()).isEqualTo(409);
    ok(front, "POST", "/dci/config", "{'label': 'x'}");
    assertThat(all("/dci/config").toString()).isEqualTo("{\"label\":\"x\"}");
  }

  // ---- leaders in trouble

  /** The address of a server that answers each connection with this text, and closes it. */
  private String broken(String answer) throws IOException {
    ServerSocket listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    open.add(listener);
    Thread.ofVirtual()
        .start(() -> {
          try {
            while (true) {
              try (Socket socket = listener.accept()) {
                connections.incrementAndGet();
                byte[] _ = socket.getInputStream().readNBytes(20);
                socket.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
              }
            }
          } catch (IOException _) {
            // Closed at the end of the test.
          }
        });
    return "http://127.0.0.1:" + listener.getLocalPort();
  }

  private static String answer(String status, String body) {
    return "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s".formatted(status, body.length(), body);
  }

  private HttpResponse<String> with(String other, String target) throws Exception {
    server();
    front(PATIENCE, AccessCheck.OPEN, List.of(new Led(addresses.getFirst()), new Led(other)));
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
    front(PATIENCE, AccessCheck.OPEN, List.of(new Led(addresses.getFirst()), new Led(null)));
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
      Moving moving = new Moving(before);
      onPause = pause -> moving.leader = pause == 7 ? first : moving.leader;
      pauses.set(0);
      front(PATIENCE, AccessCheck.OPEN, List.of(new Led(first), moving));
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
    Moving moving = new Moving(broken(""));
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
