package io.millrace.cli.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.queues.QueueFixture;
import io.millrace.queues.Queue;
import io.millrace.queues.QueueBackend.Change;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands that wait say why nothing happens, and why work failed. */
final class WaitReasonsTest {
  @TempDir private Path scratch = Path.of("");
  private QueueFixture site;

  @BeforeEach
  void open() {
    site = new QueueFixture(scratch.resolve("data"));
    var _ = site.queues().queues().create("work", "shell", Queue.Settings.DEFAULTS.withThreads(0));
  }

  @AfterEach
  void close() {
    site.close();
  }

  /** A command that waits, with what it has written to standard error so far. */
  private static final class Waiting {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final CompletableFuture<Integer> code;

    Waiting(QueueFixture site, String... command) {
      code = CompletableFuture.supplyAsync(() -> site.runWriting(out, err, command));
    }

    String err() {
      return err.toString(StandardCharsets.UTF_8);
    }

    void says(String text) {
      while (!err().contains(text)) {
        assertThat(code).as(err()).isNotDone();
        LockSupport.parkNanos(5_000_000);
      }
    }
  }

  @Test
  void a_command_that_waits_for_a_task_says_why_nothing_happens_and_how_it_failed() {
    Waiting waiting = new Waiting(site, "tasks", "submit", "work", "command=x", "--wait");
    waiting.says(" waits: queue work is paused");
    Queue queue = site.queues().queues().find("work").orElseThrow();
    site.queues()
        .queues()
        .change(
            queue.id(), old -> new Change(old.name(), old.plugin(), old.settings().withThreads(1)));
    Run run = site.start(site.node("n"), "work");
    site.finish(run, Status.FAILED, "", "first\nsecond\n");
    assertThat(waiting.code.join()).isEqualTo(6);
    assertThat(waiting.err()).containsOnlyOnce(" waits: ").contains("  first\n  second\n");
  }

  @Test
  void a_command_that_waits_for_a_job_says_why_nothing_happens() throws Exception {
    Path payload = Files.writeString(scratch.resolve("payload"), "x");
    Waiting waiting =
        new Waiting(site, "jobs", "submit", payload.toString(), "--key", "letter", "--wait");
    waiting.says("job letter waits: no worker is connected");
    assertThat(site.run("jobs", "cancel", "letter").code()).isZero();
    assertThat(waiting.code.join()).isEqualTo(6);
  }

  @Test
  void a_command_that_waits_for_a_node_says_why_nothing_happens() {
    String gate = scratch.resolve("gate").toString();
    String above =
        site.run("graph", "add", "--type", "wait for", "--data", "file=" + gate).out().strip();
    Waiting waiting =
        new Waiting(
            site, "graph", "add", "--parent", above, "--wait", "--shell", "echo no >&2; exit 3");
    waiting.says(" waits: nodes above it have not ended: " + above + " (r");
    assertThat(site.run("graph", "kill", above).code()).isZero();
    assertThat(waiting.code.join()).isEqualTo(6);
  }

  @Test
  void the_last_lines_of_a_node_that_failed_are_printed() {
    var ran = site.run("graph", "add", "--wait", "--shell", "echo one >&2; echo two >&2; exit 3");
    assertThat(ran.code()).isEqualTo(6);
    assertThat(ran.err()).contains("exit code 3").contains("  one\n  two\n");
  }

  @Test
  void at_most_ten_lines_of_a_failure_are_printed() {
    Queue queue = site.queues().queues().find("work").orElseThrow();
    site.queues()
        .queues()
        .change(
            queue.id(), old -> new Change(old.name(), old.plugin(), old.settings().withThreads(1)));
    String id = site.run("tasks", "submit", "work", "command=x").out().strip();
    Run run = site.start(site.node("n"), "work");
    site.finish(run, Status.FAILED, "", "line\n".repeat(9_999) + "last\n");
    var ran = site.run("tasks", "wait", id);
    assertThat(ran.code()).isEqualTo(6);
    assertThat(ran.err()).isEqualTo("  line\n".repeat(9) + "  last\n");
  }
}
