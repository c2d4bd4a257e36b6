package io.millrace.cli.tasks;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Shell;
import io.millrace.cli.queues.QueueFixture;
import io.millrace.queues.Output;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.QueueTask.TaskOutput;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Run.RetryWish;
import io.millrace.work.policy.RetryPolicy.Failed;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What tasks write, as the command line shows it. */
class TaskOutputCommandsTest {
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

  private Run running() {
    Shell.CommandResult ran = site.run("tasks", "submit", "q", "n=1");
    assertThat(ran.code()).as(ran.err()).isZero();
    return site.start(site.node("here"), "q");
  }

  /** The runner of a task has sent this so far. */
  private void sent(Run run, String stream, String content) {
    String chunk = OutputFile.prefix(run.task(), run.claim().token(), stream) + 0;
    site.blobs().put(chunk, new ByteArrayInputStream(content.getBytes(StandardCharsets.UTF_8)));
  }

  /** Output that signals its first write. */
  private static final class SignallingOutput extends ByteArrayOutputStream {
    private final CountDownLatch first = new CountDownLatch(1);

    @Override
    public synchronized void write(byte[] bytes, int offset, int length) {
      super.write(bytes, offset, length);
      first.countDown();
    }

    boolean awaitFirst() throws InterruptedException {
      return first.await(60, TimeUnit.SECONDS);
    }

    String text() {
      return toString(StandardCharsets.UTF_8);
    }
  }

  @Test
  void output_is_followed_until_the_task_ends() throws Exception {
    Run run = running();
    sent(run, "stdout", "what it ");
    sent(run, "stderr", "what went ");
    SignallingOutput out = new SignallingOutput();
    SignallingOutput err = new SignallingOutput();
    CompletableFuture<Integer> tail =
        CompletableFuture.supplyAsync(
            () -> site.runWriting(out, err, "tasks", "tail", run.task().hex()));
    assertThat(out.awaitFirst() && err.awaitFirst()).isTrue();

    site.finish(run, 2, "what it wrote\n", "what went wrong\n");

    assertThat(tail.get(60, TimeUnit.SECONDS)).isEqualTo(6);
    assertThat(out.text()).isEqualTo("what it wrote\n");
    assertThat(err.text()).isEqualTo("what went wrong\n");
  }

  @Test
  void output_of_a_task_that_has_ended_is_shown_whole_or_one_of_the_two() {
    Run run = running();
    site.finish(run, 2, "what it wrote\n", "what went wrong\n");
    String id = run.task().hex();
    assertThat(site.run("tasks", "tail", id))
        .isEqualTo(new Shell.CommandResult(6, "what it wrote\n", "what went wrong\n"));
    assertThat(site.run("tasks", "tail", id, "--stderr", "--no-follow"))
        .isEqualTo(new Shell.CommandResult(0, "", "what went wrong\n"));
    assertThat(site.run("tasks", "show", id).out())
        .contains("failed (2)")
        .contains("stdout:\n  what it wrote");
    assertThat(site.run("tasks", "tail", "0".repeat(24)).code()).isEqualTo(4);
  }

  @Test
  void attempts_that_did_not_succeed_are_shown_with_their_reasons_and_logs() {
    Run run = running();
    RetryWish timeout = new RetryWish.IfFailed(new Failed("timeout", null));
    Report report =
        new Report(2, TaskOutput.NONE, List.of(), "it hung", timeout, "one\n\u001b[31mtwo");
    site.queues().runs().finish(run, report);

    assertThat(site.run("tasks", "show", run.task().hex()).out())
        .containsPattern(
            """
            attempts so far:
              20\\S+Z failed on \\S+ with code timeout: it hung
                one
                \\S*two
            """)
        .doesNotContain("ended_attempts")
        .doesNotContain("\u001b");
  }

  @Test
  void who_is_shown_no_long_output_is_told_how_to_see_it() {
    Run run = running();
    sent(run, "stdout", "long");
    String prefix = OutputFile.prefix(run.task(), run.claim().token(), "stdout");
    OutputFile file = new OutputFile(site.queues().newId(), run.task(), "stdout", 4, prefix);
    TaskOutput output =
        new TaskOutput(new Output.Stored(file.id(), 4, false), new Output.Text("short"));
    site.queues().runs().finish(run, new Report(1, output, List.of(file), null));

    assertThat(site.run("tasks", "show", run.task().hex()).out())
        .contains(
            "stdout: kept as a file, %s; millrace tasks tail %s --stdout shows it\n"
                .formatted(file.id(), run.task()))
        .contains("stderr:\n  short\n");
    assertThat(site.run("tasks", "tail", run.task().hex(), "--stdout").out()).isEqualTo("long");
  }

  @Test
  void output_is_followed_through_a_restart_of_the_server() throws Exception {
    Run run = running();
    sent(run, "stdout", "before ");
    SignallingOutput printed = new SignallingOutput();
    CompletableFuture<Integer> tail =
        CompletableFuture.supplyAsync(() ->
            site.runWriting(printed, new SignallingOutput(), "tasks", "tail", run.task().hex()));
    assertThat(printed.awaitFirst()).isTrue();

    site.restart();
    site.finish(run, 1, "before and after", "");

    assertThat(tail.get(60, TimeUnit.SECONDS)).isZero();
    assertThat(printed.text()).isEqualTo("before and after");
  }

  @Test
  void a_tail_whose_server_stays_away_fails() {
    String id = running().task().hex();
    site.stop();
    Shell.CommandResult ran = site.run("tasks", "tail", id);
    assertThat(ran.code()).isEqualTo(1);
    assertThat(ran.err()).startsWith("millrace: no answer from " + site.address());
  }
}
