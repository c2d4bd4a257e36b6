package io.millrace.server.queues;

import static io.millrace.server.queues.Dci.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.blobs.BlobStore;
import io.millrace.queues.NodeRecord.NodeIdentity;
import io.millrace.queues.Output;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.RetryWish;
import io.millrace.queues.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Tasks under way and ended, as the command interface shows them. */
final class DciTaskTest {
  private static final Duration LEASE = Duration.ofMinutes(5);

  @TempDir private Path folder;
  private Dci dci;
  private Queue queue;

  @BeforeEach
  void start() {
    dci = new Dci(folder);
    queue = dci.queues.queues().create("demo", "own", Queue.Settings.DEFAULTS.withThreads(10));
  }

  @AfterEach
  void stop() {
    dci.close();
  }

  private Run running() {
    ObjectNode params = JsonMapper.shared().createObjectNode().put("command", "x");
    dci.queues.submission().submit(queue, List.of(params), Status.QUEUED);
    var seen = dci.queues.nodes().find("n1").orElse(null);
    NodeIdentity presence = new NodeIdentity("i", "host", "7 mark", List.of("shell"));
    var node = dci.queues.nodes().take("n1", seen, presence).orElseThrow();
    Run run = dci.queues.runs().claim(node, queue, 1, LEASE).getFirst();
    return dci.queues.runs().start(run, "8 mark", LEASE);
  }

  private void put(String blob, String content) {
    put(blob, content.getBytes(StandardCharsets.UTF_8));
  }

  private void put(String blob, byte[] content) {
    BlobStore blobs = dci.server().server().blobs();
    blobs.put(blob, new ByteArrayInputStream(content));
  }

  private HttpResponse<String> bytes(Run run, String rest) throws Exception {
    return dci.server().get("/dci/tasks/id/" + run.task().hex() + "/" + rest);
  }

  @Test
  void thousands_of_unique_tasks_with_timeouts_are_submitted_in_one_request() throws Exception {
    ArrayNode params = JsonMapper.shared().createArrayNode();
    for (int i = 0; i < 4_500; i++) {
      params.addObject().put("command", "task " + i % 4_400);
    }
    String path = "/tasks/demo?unique_fields=command&total_timeout=1h&wait_timeout=5m";
    JsonNode inserted =
        dci.post(path, params.toString()).path("MongoDB::InsertManyResult").path("inserted");
    assertThat(inserted.size()).isEqualTo(4_500);
    assertThat(inserted.valueStream().filter(each -> each.has("duplicate"))).hasSize(100);
    String id = inserted.get(0).path("_id").path("$oid").asString();
    JsonNode task = dci.get("/tasks/id/" + id);
    assertThat(task.path("wait_timeout").asString()).isEqualTo("5m");
    assertThat(task.has("wait_end")).isTrue();
    assertThat(task.has("total_end")).isTrue();
  }

  @Test
  void tasks_are_found_by_each_of_their_tags() throws Exception {
    dci.post("/tasks/demo?tags=eu,nightly", "[{'a': 1}]");
    dci.post("/tasks/demo?tags=us", "[{'a': 1}]");
    dci.post("/tasks/demo", "[{'a': 1}]");

    assertThat(dci.post("/tasks/search", "{'filter': {'tags': 'nightly'}}"))
        .singleElement()
        .satisfies(task -> assertThat(task.path("tags").asString()).isEqualTo("eu,nightly"));
    assertThat(dci.post("/tasks/search", "{'filter': {'tags': {'$in': ['eu', 'us']}}}")).hasSize(2);
    assertThat(dci.post("/tasks/search", "{'filter': {'tags': {'$exists': false}}}")).hasSize(1);
    assertThat(dci.post("/tasks/search", "{'filter': {'tags': 'night'}, 'count': true}").toString())
        .contains("0");
  }

  @ParameterizedTest
  @ValueSource(strings = {"tags=a%20b", "tags=a,a", "tags=,"})
  void tags_that_are_no_words_are_refused(String term) throws Exception {
    HttpResponse<String> answer = dci.server().post("/dci/tasks/demo?" + term, "[{}]");
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains("tags must list up to 20 tags");
  }

  @ParameterizedTest
  @ValueSource(strings = {"wait_timeout=0s", "total_timeout=never", "wait_timeout=5"})
  void a_timeout_that_is_no_duration_is_refused(String term) throws Exception {
    HttpResponse<String> answer = dci.server().post("/dci/tasks/demo?" + term, "[{}]");
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains(term.substring(0, term.indexOf('=')));
  }

  @Test
  void small_output_is_text_and_terse_unless_asked_for() throws Exception {
    Run run = running();
    TaskOutput output = new TaskOutput(new Output.Text("hello"), new Output.Text(""));
    dci.queues.runs().finish(run, new Report(1, output, List.of(), null));
    String filter = "'filter': {'_id': {'$oid': '" + run.task().hex() + "'}}";
    JsonNode terse = dci.post("/tasks/search", "{" + filter + "}").get(0);
    assertThat(terse.required("stdout").asString()).isEqualTo("[terse mode]");
    assertThat(terse.required("node").asString()).isEqualTo("n1");
    JsonNode full = dci.post("/tasks/search", "{" + filter + ", 'terse': false}").get(0);
    assertThat(full.required("stdout").asString()).isEqualTo("hello");
    JsonNode part =
        dci.post("/tasks/search", "{" + filter + ", 'options': {'projection': {'status': 1}}}");
    assertThat(part)
        .isEqualTo(json("[{'_id': {'$oid': '%s'}, 'status': 1}]".formatted(run.task().hex())));
    assertThat(bytes(run, "stdout?offset=2").body()).isEqualTo("llo");
    assertThat(bytes(run, "stdout?offset=99").body()).isEmpty();
    assertThat(bytes(run, "stdout?last=2").body()).isEqualTo("lo");
    assertThat(bytes(run, "stdout?last=99").body()).isEqualTo("hello");
    assertThat(bytes(run, "stdout?last=3&offset=4").body()).isEqualTo("o");
    assertThat(bytes(run, "stdout?last=0").body()).isEmpty();
    assertThat(
            dci.refused("GET", "/tasks/id/" + run.task().hex() + "/stdout?last=-1", "").toString())
        .contains("last");
    assertThat(bytes(run, "stderr").body()).isEmpty();
    assertThat(bytes(run, "stdout").headers().firstValue("Millrace-Task-Status")).contains("1");
  }

  @Test
  void long_output_is_read_from_its_chunks_at_any_offset() throws Exception {
    Run run = running();
    String text = "0123456789abcdef".repeat(20_000);
    String prefix = OutputFile.prefix(run.task(), run.claim().token(), "stdout");
    put(prefix + 0, text.substring(0, OutputFile.CHUNK_BYTES));
    put(prefix + 1, text.substring(OutputFile.CHUNK_BYTES));
    assertThat(bytes(run, "stdout").body()).as("while it runs").isEqualTo(text);

    OutputFile file =
        new OutputFile(dci.queues.newId(), run.task(), "stdout", text.length(), prefix);
    TaskOutput output =
        new TaskOutput(new Output.Stored(file.id(), text.length(), true), Output.none());
    dci.queues.runs().finish(run, new Report(1, output, List.of(file), null));
    assertThat(bytes(run, "stdout?offset=261119").body()).isEqualTo(text.substring(261_119));
    assertThat(dci.get("/tasks/id/" + run.task().hex()).required("stdout").asString())
        .isEqualTo(text);
  }

  /** A finished task of which one output is a file that is not shown as text. */
  private Run withFile(String text, long sizeBytes) {
    Run run = running();
    String prefix = OutputFile.prefix(run.task(), run.claim().token(), "stdout");
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    for (int from = 0, i = 0; from < bytes.length; from += OutputFile.CHUNK_BYTES, i++) {
      int length = Math.min(OutputFile.CHUNK_BYTES, bytes.length - from);
      dci.server().server().blobs().put(prefix + i, new ByteArrayInputStream(bytes, from, length));
    }
    OutputFile file = new OutputFile(dci.queues.newId(), run.task(), "stdout", sizeBytes, prefix);
    TaskOutput output =
        new TaskOutput(new Output.Stored(file.id(), sizeBytes, false), new Output.Text("err"));
    dci.queues.runs().finish(run, new Report(1, output, List.of(file), null));
    return run;
  }

  @Test
  void a_search_that_is_not_terse_gives_the_content_of_files_in_both_versions() throws Exception {
    String text = "grün \"und\" so\n".repeat(40_000);
    Run run = withFile(text, text.getBytes(StandardCharsets.UTF_8).length);
    JsonNode full = dci.post("/tasks/search", "{'terse': false}").get(0);
    assertThat(full.required("stdout").asString()).isEqualTo(text);
    assertThat(full.required("stderr").asString()).isEqualTo("err");
    JsonNode pretty = dci.post("/tasks/search", "{'terse': 0, 'pretty': true}").get(0);
    assertThat(pretty).isEqualTo(full);
    JsonNode old = dci.form("/search-tasks-json", "filter={}").get(0);
    assertThat(old.required("stdout").asString()).isEqualTo(text);
    JsonNode terse = dci.post("/tasks/search", "{}").get(0);
    assertThat(terse.at("/stdout/$oid").asString()).hasSize(24);
    assertThat(terse.required("_id")).isEqualTo(json("{'$oid': '%s'}".formatted(run.task().hex())));
  }

  @Test
  void a_search_gives_the_ids_of_files_beyond_64_MiB_each_and_256_MiB_together() throws Exception {
    withFile("x", (64L << 20) + 1);
    for (int i = 0; i < 5; i++) {
      withFile("x", 64L << 20);
    }
    JsonNode found = dci.post("/tasks/search", "{'terse': false}");
    assertThat(found).hasSize(6);
    assertThat(found.get(0).at("/stdout/$oid").asString()).hasSize(24);
    for (int i = 1; i <= 4; i++) {
      assertThat(found.get(i).required("stdout").asString()).isEqualTo("x");
    }
    assertThat(found.get(5).at("/stdout/$oid").asString()).hasSize(24);
  }

  @Test
  void an_attempt_that_did_not_succeed_is_shown_with_times_like_those_of_its_task()
      throws Exception {
    Run run = running();
    var task =
        dci.queues
            .runs()
            .finish(
                run,
                new Report(2, TaskOutput.NONE, List.of(), "no luck", RetryWish.NONE, "the end"));
    long started = task.progress().retries().startedMillis();
    long ended = task.progress().mtimeMillis();

    JsonNode one = dci.get("/tasks/id/" + task.id());
    assertThat(one.required("started").asLong()).isEqualTo(started);
    assertThat(one.required("ended_attempts").toString())
        .isEqualTo(
            ("[{\"end\":\"failed\",\"started\":%d,\"ended\":%d,\"node\":\"%s\","
                    + "\"reason\":\"no luck\",\"log\":\"the end\"}]")
                .formatted(started, ended, run.node()));
    JsonNode found =
        dci.post("/tasks/search", "{'filter': {'started': {'$lte': " + ended + "}}}").get(0);
    assertThat(found.required("ended_attempts").get(0).required("ended").decimalValue())
        .isEqualByComparingTo(BigDecimal.valueOf(ended, 3));
    assertThat(
            dci.post("/tasks/search", "{'options': {'projection': {'status': 1}}}")
                .get(0)
                .has("ended_attempts"))
        .isFalse();
    assertThat(dci.form("/search-tasks-json", "filter={}").get(0).has("ended_attempts")).isFalse();
  }

  @Test
  void times_are_seconds_with_decimals_in_a_search_and_can_be_searched_for_so() throws Exception {
    Run run = running();
    TaskOutput output = new TaskOutput(new Output.Text(""), new Output.Text(""));
    var task = dci.queues.runs().finish(run, new Report(1, output, List.of(), null));
    JsonNode found = dci.post("/tasks/search", "{}").get(0);
    assertThat(found.required("ctime").decimalValue())
        .isEqualByComparingTo(BigDecimal.valueOf(task.ctimeMillis(), 3));
    assertThat(found.required("mtime").decimalValue())
        .isEqualByComparingTo(BigDecimal.valueOf(task.progress().mtimeMillis(), 3));
    assertThat(dci.get("/tasks/id/" + task.id()).required("ctime").asLong())
        .isEqualTo(task.ctimeMillis());

    String ctime = found.required("ctime").toString();
    assertThat(dci.post("/tasks/search", "{'filter': {'ctime': " + ctime + "}}")).hasSize(1);
    assertThat(dci.post("/tasks/search", "{'filter': {'ctime': {'$gt': " + ctime + "}}}"))
        .isEmpty();
    String millis = Long.toString(task.ctimeMillis());
    assertThat(dci.post("/tasks/search", "{'filter': {'ctime': " + millis + "}}")).hasSize(1);
    assertThat(dci.post("/tasks/search", "{'filter': {'ctime': {'$date': " + millis + "}}}"))
        .hasSize(1);
  }

  @Test
  void params_of_more_than_a_task_takes_are_refused_in_words_of_queues() throws Exception {
    int most = (1 << 20) - (8 << 10);
    String fits = "[{'a': '%s'}]".formatted("x".repeat(most - 8));
    dci.post("/tasks/demo", fits);
    String over = "[{'b': '%s'}]".formatted("x".repeat(most - 7));
    String error =
        "the params of a task have %d bytes of JSON, and may have %d: {\"b\":\"xxx"
            .formatted(most + 1, most);
    assertThat(dci.refused("POST", "/tasks/demo", over).required("error").asString())
        .startsWith(error)
        .hasSizeLessThan(200);
    JsonNode old =
        dci.refused(
            "POST", "/queue-create-tasks-json", "{'queueid': 'demo', 'object': " + over + "}");
    assertThat(old.get(1).asString()).startsWith(error);
    JsonNode found = dci.post("/tasks/search", "{'filter': {'queue': '%s'}}".formatted(queue.id()));
    assertThat(found).hasSize(1);
    String id = found.at("/0/_id/$oid").asString();
    assertThat(
            dci.refused(
                    "POST",
                    "/tasks/id/" + id + "/block",
                    "{'reason': '%s'}".formatted("x".repeat(1_001)))
                .required("error")
                .asString())
        .isEqualTo("a reason has at most 1000 characters");
  }

  @Test
  void a_queue_that_a_node_has_halted_says_why_and_is_resumed() throws Exception {
    JsonNode good = dci.get("/queues/demo");
    assertThat(good.required("halted").isNull()).isTrue();
    assertThat(good.required("suspended")).isEmpty();
    dci.queues.queues().suspend(queue.id(), "n1", "no memory", _ -> true);
    dci.queues.queues().suspend(queue.id(), "n2", "no java", _ -> false);
    JsonNode halted = dci.get("/queues/demo");
    assertThat(halted.required("threads").asInt()).isZero();
    assertThat(halted.at("/halted/node").asString()).isEqualTo("n2");
    assertThat(halted.at("/halted/reason").asString()).isEqualTo("no java");
    assertThat(halted.at("/halted/threads").asInt()).isEqualTo(10);
    assertThat(halted.at("/halted/timestamp").asLong()).isPositive();
    assertThat(halted.required("suspended")).hasSize(2);
    assertThat(halted.at("/suspended/0/node").asString()).isEqualTo("n1");
    assertThat(halted.at("/suspended/0/reason").asString()).isEqualTo("no memory");

    String modified = "/MongoDB::UpdateResult/modified_count";
    assertThat(dci.post("/queues/demo/resume", "{}").at(modified).asInt()).isEqualTo(1);
    assertThat(dci.get("/queues/demo")).isEqualTo(good);
    assertThat(dci.post("/queues/demo/resume", "{}").at(modified).asInt(-1)).isZero();
    assertThat(dci.refused("POST", "/queues/none/resume", "{}").required("error").asString())
        .isEqualTo("queue not found");
    assertThat(dci.refused("POST", "/queues/demo/resume", "{'x': 1}").required("param").asString())
        .isEqualTo("x");
  }

  @Test
  void a_node_that_lives_is_not_removed_and_one_that_has_left_is() throws Exception {
    running();
    assertThat(dci.refused("DELETE", "/nodes/n1", "").required("error").asString())
        .contains("node n1 is alive");
    dci.queues.nodes().leave(dci.queues.nodes().find("n1").orElseThrow(), "i");
    assertThat(dci.get("/nodes").at("/0/state").asString()).isEqualTo("left");
    JsonNode removed = Dci.ok(dci.send("DELETE", "/nodes/n1", Dci.JSON, ""));
    assertThat(removed.at("/MongoDB::DeleteResult/deleted_count").asInt()).isEqualTo(1);
    assertThat(dci.get("/nodes")).isEmpty();
    assertThat(
            dci.refused("DELETE", "/nodes/n1", "")
                .at("/MongoDB::DeleteResult/deleted_count")
                .asInt(-1))
        .isZero();
  }

  @Test
  void a_file_that_is_not_shown_as_text_is_shown_as_its_id() throws Exception {
    Run run = running();
    OutputFile file = new OutputFile(dci.queues.newId(), run.task(), "stderr", 0, "none-");
    TaskOutput output = new TaskOutput(Output.none(), new Output.Stored(file.id(), 0, false));
    dci.queues.runs().finish(run, new Report(2, output, List.of(file), null));
    assertThat(dci.get("/tasks/id/" + run.task().hex()).at("/stderr/$oid").asString())
        .isEqualTo(file.id().hex());
  }

  private InputStream follow(HttpClient client, Run run) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(
                dci.server().at("/dci/tasks/id/" + run.task() + "/stdout?follow=true"))
            .build();
    return client.send(request, HttpResponse.BodyHandlers.ofInputStream()).body();
  }

  private static String next(InputStream followed, int bytes) throws IOException {
    return new String(followed.readNBytes(bytes), StandardCharsets.UTF_8);
  }

  @Test
  void output_is_followed_until_the_task_ends() throws Exception {
    Run run = running();
    String chunk = OutputFile.prefix(run.task(), run.claim().token(), "stdout") + 0;
    put(chunk, "one ");
    try (HttpClient client = HttpClient.newHttpClient();
        InputStream followed = follow(client, run)) {
      assertThat(next(followed, 4)).isEqualTo("one ");
      put(chunk, "one two ");
      assertThat(next(followed, 4)).isEqualTo("two ");
      TaskOutput output = new TaskOutput(new Output.Text("one two three"), Output.none());
      dci.queues.runs().finish(run, new Report(1, output, List.of(), null));
      assertThat(next(followed, Integer.MAX_VALUE)).isEqualTo("three");
    }
  }

  @Test
  void output_that_is_followed_breaks_off_when_the_server_stops() throws Exception {
    Run run = running();
    put(OutputFile.prefix(run.task(), run.claim().token(), "stdout") + 0, "one ");
    try (HttpClient client = HttpClient.newHttpClient();
        InputStream followed = follow(client, run)) {
      assertThat(next(followed, 4)).isEqualTo("one ");
      dci.server().stopServing();
      assertThatThrownBy(followed::read).isInstanceOf(IOException.class);
    }
  }

  @Test
  void a_wait_ends_with_the_last_task_or_with_its_time() throws Exception {
    Run first = running();
    Run second = running();
    String none = "0".repeat(24);
    String ids =
        "{'ids': ['%s', {'$oid': '%s'}, '%s']".formatted(first.task(), second.task(), none);
    assertThat(dci.post("/tasks/wait", ids + ", 'timeout': 1}"))
        .isEqualTo(
            json(
                "{'total': 3, 'ended': 1, 'tasks': {'%s': 0, '%s': 0, '%s': null}}"
                    .formatted(first.task(), second.task(), none)));
    CompletableFuture<JsonNode> waiting =
        CompletableFuture.supplyAsync(() -> {
          try {
            return dci.post("/tasks/wait", ids + ", 'timeout': 25000}");
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        });
    dci.queues.runs().finish(first, new Report(1, TaskOutput.NONE, List.of(), null));
    dci.queues
        .runs()
        .finish(second, new Report(Status.TERMINATED, TaskOutput.NONE, List.of(), null));
    assertThat(waiting.get(30, TimeUnit.SECONDS).required("tasks"))
        .isEqualTo(
            json("{'%s': 1, '%s': -3, '%s': null}".formatted(first.task(), second.task(), none)));
    assertThat(dci.refused("POST", "/tasks/wait", "{'ids': ['x']}").required("id"))
        .isEqualTo(json("'x'"));
  }

  @Test
  void a_running_task_can_only_be_terminated_and_its_runner_is_asked() throws Exception {
    Run run = running();
    String path = "/tasks/id/" + run.task().hex();
    assertThat(dci.refused("POST", path + "/cancel", "{}").required("error").asString())
        .contains("terminate it instead");
    assertThat(dci.post(path + "/terminate", "{}").required("status").asInt()).isZero();
    assertThat(dci.queues.runs().isToStop(run.task())).isTrue();
  }
}
