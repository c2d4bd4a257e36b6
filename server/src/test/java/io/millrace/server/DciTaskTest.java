package io.millrace.server;

import static io.millrace.server.Dci.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.blobs.BlobStore;
import io.millrace.queues.Output;
import io.millrace.queues.OutputFile;
import io.millrace.queues.Presence;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueSettings;
import io.millrace.queues.Report;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.TaskOutput;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
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
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
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
    queue = dci.queues.queues().create("demo", "shell", QueueSettings.DEFAULTS.withThreads(10));
  }

  @AfterEach
  void stop() {
    dci.close();
  }

  private Run running() {
    ObjectNode params = JsonMapper.shared().createObjectNode().put("command", "x");
    dci.queues.tasks().submit(queue, List.of(params), Status.QUEUED);
    var seen = dci.queues.nodes().find("n1").orElse(null);
    Presence presence = new Presence("i", "host", "7 mark", List.of("shell"));
    var node = dci.queues.nodes().take("n1", seen, presence).orElseThrow();
    Run run = dci.queues.runs().claim(node, queue, 1, LEASE).getFirst();
    return dci.queues.runs().start(run, "8 mark", LEASE);
  }

  private void put(String blob, String content) {
    BlobStore blobs = dci.server().server().blobs();
    blobs.put(blob, new ByteArrayInputStream(content.getBytes(StandardCharsets.UTF_8)));
  }

  private HttpResponse<String> bytes(Run run, String rest) throws Exception {
    return dci.server().get("/dci/tasks/id/" + run.task().hex() + "/" + rest);
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
