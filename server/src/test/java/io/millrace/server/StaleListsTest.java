package io.millrace.server;

import static io.millrace.server.LeaderAndStandby.POSITION;
import static io.millrace.server.LeaderAndStandby.STALENESS;
import static io.millrace.server.LeaderAndStandby.header;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs, queue tasks and nodes that a standby reads, in comparison with what the leader answers. */
class StaleListsTest {
  private static final String AGE = "stale=10s";

  @TempDir private Path root;
  private LeaderAndStandby servers;

  @BeforeEach
  void start() throws Exception {
    servers =
        new LeaderAndStandby(
            root,
            Map.of(
                "jobs.types.parse.description",
                "first",
                "jobs.types.print.settings",
                "attempts=5",
                "jobs.batch-size",
                "2",
                "blobs.data",
                root.resolve("blobs").toString()));
  }

  @AfterEach
  void close() {
    servers.close();
  }

  private String made(String path, String body, String... headers) throws Exception {
    HttpResponse<String> done = servers.send(servers.leader, "POST", path, body, headers);
    assertThat(done.statusCode()).as(done.body()).isBetween(200, 299);
    return done.body();
  }

  private static String aged(String path) {
    return path + (path.contains("?") ? "&" : "?") + AGE;
  }

  /** The standby answers as the leader does, with the same position. */
  private HttpResponse<String> assertSame(String position, String path) throws Exception {
    HttpResponse<String> ofStandby = servers.getAfter(position, aged(path));
    HttpResponse<String> ofLeader = servers.get(servers.leader, aged(path));
    assertThat(ofStandby.statusCode()).as(path).isEqualTo(ofLeader.statusCode());
    assertThat(ofStandby.body()).as(path).isEqualTo(ofLeader.body());
    if (ofStandby.statusCode() == 200) {
      assertThat(header(ofStandby, POSITION)).as(path).isEqualTo(position);
      assertThat(Long.parseLong(header(ofStandby, STALENESS))).isBetween(0L, 10_000L);
      assertThat(header(ofLeader, STALENESS)).isEqualTo("0");
    }
    assertDirected(path);
    return ofStandby;
  }

  /** The standby directs it to the leader, although it has read everything. */
  private void assertDirected(String path, String... headers) throws Exception {
    String before = servers.followed();
    HttpResponse<String> directed = servers.get(servers.standby, path, headers);
    assertThat(directed.statusCode()).as(path + " after " + before).isEqualTo(307);
    assertThat(header(directed, "Location")).endsWith(path);
  }

  /** Submits a job; returns its GUID. */
  private String submitted(String type, String key, String payload) throws Exception {
    StringBuilder form = new StringBuilder();
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("Priority", "batch");
    fields.put("Key", key);
    fields.put("Payload", payload);
    fields.forEach((name, value) ->
        form.append("--bound\r\nContent-Disposition: form-data; name=\"")
            .append(name)
            .append("\"\r\n\r\n")
            .append(value)
            .append("\r\n"));
    return made(
            "/api/jobs/submit/" + type,
            form.append("--bound--\r\n").toString(),
            "Content-Type",
            "multipart/form-data; boundary=bound")
        .replaceAll("(?s).*?\"id\": ?\"([^\"]*)\".*", "$1");
  }

  @Test
  void jobs_batches_and_types_are_read_at_a_standby_as_at_the_leader() throws Exception {
    String first = submitted("parse", "one", "payload");
    var _ = submitted("parse", "two", "payload");
    var _ = submitted("parse", "three", "payload");
    var _ = submitted("print", "four", "payload");
    assertThat(
            servers
                .send(servers.leader, "PUT", "/api/types/print", "{\"running\": 3}")
                .statusCode())
        .isEqualTo(200);
    assertThat(servers.send(servers.leader, "POST", "/api/jobs/two/cancel", "{}").statusCode())
        .isEqualTo(200);
    String position = servers.position();
    for (String path :
        List.of(
            "/api/jobs",
            "/api/jobs?type=parse&order=newest",
            "/api/jobs?limit=2",
            "/api/jobs?limit=2&after=" + first,
            "/api/jobs?status=failed",
            "/api/jobs?text=thr",
            "/api/jobs?batch=1",
            "/api/jobs?status=wrong",
            "/api/jobs/one",
            "/api/jobs/" + first,
            "/api/jobs/none",
            "/api/jobs/two/failures",
            "/api/jobs/two/returns",
            "/api/jobs/one/payload",
            "/api/jobs/one/result",
            "/api/batches",
            "/api/batches?after=1",
            "/api/batches/1",
            "/api/batches/99",
            "/api/batches/1/jobs",
            "/api/types",
            "/api/types/print",
            "/api/types/none")) {
      HttpResponse<String> same = assertSame(position, path);
      assertThat(same.body()).as(path).isNotEmpty();
    }
    assertThat(servers.getAfter(position, aged("/api/jobs")).body()).contains("one", "four");
    assertThat(servers.getAfter(position, aged("/api/types")).body())
        .contains("\"running\":\"3\"", "\"attempts\":\"5\"", "first");
    for (String path : List.of("/api/workers", "/api/jobs/one/wait?timeout=0", "/api/events")) {
      assertDirected(aged(path));
    }
    assertThat(
            servers.send(servers.standby, "POST", aged("/api/jobs/one/cancel"), "{}").statusCode())
        .isEqualTo(307);
  }

  @Test
  void a_long_list_of_jobs_is_as_of_one_position_while_it_is_written() throws Exception {
    made(
        "/store/update",
        "{\"clientid\": 1, \"puts\": [{\"collection\": \"other\", \"key\": \"k\", \"body\":"
            + " \"\"}]}");
    for (int i = 0; i < 1_100; i++) {
      var _ = submitted("parse", "job-" + i, "x");
    }
    String position = servers.position();
    HttpResponse<String> all = assertSame(position, "/api/jobs");
    assertThat(all.body().split("\"payloadSize\"", -1)).hasSize(1_101);
  }

  @Test
  void a_running_job_has_no_progress_in_the_answer_of_a_standby() throws Exception {
    String id = submitted("parse", "one", "payload");
    HttpResponse<String> taken =
        servers.send(
            servers.leader,
            "POST",
            "/api/worker/parse/next?wait=30",
            "{\"name\": \"w\", \"id\": \"w-1\", \"token\": \"\"}");
    assertThat(taken.statusCode()).isEqualTo(200);
    String token = header(taken, "Millrace-Job-Token");
    made("/api/jobs/" + id + "/progress?token=" + token, "{\"percent\": 50, \"info\": null}");
    String position = servers.position();
    String ofLeader = servers.get(servers.leader, "/api/jobs/one").body();
    String ofStandby = servers.getAfter(position, aged("/api/jobs/one")).body();
    assertThat(ofLeader).contains("\"percent\":50");
    assertThat(ofStandby).contains("\"running\"").doesNotContain("progress");
    assertThat(ofLeader.replaceAll(",\"progress\":\\{[^}]*\\}", "")).isEqualTo(ofStandby);

    made("/api/jobs/" + id + "/result?token=" + token, "done");
    position = servers.position();
    HttpResponse<String> ended = assertSame(position, "/api/jobs/one");
    assertThat(ended.body()).contains("\"progress\":null", "\"done\"");
    assertThat(assertSame(position, "/api/jobs/one/result").body()).isEqualTo("done");
  }

  @Test
  void a_large_payload_is_read_from_blobs_that_servers_share() throws Exception {
    String payload = "x".repeat(300_000);
    var _ = submitted("parse", "large", payload);
    String position = servers.position();
    assertThat(servers.getAfter(position, aged("/api/jobs/large/payload")).body())
        .isEqualTo(payload);
    try (MillraceServer third =
        servers.serve("third", "blobs.data", root.resolve("others").toString())) {
      MillraceServer before = servers.standby;
      servers.standby = third;
      try {
        assertThat(servers.getAfter(position, aged("/api/jobs/large")).statusCode()).isEqualTo(200);
        assertDirected(aged("/api/jobs/large/payload"));
      } finally {
        servers.standby = before;
      }
    }
  }

  private static String ids(String inserted) {
    return inserted.replaceAll("(?s).*?\"\\$oid\":\"([0-9a-f]{24})\".*", "$1");
  }

  private HttpResponse<String> search(MillraceServer server, String body, String... headers)
      throws Exception {
    return servers.send(server, "POST", "/dci/tasks/search?" + AGE, body, headers);
  }

  @Test
  void queue_tasks_are_found_and_shown_at_a_standby_as_at_the_leader() throws Exception {
    made("/dci/config", "{\"plugins\": [\"mailer\"]}");
    made("/dci/queues", "{\"name\": \"mail\", \"plugin\": \"mailer\"}");
    String id = ids(made("/dci/tasks/mail", "[{\"to\": \"ann\"}]"));
    made("/dci/tasks/mail", "[{\"to\": \"bob\"}, {\"to\": \"cid\"}]");
    made("/dci/tasks/id/" + id + "/cancel", "{}");
    String position = servers.position();
    assertThat(assertSame(position, "/dci/tasks/id/" + id).body()).contains("\"ann\"");
    for (String body :
        List.of(
            "{\"filter\": {}}",
            "{\"filter\": {\"params.to\": \"bob\"}, \"terse\": false}",
            "{\"filter\": {\"status\": -3}}",
            "{\"filter\": {\"_id\": \"" + id + "\"}}",
            "{\"filter\": {}, \"options\": {\"limit\": 1, \"skip\": 1, \"sort\": {\"ctime\": -1}}}",
            "{\"filter\": {}, \"count\": true}",
            "{\"filters\": {}}",
            "{\"filter\": {\"$nor\": 1}}")) {
      HttpResponse<String> ofStandby =
          servers.sendAfter(position, "POST", "/dci/tasks/search?" + AGE, body);
      HttpResponse<String> ofLeader = search(servers.leader, body);
      assertThat(ofStandby.statusCode()).as(body).isEqualTo(ofLeader.statusCode());
      assertThat(ofStandby.body()).as(body).isEqualTo(ofLeader.body()).isNotEmpty();
      if (ofStandby.statusCode() == 200) {
        assertThat(header(ofStandby, POSITION)).isEqualTo(position);
        assertThat(header(ofLeader, STALENESS)).isEqualTo("0");
      }
    }
    HttpResponse<String> withoutBody =
        servers.sendAfter(position, "POST", "/dci/tasks/search?" + AGE, "");
    assertThat(withoutBody.statusCode()).isEqualTo(200);
    assertThat(search(servers.leader, "").body()).isEqualTo(withoutBody.body());

    // Only the leader reads the archive.
    assertThat(search(servers.standby, "{\"filter\": {}, \"archived\": true}").statusCode())
        .isEqualTo(307);
    assertDirected(aged("/dci/tasks/id/" + "0".repeat(24)));
    assertDirected(aged("/dci/tasks/id/" + id + "/stdout"));
    assertThat(
            search(servers.standby, "{\"filter\": {\"_id\": \"" + "0".repeat(24) + "\"}}")
                .statusCode())
        .isEqualTo(307);
    assertThat(servers.send(servers.standby, "POST", "/dci/tasks/search", "{}").statusCode())
        .isEqualTo(307);
  }

  private static String node(String type, String data) {
    return "{\"metadata\": {\"type\": \"" + type + "\"}, \"data\": {" + data + "}}";
  }

  private static String withoutVersion(String json) {
    return json.replaceAll(",\"version\":\\d+", "");
  }

  @Test
  void nodes_and_their_data_are_read_at_a_standby_without_versions() throws Exception {
    String empty = servers.position();
    assertThat(servers.getAfter(empty, aged("/v1/nodes")).body()).isEqualTo("[]");
    made(
        "/v1/nodes",
        """
        [{"metadata": {"type": "group", "name": "all", "local": "g"}, "data": {}},
         {"metadata": {"type": "wait for", "parent": "local:g", "local": "w"},
          "data": {"time": "2999-01-01T00:00:00Z", "note": "n"}},
         {"metadata": {"type": "shell command", "parent": "local:g", "after": ["local:w"]},
          "data": {"command": "true"}}]
        """);
    // The wait begins by itself.
    while (!servers.get(servers.leader, "/v1/running").body().contains("wait for")) {
      LockSupport.parkNanos(5_000_000);
    }
    String position = servers.followed();
    for (String path :
        List.of(
            "/v1/nodes",
            "/v1/nodes?state=incipient",
            "/v1/nodes?type=group,shell%20command&below=1",
            "/v1/nodes?new=1",
            "/v1/nodes?metadata=state,reason",
            "/v1/nodes?state=wrong",
            "/v1/nodes?below=77",
            "/v1/nodes/3",
            "/v1/nodes/77",
            "/v1/nodes/2/data",
            "/v1/nodes/2/data/note",
            "/v1/nodes/3/data/stdout",
            "/v1/nodes/2/data/none",
            "/v1/nodes/77/data/note",
            "/v1/running")) {
      HttpResponse<String> ofStandby = servers.getAfter(position, aged(path));
      HttpResponse<String> ofLeader = servers.get(servers.leader, aged(path));
      assertThat(ofStandby.statusCode()).as(path).isEqualTo(ofLeader.statusCode());
      assertThat(ofStandby.body()).as(path).isEqualTo(withoutVersion(ofLeader.body())).isNotEmpty();
      if (ofStandby.statusCode() == 200) {
        assertThat(header(ofStandby, STALENESS)).isNotEmpty();
        assertThat(header(ofStandby, POSITION)).isNotEmpty();
      }
      assertDirected(path);
    }
    HttpResponse<String> list = servers.getAfter(position, aged("/v1/nodes"));
    assertThat(header(list, "ETag"))
        .isEqualTo(header(servers.get(servers.leader, "/v1/nodes"), "ETag"));
    HttpResponse<String> node = servers.getAfter(position, aged("/v1/nodes/3"));
    assertThat(node.headers().firstValue("ETag")).isEmpty();

    for (String path :
        List.of(
            "/v1/nodes?metadata=version",
            "/v1/nodes?new=99&timeout=60",
            "/v1/nodes?start=0&pid=p",
            "/v1/nodes/2/data/mixedout",
            "/v1/scheduler/wait?id=1&timeout=0")) {
      assertDirected(aged(path));
    }
    assertThat(
            servers
                .get(
                    servers.standby,
                    aged("/v1/nodes"),
                    "Authorization",
                    "Bearer graph-2-1-" + "x".repeat(43))
                .statusCode())
        .isEqualTo(307);

    // It follows changes.
    assertThat(servers.send(servers.leader, "PUT", "/v1/scheduler/kill?id=2", "").statusCode())
        .isEqualTo(202);
    while (!servers.get(servers.leader, "/v1/nodes/2").body().contains("\"killed\"")) {
      LockSupport.parkNanos(5_000_000);
    }
    position = servers.followed();
    assertThat(servers.getAfter(position, aged("/v1/nodes/3")).body())
        .isEqualTo(withoutVersion(servers.get(servers.leader, "/v1/nodes/3").body()))
        .contains("\"blocked\"", "\"reason\"");
    assertThat(servers.getAfter(position, aged("/v1/nodes/2/data/mixedout")).statusCode())
        .isEqualTo(servers.get(servers.leader, "/v1/nodes/2/data/mixedout").statusCode());
  }

  @Test
  void a_list_of_more_nodes_than_a_page_has_goes_to_the_leader() throws Exception {
    made(
        "/v1/nodes",
        IntStream.range(0, 1_001)
            .mapToObj(_ -> node("wait for", "\"time\": \"2999-01-01T00:00:00Z\""))
            .collect(Collectors.joining(",", "[", "]")));
    assertDirected(aged("/v1/nodes"));
    assertThat(servers.getAfter(servers.followed(), aged("/v1/nodes?new=1&metadata=type")).body())
        .contains("\"1001\"");
  }

  @Test
  void a_caller_with_a_limited_reach_sees_what_it_covers() throws Exception {
    var _ = submitted("parse", "one", "payload");
    var _ = submitted("print", "two", "payload");
    made("/dci/config", "{\"plugins\": [\"mailer\"]}");
    made("/dci/queues", "{\"name\": \"mail\", \"plugin\": \"mailer\"}");
    made("/dci/queues", "{\"name\": \"fax\", \"plugin\": \"mailer\"}");
    made("/dci/tasks/mail", "[{\"to\": \"ann\"}]");
    String fax = ids(made("/dci/tasks/fax", "[{\"to\": \"bob\"}]"));
    made("/v1/nodes", "[" + node("group", "") + ", " + node("group", "") + "]");
    String made =
        made(
            "/access/principals",
            "{\"name\": \"ann\", \"roles\": [\"viewer\"], \"key\": {}, \"reach\":"
                + " {\"types\": [\"parse\"], \"queues\": [\"mail\"], \"graph\": [\"1\"]}}");
    String ann = "Bearer " + made.replaceAll("(?s).*\"key\": ?\"([^\"]*)\".*", "$1");
    String position = servers.followed();
    for (String path :
        List.of(
            "/api/jobs",
            "/api/jobs/two",
            "/api/batches",
            "/api/types",
            "/api/types/print",
            "/v1/nodes",
            "/v1/nodes/1",
            "/v1/nodes/2",
            "/v1/nodes/2/data")) {
      HttpResponse<String> ofStandby = servers.getAfter(position, aged(path), "Authorization", ann);
      HttpResponse<String> ofLeader = servers.get(servers.leader, aged(path), "Authorization", ann);
      assertThat(ofStandby.statusCode()).as(path).isEqualTo(ofLeader.statusCode());
      assertThat(ofStandby.body()).as(path).isEqualTo(withoutVersion(ofLeader.body()));
      assertThat(ofStandby.body()).doesNotContain("\"key\":\"two\"");
    }
    HttpResponse<String> found =
        servers.sendAfter(
            position, "POST", "/dci/tasks/search?" + AGE, "{\"filter\": {}}", "Authorization", ann);
    assertThat(found.statusCode()).isEqualTo(200);
    assertThat(found.body()).contains("ann").doesNotContain("bob");
    assertThat(
            servers
                .getAfter(position, aged("/dci/tasks/id/" + fax), "Authorization", ann)
                .statusCode())
        .isEqualTo(400);
  }

  @Test
  void what_is_older_than_the_bound_or_lacks_the_position_goes_to_the_leader() throws Exception {
    var _ = submitted("parse", "one", "payload");
    var _ = servers.followed();
    for (String path : List.of("/api/jobs", "/api/batches", "/api/types", "/v1/nodes")) {
      assertDirected(path + "?stale=0s");
      assertDirected(aged(path), POSITION, "17-1");
      assertDirected(aged(path), "Cookie", "millrace=x");
      HttpResponse<String> refused = servers.get(servers.standby, path + "?stale=61s");
      assertThat(refused.statusCode()).as(path).isEqualTo(400);
      assertThat(refused.body()).contains("up to 60s");
    }
  }
}
