package io.millrace.cli.tasks;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.QueueFixture;
import io.millrace.queues.NodeRecord;
import io.millrace.queues.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class TaskCommandsTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String NOBODY = "0".repeat(24);

  @TempDir private Path scratch = Path.of("");
  private QueueFixture site;

  @BeforeEach
  void open() {
    site = new QueueFixture(scratch.resolve("data"));
    assertThat(site.run("queues", "create", "q", "-p", "Disbatch::Plugin::Demo", "-t", "10").code())
        .isZero();
  }

  @AfterEach
  void close() {
    site.close();
  }

  private String submitted(String... params) {
    String[] command = new String[params.length + 3];
    command[0] = "tasks";
    command[1] = "submit";
    command[2] = "q";
    System.arraycopy(params, 0, command, 3, params.length);
    Shell.CommandResult ran = site.run(command);
    assertThat(ran.code()).as(ran.err()).isZero();
    return ran.out().strip();
  }

  @Test
  void params_that_the_plugin_does_not_know_are_refused_by_name() {
    assertThat(site.run("queues", "create", "s", "-p", "shell").code()).isZero();
    Shell.CommandResult refused = site.run("tasks", "submit", "s", "comand=true");
    assertThat(refused.code()).isEqualTo(3);
    assertThat(refused.err()).contains("plugin shell has no param \"comand\", only command, mixed");
    assertThat(found()).isEmpty();
  }

  private JsonNode found(String... options) {
    String[] command = new String[options.length + 3];
    command[0] = "tasks";
    command[1] = "search";
    command[2] = "--json";
    System.arraycopy(options, 0, command, 3, options.length);
    Shell.CommandResult ran = site.run(command);
    assertThat(ran.code()).as(ran.err()).isZero();
    return JSON.readTree(ran.out());
  }

  @Test
  void a_task_is_submitted_from_arguments() {
    String id = submitted("command=echo hi", "n=5", "deep={\"a\":[true]}");
    JsonNode task = found("--queue", "q", "--param", "deep.a=true").path(0);
    assertThat(task.path("_id").path("$oid").asString()).isEqualTo(id);
    assertThat(task.path("params"))
        .hasToString("{\"command\":\"echo hi\",\"n\":5,\"deep\":{\"a\":[true]}}");
    assertThat(site.run("tasks", "search").out()).contains("queued (-2)").contains("echo hi");
    assertThat(site.run("tasks", "list").out()).contains("echo hi");
  }

  @Test
  void a_task_is_submitted_with_tags_and_found_by_one() {
    String id = submitted("n=1", "--tags", "eu,nightly");
    submitted("n=2");
    JsonNode found = found("--filter", "{\"tags\": \"eu\"}");
    assertThat(found).hasSize(1);
    assertThat(found.path(0).path("_id").path("$oid").asString()).isEqualTo(id);
    expect(2, "tags must list up to 20 tags", "tasks", "submit", "q", "n=1", "--tags", "a b");
  }

  @Test
  void a_task_is_shown_with_the_moment_at_which_it_can_run() {
    String moment =
        Instant.now().plus(Duration.ofDays(1)).truncatedTo(ChronoUnit.SECONDS).toString();
    String id = submitted("n=1", "--at", moment);
    assertThat(site.run("tasks", "show", id).out()).containsPattern("not_before +" + moment);
  }

  @Test
  void tasks_are_submitted_from_files_and_standard_input() throws IOException {
    Path csv = Files.writeString(scratch.resolve("a.CSV"), "n,text\n1,\"x, y\"\n2,z\n");
    Path json =
        Files.writeString(scratch.resolve("a.json"), "[{\"n\":3},{\"n\":4,\"text\":\"own\"}]");
    assertThat(submitted("-f", csv.toString()).lines()).hasSize(2);
    assertThat(submitted("-f", json.toString(), "text=all", "--status", "blocked").lines())
        .hasSize(2);
    Shell.CommandResult piped =
        site.runReading(
            "n;text\n5;p\n",
            "tasks",
            "submit",
            "q",
            "-f",
            "-",
            "--format",
            "csv",
            "--separator",
            ";",
            "--json",
            "-s",
            "-7");
    assertThat(JSON.readTree(piped.out()).path("id").asString()).hasSize(24);
    List<String> params =
        found("--oldest").valueStream().map(task -> task.path("params").toString()).toList();
    assertThat(params)
        .containsExactly(
            "{\"n\":\"1\",\"text\":\"x, y\"}",
            "{\"n\":\"2\",\"text\":\"z\"}",
            "{\"text\":\"all\",\"n\":3}",
            "{\"text\":\"own\",\"n\":4}",
            "{\"n\":\"5\",\"text\":\"p\"}");
    assertThat(site.run("tasks", "search", "--count", "-s", "blocked,-7").out()).startsWith("3");
  }

  @Test
  void a_file_with_a_mistake_submits_nothing_and_names_the_line() throws IOException {
    StringBuilder lines = new StringBuilder("n\n");
    for (int i = 2; i <= 9_000; i++) {
      lines.append(i).append('\n');
    }
    Path csv = Files.writeString(scratch.resolve("a.csv"), lines + "1,2\n");
    Shell.CommandResult refused = site.run("tasks", "submit", "q", "-f", csv.toString());
    assertThat(refused.code()).isEqualTo(2);
    assertThat(refused.err()).contains("a.csv line 9001: 2 values for the 1 names");
    assertThat(site.run("tasks", "search", "--count").out().strip()).isEqualTo("0");

    Shell.CommandResult piped =
        site.runReading(
            lines + "1,2\n", "tasks", "submit", "q", "-f", "-", "--format", "csv", "-q");
    assertThat(piped.code()).isEqualTo(2);
    assertThat(piped.err()).contains("line 9001").contains("8000 tasks were submitted before");
    assertThat(site.run("tasks", "search", "--count").out().strip()).isEqualTo("8000");
    assertThat(site.run("tasks", "search", "--ids", "-n", "250").out().lines().distinct())
        .hasSize(250);
  }

  @Test
  void waiting_tells_how_each_task_ended() {
    String good = submitted("n=1");
    String bad = submitted("n=2");
    NodeRecord node = site.node("here");
    site.finish(site.start(node, "q"), 1, "out", "");
    assertThat(site.run("tasks", "wait", good).code()).isZero();
    assertThat(site.run("tasks", "wait", good, "--timeout", "999999999d").code()).isZero();
    Shell.CommandResult late = site.run("tasks", "wait", good, bad, "--timeout", "10ms");
    assertThat(late.code()).isEqualTo(7);
    assertThat(late.err()).contains("1 not ended, 1 succeeded");
    Run run = site.start(node, "q");
    CompletableFuture<Shell.CommandResult> waiting =
        CompletableFuture.supplyAsync(() -> site.run("tasks", "wait", "--json", good, bad));
    site.finish(run, 17, "", "");
    Shell.CommandResult ended = waiting.join();
    assertThat(ended.code()).isEqualTo(6);
    assertThat(ended.out()).contains("{\"id\":\"" + bad + "\",\"status\":17}");
    assertThat(ended.err()).contains("1 succeeded, 1 finished (17)");
    assertThat(site.run("tasks", "wait", NOBODY).code()).isEqualTo(4);
  }

  @Test
  void a_submission_waits_for_its_tasks() {
    NodeRecord node = site.node("here");
    CompletableFuture<Shell.CommandResult> waiting =
        CompletableFuture.supplyAsync(() -> site.run("tasks", "submit", "q", "n=1", "--wait"));
    while (site.run("tasks", "search", "--count").out().startsWith("0")) {
      LockSupport.parkNanos(5_000_000);
    }
    site.finish(site.start(node, "q"), 1, "", "");
    Shell.CommandResult ended = waiting.join();
    assertThat(ended.code()).as(ended.err()).isZero();
    assertThat(ended.out()).contains("succeeded");
  }

  @Test
  void tasks_are_operated_on_one_by_one() {
    String id = submitted("n=1");
    assertThat(site.run("tasks", "block", id).out()).contains("blocked");
    assertThat(site.run("tasks", "requeue", id).out()).contains("queued");
    assertThat(site.run("tasks", "cancel", id).out()).contains("cancelled");
    String other = submitted("n=2");
    Shell.CommandResult mixed =
        site.runReading(id + "\n\n" + other + "\n", "tasks", "requeue", "-", NOBODY);
    assertThat(mixed.out()).contains(id + "  queued");
    assertThat(mixed.err()).contains(other + ": ").contains(NOBODY + ": task not found");
    assertThat(mixed.code()).isEqualTo(4);
    Run run = site.start(site.node("here"), "q");
    assertThat(site.run("tasks", "cancel", run.task().hex()).code()).isEqualTo(3);
    assertThat(site.run("tasks", "terminate", run.task().hex()).code()).isZero();
    assertThat(site.run("tasks", "show", "12").code()).isEqualTo(2);
    assertThat(site.run("tasks", "tail", "12").code()).isEqualTo(2);
    assertThat(site.run("tasks", "search", "-n", "-1").code()).isEqualTo(2);
  }

  @Test
  void odd_submissions_are_refused() {
    expect(4, "queue not found", "nope", "n=1");
    expect(2, "KEY=VALUE", "q");
    expect(2, "twice", "q", "a=1", "a=2");
    expect(2, "no file", "q", "-f", scratch.resolve("none").toString());
    expect(3, "-1", "q", "n=1", "--status", "claimed");
    expect(2, "a status is", "q", "n=1", "--status", "soon");
    expect(2, "--separator", "q", "-f", "-", "--format", "csv", "--separator", "::");
    expect(2, "no quote", "q", "-f", "-", "--format", "csv", "--separator", "\"");
    expect(2, "--file is a folder", "q", "-f", scratch.toString());
    expect(3, "no task was submitted", "q", "n=" + "x".repeat(2 << 20));
  }

  private void expect(int code, String message, String... rest) {
    String[] command = new String[rest.length + 2];
    command[0] = "tasks";
    command[1] = "submit";
    System.arraycopy(rest, 0, command, 2, rest.length);
    Shell.CommandResult ran = site.run(command);
    assertThat(ran.err()).startsWith("millrace: ").contains(message);
    assertThat(ran.code()).isEqualTo(code);
  }
}
