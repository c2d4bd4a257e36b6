package io.millrace.server;

import static io.millrace.server.LeaderAndStandby.POSITION;
import static io.millrace.server.LeaderAndStandby.STALENESS;
import static io.millrace.server.LeaderAndStandby.header;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a standby answers callers that accept an answer of some age. */
class StaleReadsTest {
  @TempDir private Path root;
  private LeaderAndStandby servers;
  private MillraceServer leader;
  private MillraceServer standby;

  @BeforeEach
  void start() throws Exception {
    servers = new LeaderAndStandby(root, Map.of());
    leader = servers.leader;
    standby = servers.standby;
  }

  @AfterEach
  void close() {
    servers.close();
  }

  private HttpResponse<String> send(
      MillraceServer server, String method, String path, String body, String... headers)
      throws IOException, InterruptedException {
    return servers.send(server, method, path, body, headers);
  }

  private HttpResponse<String> get(MillraceServer server, String path, String... headers)
      throws IOException, InterruptedException {
    return servers.get(server, path, headers);
  }

  private HttpResponse<String> getAfter(String position, String path, String... headers)
      throws IOException, InterruptedException {
    return servers.getAfter(position, path, headers);
  }

  /** Commits at the leader; returns the position. */
  private String update(String parts) throws IOException, InterruptedException {
    HttpResponse<String> done =
        send(leader, "POST", "/store/update", "{\"clientid\": 1, " + parts + "}");
    assertThat(done.statusCode()).isEqualTo(200);
    return done.body().replaceAll(".*\"position\":\"([^\"]*)\".*", "$1");
  }

  @Test
  void a_standby_answers_reads_with_their_position_and_age() throws Exception {
    String position =
        update(
            "\"adds\": [{\"group\": \"mail\", \"data\": \"a\"}],"
                + " \"puts\": [{\"collection\": \"books\", \"key\": \"k\", \"body\": \"b\"}]");
    HttpResponse<String> found = getAfter(position, "/store/group/mail?stale=10s");
    assertThat(found.statusCode()).isEqualTo(200);
    assertThat(found.body()).contains("\"data\":\"a\"");
    assertThat(header(found, POSITION)).isEqualTo(position);
    assertThat(Long.parseLong(header(found, STALENESS))).isBetween(0L, 10_000L);
    for (String path :
        List.of(
            "/store/groups?",
            "/store/summary?",
            "/store/position?",
            "/store/document/books/k?",
            "/store/documents/books?prefix=k&")) {
      HttpResponse<String> ofStandby = getAfter(position, path + "stale=10s");
      assertThat(ofStandby.statusCode()).as(path).isEqualTo(200);
      assertThat(header(ofStandby, POSITION)).isEqualTo(position);
      HttpResponse<String> ofLeader = get(leader, path + "stale=10s");
      assertThat(header(ofLeader, STALENESS)).isEqualTo("0");
      assertThat(header(ofLeader, POSITION)).isEqualTo(position);
      if (!path.contains("position")) {
        assertThat(ofStandby.body()).isEqualTo(ofLeader.body());
      }
      HttpResponse<String> strict = get(standby, path);
      assertThat(strict.statusCode()).isEqualTo(307);
      assertThat(get(leader, path).headers().firstValue(STALENESS)).isEmpty();
    }
    assertThat(getAfter(position, "/store/document/books/none?stale=10s").statusCode())
        .isEqualTo(404);
    int posted = 307;
    while (posted == 307) {
      LockSupport.parkNanos(5_000_000);
      posted = send(standby, "POST", "/store/tasks?stale=10s", "{\"ids\": [1]}").statusCode();
    }
    assertThat(posted).isEqualTo(200);
  }

  @Test
  void queues_nodes_and_schedules_are_read_at_a_standby_as_at_the_leader() throws Exception {
    assertThat(send(leader, "POST", "/dci/config", "{\"plugins\": [\"mailer\"]}").statusCode())
        .isEqualTo(200);
    HttpResponse<String> made =
        send(leader, "POST", "/dci/queues", "{\"name\": \"mail\", \"plugin\": \"mailer\"}");
    assertThat(made.statusCode()).as(made.body()).isEqualTo(200);
    HttpResponse<String> put =
        send(
            leader,
            "PUT",
            "/schedules/nightly",
            "{\"times\": [{\"cron\": \"@daily\"}], \"target\": {\"job\": {\"payload\": \"x\"}}}");
    assertThat(put.statusCode()).as(put.body()).isBetween(200, 201);
    String position = servers.position();
    for (String path :
        List.of(
            "/dci/queues", "/dci/queues/mail", "/dci/nodes", "/schedules", "/schedules/nightly")) {
      HttpResponse<String> ofStandby = getAfter(position, path + "?stale=10s");
      assertThat(ofStandby.statusCode()).as(path).isEqualTo(200);
      assertThat(header(ofStandby, POSITION)).isNotEmpty();
      HttpResponse<String> ofLeader = get(leader, path + "?stale=10s");
      assertThat(ofStandby.body()).isEqualTo(ofLeader.body());
      assertThat(header(ofLeader, STALENESS)).isEqualTo("0");
      assertThat(ofLeader.headers().firstValue(POSITION)).isPresent();
    }
    assertThat(getAfter(position, "/schedules/none?stale=10s").statusCode()).isEqualTo(404);
    assertThat(getAfter(position, "/dci/queues/none?stale=10s").statusCode()).isEqualTo(400);
    assertThat(get(standby, "/dci/queues").statusCode()).isEqualTo(307);
    assertThat(get(standby, "/dci/plugins?stale=10s").statusCode()).isEqualTo(307);
    assertThat(send(standby, "DELETE", "/schedules/nightly?stale=10s", "").statusCode())
        .isEqualTo(307);
  }

  @Test
  void what_a_standby_cannot_answer_goes_to_the_leader_and_mistakes_are_named() throws Exception {
    for (String path :
        List.of(
            "/store/groups?stale=0s",
            "/store/changes?stale=10s",
            "/store/backup?stale=10s",
            "/health/nothing?stale=10s")) {
      assertThat(get(standby, path).statusCode()).as(path).isEqualTo(307);
    }
    assertThat(send(standby, "POST", "/store/update?stale=10s", "{}").statusCode()).isEqualTo(307);
    assertThat(get(standby, "/store/groups?stale=10s", POSITION, "17-1").statusCode())
        .isEqualTo(307);
    assertThat(get(standby, "/store/groups?stale=10s", "Cookie", "millrace=x").statusCode())
        .isEqualTo(307);
    for (MillraceServer each : List.of(leader, standby)) {
      for (String wrong : List.of("61s", "2", "soon", "-1s", "")) {
        HttpResponse<String> refused = get(each, "/store/groups?stale=" + wrong);
        assertThat(refused.statusCode()).as(wrong).isEqualTo(400);
        assertThat(refused.body()).contains("up to 60s");
      }
      HttpResponse<String> refused = get(each, "/store/groups?stale=1s", POSITION, "here");
      assertThat(refused.statusCode()).isEqualTo(400);
      assertThat(refused.body()).contains(POSITION);
    }
  }

  @Test
  void callers_have_the_roles_and_the_reach_that_the_leader_knew() throws Exception {
    try (MillraceServer third = servers.serve("third", "server.require-credentials", "true")) {
      MillraceServer before = standby;
      standby = third;
      servers.standby = third;
      try {
        checkCallers();
      } finally {
        servers.standby = before;
      }
    }
  }

  private void checkCallers() throws Exception {
    HttpResponse<String> made =
        send(
            leader,
            "POST",
            "/access/principals",
            "{\"name\": \"ann\", \"roles\": [\"viewer\"], \"key\": {},"
                + " \"reach\": {\"groups\": [\"mail\"]}}");
    String ann = "Bearer " + made.body().replaceAll(".*\"key\":\"([^\"]*)\".*", "$1");
    String position = update("\"adds\": [{\"group\": \"mail\"}, {\"group\": \"other\"}]");
    HttpResponse<String> own = getAfter(position, "/store/groups?stale=10s", "Authorization", ann);
    assertThat(own.statusCode()).isEqualTo(200);
    assertThat(own.body()).contains("mail").doesNotContain("other");
    assertThat(
            getAfter(position, "/store/group/other?stale=10s", "Authorization", ann).statusCode())
        .isEqualTo(403);
    assertThat(get(standby, "/store/groups?stale=10s").statusCode()).isEqualTo(307);
    assertThat(get(standby, "/store/groups?stale=10s", "Authorization", ann + "x").statusCode())
        .isEqualTo(307);

    // Once it was revoked, it is worth something for the bound at most.
    assertThat(send(leader, "DELETE", "/access/principals/ann", "").statusCode()).isLessThan(300);
    long revoked = System.nanoTime();
    int status = 200;
    while (status == 200) {
      long asked = System.nanoTime();
      status = get(standby, "/store/groups?stale=300ms", "Authorization", ann).statusCode();
      assertThat(status == 200 && asked - revoked > 300_000_000L).isFalse();
    }
    assertThat(status).isEqualTo(307);
  }
}
