package io.millrace.server.shards;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.http.json.Json;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Queue;
import io.millrace.queues.Status;
import io.millrace.queues.registry.Queues;
import io.millrace.server.MillraceServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Three servers that are asked as one for what concerns all shards. */
final class AllShardsTest extends SeparateServers {
  private static final int SHARDS = 3;
  private static final int TASKS = 90;

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

  /** Three servers, in each of which something else is, and one in front of them. */
  @BeforeEach
  void fill() throws IOException, InterruptedException {
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
    front();
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
    front(new Led(addresses.getFirst()));
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
      LockSupport.parkNanos(5_000_000);
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
    front(new Led(addresses.getFirst()), new Led(null), new Led(broken("")));
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
}
