package io.millrace.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.wire.ShardPaths.Destination;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShardPathsTest {
  private static final int SHARDS = 8;
  private static final Placement PLACEMENT = new Placement(SHARDS);

  private final ShardPaths paths = new ShardPaths(PLACEMENT);

  private Destination of(String request) {
    String[] parts = request.split(" ", 2);
    String[] target = parts[1].split("\\?", 2);
    return paths.of(parts[0], target[0], target.length == 1 ? null : target[1]);
  }

  private static Destination named(String name) {
    return new Destination.One(PLACEMENT.ofItem(name), name);
  }

  @ParameterizedTest
  @CsvSource({
    "GET /dci/queues/mail.out, mail.out",
    "POST /dci/queues/mail%2Fout, mail/out",
    "POST /dci/tasks/mail, mail",
    "GET /dci/events?queue=mail, mail",
    "POST /api/jobs/submit/report, report",
    "GET /api/jobs?type=report&limit=3, report",
    "GET /api/worker/report, report",
    "POST /api/worker/report/next, report",
    "PUT /api/types/report, report",
    "PUT /schedules/nightly, nightly",
    "POST /schedules/nightly/run, nightly",
    "PUT /limits/api, api",
    "PUT /retention/jobs/report, report",
  })
  void names_tell_a_shard(String request, String name) {
    assertThat(of(request)).isEqualTo(named(name));
  }

  @Test
  void the_first_part_of_a_name_decides() {
    assertThat(PLACEMENT.ofItem("mail.out")).isEqualTo(PLACEMENT.ofItem("mail/in"));
    assertThat(PLACEMENT.ofItem("mail")).isEqualTo(PLACEMENT.ofName("mail/new"));
    // What systems are named like is no name of a system here.
    assertThat(PLACEMENT.ofItem("queues")).isEqualTo(PLACEMENT.ofItem("queues.x"));
  }

  @Test
  void jobs_without_a_type_are_in_the_first_shard() {
    for (String request :
        new String[] {"POST /api/jobs/submit", "GET /api/worker", "POST /api/worker/next"}) {
      assertThat(of(request)).isEqualTo(new Destination.One(0, ""));
    }
    assertThat(of("POST /api/worker/next/next")).isEqualTo(named("next"));
  }

  @ParameterizedTest
  @CsvSource({
    "GET /dci/tasks/id/6b0a4c4c000000000d000001, 5",
    "GET /dci/queues/6b0a4c4c000000000d000001, 5",
    "GET /why/6b0a4c4c000000000d000001?kind=task, 5",
    "GET /api/jobs/01a2203a-8610-7000-8000-00000000000e/result, 6",
    "GET /archive/jobs/01a2203a-8610-7000-8000-00000000000e, 6",
    "GET /v1/nodes/844424930131970, 3",
    "GET /v1/nodes/12/data/out, 0",
    "PUT /v1/scheduler/kill?id=844424930131970, 3",
    "'PUT /v1/scheduler/kill?id=1,2', 0",
    "GET /v1/events?below=844424930131970, 3",
    "GET /api/batches/844424930131969/jobs, 3",
    "GET /api/jobs?batch=844424930131969, 3",
  })
  void ids_tell_a_shard(String request, int shard) {
    assertThat(of(request)).isEqualTo(new Destination.One(shard, null));
  }

  @ParameterizedTest
  @CsvSource({
    "GET /dci/queues",
    "POST /dci/tasks/search",
    "GET /dci/nodes/n1",
    "POST /dci/config",
    "GET /dci/events",
    "GET /api/jobs",
    "GET /api/types",
    "GET /api/workers",
    "GET /api/events",
    "GET /v1/nodes",
    "GET /v1/running",
    "GET /schedules",
    "GET /bulk",
    "GET /limits",
    "GET /archive/tasks",
    "GET /retention/jobs",
    "GET /history"
  })
  void lists_are_of_all_shards(String request) {
    assertThat(of(request)).isEqualTo(new Destination.All());
  }

  @ParameterizedTest
  @CsvSource({
    "POST /dci/queues",
    "POST /dci/tasks/wait",
    "POST /v1/nodes",
    "POST /bulk",
    "'PUT /v1/scheduler/kill?id=1,844424930131970'",
    "POST /dci/queue-create-tasks-json"
  })
  void bodies_tell_where_paths_do_not(String request) {
    assertThat(of(request)).isEqualTo(new Destination.ByBody());
  }

  @ParameterizedTest
  @CsvSource({
    "GET /api/jobs/my-key",
    "POST /api/jobs/my-key/retry",
    "GET /bulk/1f",
    "GET /why/key"
  })
  void keys_are_looked_for(String request) {
    assertThat(of(request)).isEqualTo(new Destination.Unknown());
  }

  @ParameterizedTest
  @CsvSource({
    "GET /",
    "GET /health",
    "GET /metrics",
    "GET /access/me",
    "POST /store/update",
    "GET /audit",
    "GET /cluster",
    "GET /shards",
    "POST /schedules/preview",
    "GET /dci/plugins",
    "GET /blobs",
    "GET /dci/tasks/id/nonsense",
    "GET /v1/nodes/x",
    "GET /%zz/%",
    "GET //"
  })
  void everything_else_is_there_once(String request) {
    assertThat(of(request)).isEqualTo(new Destination.Once());
  }

  @Test
  void an_id_of_a_shard_that_is_not_there_is_of_none() {
    assertThat(paths.ofId(Long.toString(9L << 48))).isEmpty();
    assertThat(paths.ofId("mail")).isEmpty();
  }
}
