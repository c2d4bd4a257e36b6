package io.millrace.server.queues;

import static io.millrace.server.queues.Dci.json;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.archive.Archive;
import io.millrace.archive.Archiver;
import io.millrace.database.DatabaseAddress;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Status;
import io.millrace.work.policy.Retention;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tasks that have moved into the archive, as the command interface shows them. */
final class DciArchiveTest {
  private static final Duration LEASE = Duration.ofMinutes(5);

  @TempDir private Path folder;
  private Dci dci;
  private Queue queue;
  private NodeRecord node;
  private final List<String> archived = new ArrayList<>();
  private String waiting = "";

  @BeforeEach
  void start() throws Exception {
    dci = new Dci(folder);
    queue = dci.queues.queues().create("demo", "own", Queue.Settings.DEFAULTS.withThreads(10));
    NodeIdentity presence = new NodeIdentity("i", "host", "7 mark", List.of("shell"));
    node = dci.queues.nodes().take("n1", null, presence).orElseThrow();
    for (int i = 0; i < 3; i++) {
      archived.add(finished(i));
      archive();
    }
    waiting = submitted(3).hex();
  }

  @AfterEach
  void stop() {
    dci.close();
  }

  private ObjectId submitted(int number) {
    var params = JsonMapper.shared().createObjectNode().put("number", number);
    return dci.queues.submission().submit(queue, List.of(params), Status.QUEUED).getFirst();
  }

  private String finished(int number) {
    ObjectId id = submitted(number);
    Run run = dci.queues.runs().claim(node, queue, 1, LEASE).getFirst();
    TaskOutput output = new TaskOutput(new Output.Text("out " + number), Output.none());
    dci.queues
        .runs()
        .finish(
            dci.queues.runs().start(run, "8 mark", LEASE),
            new Report(1 + number % 2, output, List.of(), null));
    return id.hex();
  }

  private void archive() {
    Clock later = Clock.offset(Clock.systemUTC(), Duration.ofMinutes(1));
    Retention brief = new Retention(Duration.ofMillis(1), null);
    try (Archive archive = Archive.at(DatabaseAddress.file(folder.resolve("store/archive.db")))) {
      Archiver archiver =
          new Archiver(archive, null, List.of(dci.queues.retention(brief, Duration.ofSeconds(1))));
      Instant now = later.instant();
      while (!archiver.step(now).isAfter(now)) {
        assertThat(archiver.problem()).isNull();
      }
    }
  }

  @Test
  void a_search_that_names_ids_finds_them() throws Exception {
    JsonNode found =
        dci.post(
            "/tasks/search",
            "{'filter': {'_id': {'$in': ['%s', '%s']}}, 'options': {'sort': {'_id': -1}}}"
                .formatted(archived.get(1), waiting));
    assertThat(found).hasSize(2);
    assertThat(found.get(0).has("archived")).isFalse();
    assertThat(found.get(1).required("archived").asBoolean()).isTrue();
    assertThat(found.get(1).at("/_id/$oid").asString()).isEqualTo(archived.get(1));
    String other = "{'filter': {'_id': '%s', 'status': 7}}".formatted(archived.get(1));
    assertThat(dci.post("/tasks/search", other)).isEmpty();
    String count = "{'filter': {'_id': '%s'}, 'count': true}".formatted(archived.get(2));
    assertThat(dci.post("/tasks/search", count)).isEqualTo(json("{'count': 1}"));
  }

  @Test
  void other_searches_find_them_when_they_are_asked_to() throws Exception {
    assertThat(dci.post("/tasks/search", "{'filter': {'queue': '" + queue.id() + "'}}")).hasSize(1);
    assertThat(dci.post("/tasks/search", "{'filter': {'queue': '" + queue.name() + "'}}"))
        .hasSize(1);
    JsonNode second =
        dci.post(
            "/tasks/search",
            "{'archived': true, 'options': {'sort': {'_id': -1}, 'skip': 1, 'limit': 2}}");
    assertThat(second).hasSize(2);
    assertThat(second.at("/0/_id/$oid").asString()).isEqualTo(archived.get(2));
    assertThat(second.at("/1/_id/$oid").asString()).isEqualTo(archived.get(1));
    String failed = "{'archived': true, 'filter': {'status': 2}, 'count': true}";
    assertThat(dci.post("/tasks/search", failed)).isEqualTo(json("{'count': 1}"));
    assertThat(dci.post("/tasks/search", "{'archived': true, 'count': true}"))
        .isEqualTo(json("{'count': 4}"));
  }

  @Test
  void one_is_shown_with_its_output_and_does_not_change_any_more() throws Exception {
    String path = "/tasks/id/" + archived.getFirst();
    JsonNode shown = dci.get(path);
    assertThat(shown.required("archived").asBoolean()).isTrue();
    assertThat(shown.required("stdout").asString()).isEqualTo("out 0");
    assertThat(dci.server().get("/dci" + path + "/stdout").body()).isEqualTo("out 0");
    assertThat(dci.refused("POST", path + "/requeue", "{}").required("error").asString())
        .isEqualTo("the task is archived and does not change any more");
    JsonNode waited = dci.post("/tasks/wait", "{'ids': ['" + archived.get(1) + "']}");
    assertThat(waited.required("tasks")).isEqualTo(json("{'" + archived.get(1) + "': 2}"));
  }
}
